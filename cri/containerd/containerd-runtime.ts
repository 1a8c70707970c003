// containerd (or another runtime that speaks CRI v1) as a Runtime, over gRPC on its socket. Thin: the calls are grouped by
// what they concern (*-calls.ts), requests.ts and answers.ts translate, connection.ts carries, events.ts watches,
// image-import.ts loads archives, streaming.ts opens streams.
// While containerd is away every call fails at once with "unavailable"; the connection comes back by itself.
import { runtimeHandler } from "./answers.ts";
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../api/clock.ts";
import type { GrpcTracing } from "../../grpc/channel.ts";
import { protectNamespaces } from "../cni/namespace-mounts.ts";
import { setUpPodNetwork, type PodNetworkOptions } from "../cni/network.ts";
import { createLogFiles } from "../logs/log-files.ts";
import type { Runtime, RuntimeCondition } from "../runtime.ts";
import type { CallContext } from "./call-context.ts";
import { socketPath } from "../endpoint.ts";
import { createConnection, type Connection } from "./connection.ts";
import { containerCalls } from "./container-calls.ts";
import { EventSource } from "./events.ts";
import { imageCalls } from "./image-calls.ts";
import { sandboxCalls } from "./sandbox-calls.ts";
import { runtimeConfiguration } from "./runtime-configuration.ts";
import { SandboxImage } from "../sandbox-image/present-image.ts";
import { ensureSandboxImage } from "./sandbox-image.ts";
import { streamCalls } from "./streams/stream-calls.ts";

export interface ContainerdRuntimeOptions {
  /** `unix:///run/containerd/containerd.sock` or a path. */
  endpoint: string;
  /** Of the images; default `endpoint`. */
  imageEndpoint?: string | undefined;
  logger: Logger;
  clock?: Clock;
  /** Deadline of an ordinary call; default 2 min. Pulling has none; stopping adds the grace period. */
  requestTimeoutMs?: number;
  limits?: {
    /** Largest answer; default 64 MiB. */
    messageBytes?: number;
  };
  /** Import the built-in sandbox image when the configured one is missing; default true. */
  ensureSandboxImage?: boolean;
  /** Path of a seccomp profile, in the place of the runtime's default one for sandboxes: for those of the built-in image. */
  sandboxSeccompProfile?: string;
  /** Of its calls. */
  trace?: GrpcTracing | undefined;
  /**
   * When given, updatePodCidrs sets up the pod network (unless another configuration is there), in the directory that the
   * runtime names, or else in this one.
   */
  cni?: PodNetworkOptions;
}

/** How the runtime is, it knows at once: longer means that it hangs. */
const statusTimeoutMs = 10_000;

