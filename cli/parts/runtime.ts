// Which container runtime a node uses: the one asked for; else the machine's containerd, when it answers; else a private
// one under the data directory. The choice is written to DATA/runtime-endpoint for `orbit image` and others.
import * as fs from "node:fs/promises";
import * as net from "node:net";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Runtime } from "../../cri/runtime.ts";
import { createContainerdRuntime } from "../../cri/containerd/containerd-runtime.ts";
import { cniFileName } from "../../cri/cni/configuration.ts";

export const defaultEndpoint = "unix:///run/containerd/containerd.sock";

export interface RuntimeChoice {
  /** As given; empty when none was asked for. */
  endpoint: string;
  dataDirectory: string;
  /** Range of pod addresses for the CNI configuration. */
  podCidr: string;
  requestTimeoutMs: number;
  logger: Logger;
}

export interface ChosenRuntime {
  readonly runtime: Runtime;
  readonly endpoint: string;
  /** True when the containerd is ours. */
  readonly isPrivate: boolean;
  /** Ends the connection. A private containerd and its pods go on, to be adopted at the next start. */
  stop(): Promise<void>;
}

/** Whether something accepts connections on a unix socket. */
export function socketAnswers(
  endpoint: string,
  timeoutMs = 1000,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(endpoint.replace(/^unix:\/\//, ""));
    const done = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => done(false), timeoutMs);
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

export const endpointFile = (dataDirectory: string): string =>
  path.join(dataDirectory, "runtime-endpoint");

export async function chooseRuntime(
  choice: RuntimeChoice,
): Promise<ChosenRuntime> {
  const { logger, dataDirectory, podCidr, requestTimeoutMs } = choice;
  let endpoint = choice.endpoint;
  let cniDirectory = "/etc/cni/net.d";
  let isPrivate = false;
  let release = (): Promise<void> => Promise.resolve();
  if (endpoint === "" && (await socketAnswers(defaultEndpoint)))
    endpoint = defaultEndpoint;
  if (endpoint === "") {
    const { superviseContainerd } =
      await import("../../cri/private-containerd/supervised-containerd.ts");
    const containerd = await superviseContainerd({
      directory: path.join(dataDirectory, "containerd"),
      logger,
    });
    endpoint = containerd.endpoint;
    cniDirectory = containerd.cniConfigurationDirectory;
    isPrivate = true;
    release = () => containerd.release();
    logger.info(
      { endpoint, adopted: containerd.adopted },
      "using a private containerd",
    );
  } else logger.info({ endpoint }, "using the container runtime");
  await fs.mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await fs.writeFile(endpointFile(dataDirectory), `${endpoint}\n`, {
    mode: 0o600,
  });
  const runtime = createContainerdRuntime({
    endpoint,
    logger: logger.child({ part: "runtime" }),
    requestTimeoutMs,
    cni: {
      directory: cniDirectory,
      ipMasq: true,
      name: "orbit",
      // Beside a private containerd, so that clusters on one machine share nothing.
      ...(isPrivate
        ? {
            ipamDirectory: path.join(dataDirectory, "containerd/cni/leases"),
          }
        : {}),
    },
  });
  await runtime.start();
  await runtime
    .updatePodCidr(podCidr)
    .catch((err: unknown) =>
      logger.warn(
        { err, file: cniFileName },
        "the CNI configuration could not be written",
      ),
    );
  return {
    runtime,
    endpoint,
    isPrivate,
    async stop() {
      await release();
      await runtime.stop();
    },
  };
}
