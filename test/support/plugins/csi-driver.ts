// A CSI driver over directories: real gRPC on sockets, volumes are directories below its own that are bind-mounted where
// the agent asks. It registers as any plug-in does, notes every call, and fails, hangs or lies as a test asks.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as grpc from "@grpc/grpc-js";
import {
  registrationMessages,
  registrationMethods,
} from "../../../agent/plugin-registration/registration-protocol.ts";
import {
  csiMessages,
  csiMethods,
  nodeCapability,
  type NodeInfoAnswer,
  type PublishRequest,
  type StageRequest,
  type StatsAnswer,
} from "../../../agent/volumes/csi/csi-protocol.ts";
import type { GrpcMethod } from "../../../grpc/channel.ts";
import { createWireCodec } from "../../../grpc/wire.ts";

const codec = createWireCodec(registrationMessages, csiMessages);

type Call = keyof typeof csiMethods;

interface CsiDriverOptions {
  readonly name: string;
  /** Its sockets and volumes. */
  readonly directory: string;
  /** Where it registers: ROOT/plugins_registry. */
  readonly registry: string;
  readonly capabilities?: readonly number[];
  readonly info?: Partial<NodeInfoAnswer>;
  readonly versions?: readonly string[];
}

export class CsiHostPathDriver {
  /** `call volume` and, for a publication, its target's base name, in order. */
  readonly calls: string[] = [];
  readonly requests: { call: Call; request: Record<string, unknown> }[] = [];
  /** Called before each; throws a status to refuse it, or returns a promise to delay it. */
  intercept: (call: Call) => void | Promise<void> = () => undefined;
  /** It says that it has unmounted, and has not. */
  lies = false;
  /** What the agent said about its registration; "" is good. */
  readonly notified: string[] = [];
  readonly #options: CsiDriverOptions;
  #servers: grpc.Server[] = [];

  constructor(options: CsiDriverOptions) {
    this.#options = options;
  }

  get #socket(): string {
    return path.join(this.#options.directory, "csi.sock");
  }

  async start(): Promise<void> {
    const { directory, registry, name } = this.#options;
    fs.mkdirSync(path.join(directory, "volumes"), { recursive: true });
    fs.mkdirSync(registry, { recursive: true });
    fs.rmSync(this.#socket, { force: true });
    const driver = new grpc.Server();
    for (const call of Object.keys(csiMethods) as Call[])
      serve(driver, csiMethods[call], (request) => this.#answer(call, request));
    await bind(driver, this.#socket);
    const registration = new grpc.Server();
    serve(registration, registrationMethods.getInfo, () => ({
      type: "CSIPlugin",
      name,
      endpoint: this.#socket,
      supported_versions: this.#options.versions ?? ["1.0.0"],
    }));
    serve(registration, registrationMethods.notify, (request) => {
      this.notified.push(String(request["error"]));
      return {};
    });
    const socket = path.join(registry, `${name}-reg.sock`);
    fs.rmSync(socket, { force: true });
    await bind(registration, socket);
    this.#servers = [driver, registration];
  }

  /** Its sockets go as well. */
  stop(): void {
    const { registry, name } = this.#options;
    for (const server of this.#servers.splice(0)) server.forceShutdown();
    fs.rmSync(path.join(registry, `${name}-reg.sock`), { force: true });
    fs.rmSync(this.#socket, { force: true });
  }

  /** What a pod has written to the volume. */
  contentOf(volume: string): string {
    return path.join(this.#options.directory, "volumes", volume);
  }

  async #answer(call: Call, request: Record<string, unknown>): Promise<object> {
    const volume = String(request["volume_id"] ?? "");
    if (volume) this.calls.push(`${call} ${volume}`);
    this.requests.push({ call, request });
    await this.intercept(call);
    switch (call) {
      case "info":
        return { node_id: "node-1", ...this.#options.info };
      case "capabilities":
        return {
          capabilities: (
            this.#options.capabilities ?? [
              nodeCapability.stageUnstage,
              nodeCapability.expand,
              nodeCapability.volumeStats,
            ]
          ).map((type) => ({ rpc: { type } })),
        };
      case "stage":
        this.#mount(
          request as unknown as StageRequest,
          String(request["staging_target_path"]),
        );
        return {};
      case "publish":
        this.#mount(
          request as unknown as PublishRequest,
          String(request["target_path"]),
        );
        return {};
      case "unstage":
        unmountAll(String(request["staging_target_path"]));
        return {};
      case "unpublish":
        if (this.lies) return {};
        unmountAll(String(request["target_path"]));
        fs.rmSync(String(request["target_path"]), {
          force: true,
          recursive: true,
        });
        return {};
      case "expand":
        return { capacity_bytes: 0 };
      case "stats":
        return {
          usage: [
            { available: 60, total: 100, used: 40, unit: 1 },
            { available: 9, total: 10, used: 1, unit: 2 },
          ],
          volume_condition: { abnormal: true, message: "a disk is failing" },
        } satisfies StatsAnswer;
    }
  }

  #mount({ volume_id, volume_capability }: StageRequest, target: string): void {
    if (isMounted(target)) return;
    const source = this.contentOf(volume_id);
    if (volume_capability.block) {
      // Staging keeps nothing; a publication is a file in the device's place.
      if (target.includes("/staging/")) return;
      fs.writeFileSync(source, "", { flag: "a" });
      fs.writeFileSync(target, "", { flag: "a" });
    } else {
      fs.mkdirSync(source, { recursive: true });
      fs.mkdirSync(target, { recursive: true });
    }
    execFileSync("mount", ["--bind", source, target]);
  }
}

function isMounted(target: string): boolean {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[4] === target);
}

function unmountAll(target: string): void {
  while (isMounted(target)) execFileSync("umount", [target]);
}

function bind(server: grpc.Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) =>
    server.bindAsync(
      `unix://${socket}`,
      grpc.ServerCredentials.createInsecure(),
      (error) => (error ? reject(error) : resolve()),
    ),
  );
}

function serve(
  server: grpc.Server,
  method: GrpcMethod,
  handle: (request: Record<string, unknown>) => object | Promise<object>,
): void {
  server.register(
    method.path,
    (
      call: { request: Record<string, unknown> },
      callback: grpc.sendUnaryData<object>,
    ) => {
      Promise.resolve()
        .then(() => handle(call.request))
        .then(
          (answer) => callback(null, answer),
          (error: unknown) => callback(error as grpc.ServiceError),
        );
    },
    (answer: object) => codec.encode(method.response, answer),
    (bytes: Buffer) => codec.decode(method.request, bytes),
    "unary",
  );
}