export function createContainerdRuntime(
  options: ContainerdRuntimeOptions,
): Runtime {
  const {
    endpoint,
    logger,
    clock = systemClock,
    requestTimeoutMs = 120_000,
  } = options;
  const connectionTo = (socket: string): Connection =>
    createConnection({
      endpoint: socket,
      requestTimeoutMs,
      trace: options.trace,
      maxMessageBytes: options.limits?.messageBytes ?? 64 * 1024 * 1024,
    });
  const connection = connectionTo(endpoint);
  const { imageEndpoint = endpoint } = options;
  const images =
    socketPath(imageEndpoint) === socketPath(endpoint)
      ? connection
      : connectionTo(imageEndpoint);
  const image = new SandboxImage(
    options.ensureSandboxImage === false
      ? undefined
      : (name) => ensureSandboxImage(connection, logger, name),
    logger,
  );
  const ranges = podRanges(options, connection);
  /** Settles when the runtime was tried for the first time. */
  let firstTry: (() => void) | undefined;
  const events = new EventSource({
    connection,
    clock,
    logger,
    onConnect(answered) {
      if (answered) {
        void image.importAgain();
        void ranges.setLate();
      }
      firstTry?.();
    },
  });
  const context: CallContext = {
    connection,
    requestTimeoutMs,
    clock,
    whileEnding: (id, how, call) => events.whileEnding(id, how, call),
  };
  const { version, status } = statusCalls(context);
  /** Another runtime names itself as soon as it is asked, before the first container is reported. */
  let name = "containerd";
  return {
    get name() {
      return name;
    },
    logs: createLogFiles({
      reopen: async (id) => {
        await connection.call("ReopenContainerLog", { container_id: id });
      },
      // Over CRI it is cri-dockerd that calls itself so.
      linkToDocker: () => name === "docker",
      clock,
      logger,
    }),

    async start() {
      const protectedNamespaces = protectNamespaces(logger);
      await connection.open();
      if (images !== connection) await images.open();
      const tried = new Promise<void>((resolve) => (firstTry = resolve));
      events.start();
      await tried;
      await protectedNamespaces;
    },

    async stop() {
      events.stop();
      firstTry?.();
      await image.ready();
      connection.close();
      images.close();
    },

    async version() {
      const found = await version();
      if (found.runtimeName !== "") name = found.runtimeName;
      return found;
    },
    status,
    configuration: () => runtimeConfiguration(connection),

    updatePodCidrs: (podCidrs) => ranges.set(podCidrs),

    ...sandboxCalls(context, image, options.sandboxSeccompProfile, logger),
    ...containerCalls(context),
    ...streamCalls(context),
    ...imageCalls({ ...context, connection: images }),

    subscribe: (listener) => events.subscribe(listener),
  };
}

/** The ranges of pods' addresses, in the network configuration where the runtime looks for it. */
function podRanges(
  { cni, logger }: ContainerdRuntimeOptions,
  connection: Connection,
): {
  set(podCidrs: readonly string[]): Promise<void>;
  /** Sets those that could not be set while the runtime was away. Never rejects. */
  setLate(): Promise<void>;
} {
  let unset: readonly string[] | undefined;
  async function set(podCidrs: readonly string[]): Promise<void> {
    unset = podCidrs;
    const [podCidr = "", ...extraCidrs] = podCidrs;
    if (cni === undefined) {
      await connection.call("UpdateRuntimeConfig", {
        runtime_config: { network_config: { pod_cidr: podCidrs.join() } },
      });
    } else {
      const {
        networkDirectory: directory = cni.directory,
        networkPluginDirectories: machinePluginDirectories,
      } = await runtimeConfiguration(connection);
      const network = { ...cni, directory, podCidr, extraCidrs };
      await setUpPodNetwork(
        machinePluginDirectories === undefined
          ? network
          : { ...network, machinePluginDirectories },
        logger,
      );
    }
    if (unset === podCidrs) unset = undefined;
  }
  return {
    set,
    async setLate() {
      if (unset)
        await set(unset).catch((err: unknown) =>
          logger.warn({ err }, "the pod network is not set up"),
        );
    },
  };
}

function statusCalls({
  connection,
  requestTimeoutMs,
}: CallContext): Pick<Runtime, "version" | "status"> {
  return {
    async version() {
      const { runtime_name, runtime_version, runtime_api_version } =
        await connection.call("Version", {});
      return {
        runtimeName: runtime_name,
        runtimeVersion: runtime_version,
        runtimeApiVersion: runtime_api_version,
      };
    },

    async status() {
      const { status, runtime_handlers, features } = await connection.call(
        "Status",
        {},
        Math.min(requestTimeoutMs, statusTimeoutMs),
      );
      const condition = (type: string): RuntimeCondition => {
        const found = status?.conditions.find((item) => item.type === type);
        if (found === undefined)
          return {
            ready: false,
            reason: "Unknown",
            message: `the runtime does not report ${type}`,
          };
        return {
          ready: found.status,
          reason: found.reason,
          message: found.message,
        };
      };
      return {
        runtime: condition("RuntimeReady"),
        network: condition("NetworkReady"),
        ...(runtime_handlers.length > 0
          ? { handlers: runtime_handlers.map(runtimeHandler) }
          : {}),
        supplementalGroupsPolicy: features?.supplemental_groups_policy ?? false,
      };
    },
  };
}
