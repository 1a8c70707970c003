// A private container runtime, containerd or dockerd, for one test file: own directory, own cgroup parent, own pod range.
// dispose() removes what it made: pods, shims, daemons, mounts, cgroups.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { openRuntime } from "../../cri/open-runtime.ts";
import { startPrivateContainerd } from "../../cri/private-containerd/private-containerd.ts";
import type {
  ContainerConfig,
  Runtime,
  SandboxConfig,
} from "../../cri/runtime.ts";
import { busyboxImageTar } from "./busybox-image.ts";
import { removeCgroups } from "./cgroups.ts";
import { eventually } from "./eventually.ts";
import { freePodRange } from "./free-port.ts";
import { startPrivateDocker } from "./private-docker.ts";
import { containerConfig, sandboxConfig } from "./runtime-configurations.ts";
import { announce } from "./run/run-state.ts";
import { endProcesses, sendSignal } from "./processes.ts";
import { makeTempDirectory, removeTempDirectory } from "./temp-directory.ts";

export type RuntimeKind = "containerd" | "docker";

/** What tests of every runtime run on: both, or the one that TEST_RUNTIME names. */
export const runtimeKinds = (process.env["TEST_RUNTIME"]?.split(",") ?? [
  "containerd",
  "docker",
]) as RuntimeKind[];

/** The process behind a Runtime. */
export interface PrivateDaemon {
  readonly endpoint: string;
  readonly pid: number;
  readonly cniConfigurationDirectory: string;
  /** Of a private containerd. */
  readonly cniBinaryDirectory?: string;
  readonly sandboxSeccompProfile?: string | undefined;
  /** Ends it; its pods go on. */
  stop(): Promise<void>;
  /** kill -9 of the daemon alone. */
  kill(): Promise<void>;
}

export interface PrivateRuntime {
  readonly directory: string;
  readonly runtime: Runtime;
  readonly daemon: PrivateDaemon;
  readonly cgroupParent: string;
  /** Another Runtime on the same daemon, as another process of the agent has it. */
  newRuntime(): Promise<Runtime>;
  /** Ends the daemon, if it runs (its pods stay), and starts it again. */
  restart(): Promise<void>;
  sandboxConfig(name: string, change?: Partial<SandboxConfig>): SandboxConfig;
  /** Runs `sh -c script` in busybox. */
  containerConfig(
    name: string,
    script: string,
    change?: Partial<ContainerConfig>,
  ): ContainerConfig;
  /**
   * @param options.forgotten For tests that kill the daemon while it makes sandboxes: it then forgets a shim that it had
   *   just started, which nothing but its own end removes. Those are ended too.
   */
  dispose(options?: { forgotten?: boolean }): Promise<void>;
}

/** Starts it, also again in the directory of one that was stopped. */
export async function startDaemon(
  kind: RuntimeKind,
  directory: string,
  registryDirectories?: readonly string[],
): Promise<PrivateDaemon> {
  if (kind === "containerd") {
    const containerd = await startPrivateContainerd({
      directory,
      logger: pino({ level: "silent" }),
      ...(registryDirectories ? { registryDirectories } : {}),
      startTimeoutMs: 60_000,
    });
    return {
      ...containerd,
      async kill() {
        sendSignal(containerd.pid, "SIGKILL");
        await eventually(async () => !(await containerd.alive()), {
          what: "containerd to end",
        });
      },
    };
  }
  const docker = await startPrivateDocker({ directory });
  return {
    endpoint: docker.endpoint,
    pid: docker.pid,
    cniConfigurationDirectory: path.join(directory, "net.d"),
    stop: () => docker.stop(),
    kill: () => docker.kill(),
  };
}

/** With the busybox image imported and the pod network up. `registryDirectories`: of containerd. */
export async function startPrivateRuntime(
  options: {
    image?: boolean;
    kind?: RuntimeKind;
    registryDirectories?: readonly string[];
  } = {},
): Promise<PrivateRuntime> {
  const { kind = "containerd", registryDirectories } = options;
  const directory = makeTempDirectory("orbit-test-cri-");
  const cgroupParent = `/orbit-test-${randomBytes(6).toString("hex")}`;
  announce("cgroup", cgroupParent);
  const logger = pino({ level: "silent" });
  const root = path.join(directory, kind);
  let daemon = await startDaemon(kind, root, registryDirectories);
  const name = `orbit-test-${randomBytes(3).toString("hex")}`;
  const newRuntime = (): Promise<Runtime> =>
    openRuntime({
      endpoint: daemon.endpoint,
      logger,
      cni: {
        directory: daemon.cniConfigurationDirectory,
        ipamDirectory: path.join(directory, "ipam"),
        name,
        ...(daemon.cniBinaryDirectory === undefined
          ? {}
          : { pluginDirectory: daemon.cniBinaryDirectory }),
      },
      ...(daemon.sandboxSeccompProfile === undefined
        ? {}
        : { sandboxSeccompProfile: daemon.sandboxSeccompProfile }),
      stateDirectory: path.join(directory, "state"),
      isOwn: () => true,
    });
  const runtime = await newRuntime();
  await runtime.start();
  await runtime.updatePodCidrs([freePodRange()]);
  if (options.image !== false)
    await runtime.importImage(await busyboxImageTar());
  await eventually(async () => (await runtime.status()).network.ready, {
    what: "the pod network",
  });

  return {
    directory,
    runtime,
    cgroupParent,
    newRuntime,
    get daemon() {
      return daemon;
    },
    async restart() {
      await daemon.stop();
      daemon = await startDaemon(kind, root, registryDirectories);
      // The connection comes back by itself a moment later.
      await eventually(() => runtime.version(), { what: "the runtime" });
    },
    sandboxConfig(name, change = {}) {
      const logDirectory = path.join(directory, "logs", name);
      fs.mkdirSync(logDirectory, { recursive: true });
      return sandboxConfig(name, { logDirectory, cgroupParent, ...change });
    },
    containerConfig,
    async dispose({ forgotten = false } = {}) {
      for (const { id } of await runtime.listPodSandboxes()) {
        await runtime.stopPodSandbox(id);
        await runtime.removePodSandbox(id);
      }
      await runtime.stop();
      await daemon.stop();
      if (forgotten) await endProcesses(`${directory}/`, cgroupParent);
      await removeCgroups(cgroupParent);
      removeTempDirectory(directory);
    },
  };
}
