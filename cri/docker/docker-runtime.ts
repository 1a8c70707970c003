// Docker as a Runtime, through its own API on its socket, with nothing in between. What CRI has and the daemon has not is
// made here: sandboxes (a container of the built-in image holds the namespaces), annotations (in labels), the pod network
// (CNI plug-ins called on the sandbox's namespace), logs in the CRI format (copied from the daemon's), pinned images (a tag).
// While the daemon is away every call fails at once with "unavailable"; it is found again by itself.
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../api/clock.ts";
import { Attachments } from "../cni/attachments.ts";
import { setUpPodNetwork, type PodNetworkOptions } from "../cni/network.ts";
import type { Runtime, RuntimeCondition } from "../runtime.ts";
import { settled, type CallContext } from "./call-context.ts";
import { createDockerConnection } from "./connection.ts";
import { containerCalls } from "./container-calls.ts";
import { EventSource } from "./events.ts";
import { imageCalls } from "./images/image-calls.ts";
import { adoptContainers } from "./adoption.ts";
import { LogCopiers } from "./logs/log-copiers.ts";
import type { DaemonFacts } from "./requests.ts";
import { sandboxCalls } from "./sandbox-calls.ts";
import { SandboxImage } from "../sandbox-image/present-image.ts";
import { ensureSandboxImage } from "./images/sandbox-image.ts";
import { statsCalls } from "./stats-calls.ts";
import { streamCalls } from "./streams/stream-calls.ts";
import { UnfinishedStarts } from "./unfinished-starts.ts";

export interface DockerRuntimeOptions {
  /** `unix:///var/run/docker.sock` or a path. */
  endpoint: string;
  logger: Logger;
  clock?: Clock;
  /** Deadline of an ordinary call; default 2 min. Pulling has none; stopping adds the grace period. */
  requestTimeoutMs?: number;
  /** Load the built-in sandbox image when it is missing; default true. */
  ensureSandboxImage?: boolean;
  /** When given, updatePodCidrs sets up the pod network (unless another configuration is there). */
  cni?: PodNetworkOptions & {
    /** A configuration of another program there is preferred to ours, which is written into `directory`. */
    foreignDirectory?: string;
  };
  /** What must be kept about the networks of sandboxes; default: /var/lib/orbit/docker. */
  stateDirectory?: string;
  /** Where the cgroup file systems are mounted; default /sys/fs/cgroup. */
  cgroupMount?: string;
  /** By its annotations: made by this agent, which copies the logs of what an earlier process of it started. */
  isOwn?: (annotations: Readonly<Record<string, string>>) => boolean;
}

/** How the daemon is, it knows at once: longer means that it hangs. */
const statusTimeoutMs = 10_000;
const usualStateDirectory = "/var/lib/orbit/docker";
const usualConfigurationDirectory = "/etc/cni/net.d";

export function createDockerRuntime(options: DockerRuntimeOptions): Runtime {
  const { logger, clock = systemClock, requestTimeoutMs = 120_000 } = options;
  const connection = createDockerConnection({
    endpoint: options.endpoint,
    requestTimeoutMs,
  });
  const { stateDirectory = usualStateDirectory } = options;
  let facts: Promise<DaemonFacts> | undefined;
  const context: CallContext = {
    connection,
    requestTimeoutMs,
    clock,
    logger,
    attachments: new Attachments({
      configurationDirectories: [
        options.cni?.foreignDirectory,
        options.cni?.directory ?? usualConfigurationDirectory,
      ].filter((directory) => directory !== undefined),
      ...(options.cni?.machinePluginDirectories
        ? { binaryDirectories: options.cni.machinePluginDirectories }
        : {}),
      stateDirectory: join(stateDirectory, "networks"),
    }),
    copiers: new LogCopiers({ clock, logger }),
    unfinishedStarts: new UnfinishedStarts(join(stateDirectory, "starting")),
    cgroupMount: options.cgroupMount ?? "/sys/fs/cgroup",
    facts() {
      facts ??= daemonFacts(context);
      facts.catch(() => (facts = undefined));
      return facts;
    },
  };
  const image = new SandboxImage(
    options.ensureSandboxImage === false
      ? undefined
      : () => ensureSandboxImage(connection, logger),
    logger,
  );
  /** Settles when the daemon was tried for the first time. */
  let firstTry: (() => void) | undefined;
  const events = new EventSource({
    connection,
    clock,
    logger,
    async beforeExit(id) {
      await Promise.all([settled(connection, id), context.copiers.finish(id)]);
    },
    async onConnect(answered) {
      if (answered) {
        facts = undefined;
        void image.importAgain();
        if (options.isOwn)
          await adoptContainers(context, options.isOwn).catch(
            (error: unknown) =>
              logger.warn({ err: error }, "can't adopt the docker containers"),
          );
      }
      firstTry?.();
    },
  });
  return {
    name: "docker",
    logs: context.copiers.logs,

    async start() {
      await connection.open();
      const tried = new Promise<void>((resolve) => (firstTry = resolve));
      events.start();
      await tried;
    },

    async stop() {
      events.stop();
      firstTry?.();
      await image.ready();
      await context.copiers.close();
      connection.close();
    },

    ...statusCalls(context),

    async updatePodCidrs(podCidrs) {
      if (options.cni === undefined) return;
      const [podCidr = "", ...extraCidrs] = podCidrs;
      const { foreignDirectory: _, ...cni } = options.cni;
      await setUpPodNetwork({ ...cni, podCidr, extraCidrs }, logger);
    },

    ...sandboxCalls(context, image),
    ...containerCalls(context),
    ...statsCalls(context),
    ...streamCalls(context),
    ...imageCalls(context),

    subscribe: (listener) => events.subscribe(listener),
  };
}

async function daemonFacts({ connection }: CallContext): Promise<DaemonFacts> {
  const info = (await connection.call("Info", (docker) =>
    docker.info(),
  )) as Record<string, unknown>;
  const options = (info["SecurityOptions"] as string[] | null) ?? [];
  const security = options.map((option) => option.split(",")[0]);
  return {
    cgroupDriver: String(info["CgroupDriver"] ?? "cgroupfs"),
    cgroupVersion: info["CgroupVersion"] === "2" ? 2 : 1,
    // What a daemon without CDI does not say.
    cdi: ((info["CDISpecDirs"] as string[] | null) ?? []).length > 0,
    runtimes: Object.keys((info["Runtimes"] as object | null) ?? {}),
    defaultRuntime: String(info["DefaultRuntime"] ?? "runc"),
    // A daemon whose own profile filters nothing has none to offer as the runtime's.
    seccomp:
      security.includes("name=seccomp") &&
      !options.includes("name=seccomp,profile=unconfined"),
    apparmor: security.includes("name=apparmor"),
    rootDirectory: String(info["DockerRootDir"] ?? "/var/lib/docker"),
    storageDriver: String(info["Driver"] ?? "overlay2"),
  };
}

function statusCalls({
  connection,
  requestTimeoutMs,
  attachments,
  facts,
}: CallContext): Pick<Runtime, "version" | "status" | "configuration"> {
  const networkCondition = async (): Promise<RuntimeCondition> => {
    const notReady = (problem: string): RuntimeCondition => ({
      ready: false,
      reason: "NetworkPluginNotReady",
      message: `Network plugin returns error: ${problem}`,
    });
    try {
      return (await attachments.network()) === undefined
        ? notReady("cni plugin not initialized")
        : { ready: true, reason: "", message: "" };
    } catch (error) {
      return notReady((error as Error).message);
    }
  };
  return {
    async configuration() {
      const { cgroupDriver, cdi } = await facts();
      return cgroupDriver === "systemd" || cgroupDriver === "cgroupfs"
        ? { cgroupDriver, cdi }
        : { cdi };
    },

    async version() {
      const found = await connection.call("Version", (docker) =>
        docker.version(),
      );
      return {
        runtimeName: "docker",
        runtimeVersion: found.Version,
        runtimeApiVersion: found.ApiVersion,
      };
    },

    async status() {
      await connection.call(
        "Status",
        (docker, signal) =>
          // More than a ping: it shows that the daemon can look at its containers.
          docker.listContainers({ limit: 1, abortSignal: signal }),
        Math.min(requestTimeoutMs, statusTimeoutMs),
      );
      return {
        runtime: { ready: true, reason: "", message: "" },
        network: await networkCondition(),
      };
    },
  };
}
