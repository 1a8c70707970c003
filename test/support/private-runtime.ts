// A private containerd with its Runtime for one test file: own directory, own cgroup parent, own pod range. dispose()
// removes what it made: pods, shims, containerd, mounts, cgroups.
import { randomBytes, randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { createContainerdRuntime } from "../../cri/containerd/containerd-runtime.ts";
import {
  startPrivateContainerd,
  type PrivateContainerd,
} from "../../cri/private-containerd/private-containerd.ts";
import type {
  ContainerConfig,
  Runtime,
  SandboxConfig,
} from "../../cri/runtime.ts";
import { busyboxImage, busyboxImageTar } from "./busybox-image.ts";
import { eventually } from "./eventually.ts";
import { announce } from "./run/run-state.ts";
import { makeTempDirectory, removeTempDirectory } from "./temp-directory.ts";

export interface PrivateRuntime {
  readonly directory: string;
  readonly runtime: Runtime;
  readonly containerd: PrivateContainerd;
  readonly cgroupParent: string;
  /** Ends containerd (its pods stay) and starts it anew. */
  restart(): Promise<void>;
  sandboxConfig(name: string, change?: Partial<SandboxConfig>): SandboxConfig;
  /** Runs `sh -c script` in busybox. */
  containerConfig(
    name: string,
    script: string,
    change?: Partial<ContainerConfig>,
  ): ContainerConfig;
  dispose(): Promise<void>;
}

/** With the busybox image imported and the pod network up. */
export async function startPrivateRuntime(
  options: { image?: boolean } = {},
): Promise<PrivateRuntime> {
  const directory = makeTempDirectory("orbit-test-cri-");
  const cgroupParent = `/orbit-test-${randomBytes(6).toString("hex")}`;
  announce("cgroup", cgroupParent);
  const logger = pino({ level: "silent" });
  const root = path.join(directory, "containerd");
  let containerd = await startPrivateContainerd({ directory: root, logger });
  const runtime = createContainerdRuntime({
    endpoint: containerd.endpoint,
    logger,
    cni: {
      directory: containerd.cniConfigurationDirectory,
      ipamDirectory: path.join(directory, "ipam"),
      name: `orbit-test-${randomBytes(3).toString("hex")}`,
    },
  });
  await runtime.start();
  await runtime.updatePodCidrs([
    `10.${randomInt(200, 250)}.${randomInt(256)}.0/24`,
  ]);
  if (options.image !== false)
    await runtime.importImage(await busyboxImageTar());
  await eventually(async () => (await runtime.status()).network.ready, {
    what: "the pod network",
  });

  return {
    directory,
    runtime,
    cgroupParent,
    get containerd() {
      return containerd;
    },
    async restart() {
      await containerd.stop();
      containerd = await startPrivateContainerd({ directory: root, logger });
      // The connection mends itself a moment later.
      await eventually(() => runtime.version(), { what: "the runtime" });
    },
    sandboxConfig(name, change = {}) {
      const logDirectory = path.join(directory, "logs", name);
      fs.mkdirSync(logDirectory, { recursive: true });
      return {
        metadata: {
          name,
          namespace: "default",
          uid: `uid-${name}`,
          attempt: 0,
        },
        hostname: name,
        logDirectory,
        portMappings: [],
        labels: { name },
        annotations: {},
        cgroupParent,
        sysctls: {},
        security: {
          network: "pod",
          pid: "container",
          ipc: "pod",
          privileged: false,
          readonlyRootfs: false,
          supplementalGroups: [],
        },
        ...change,
      };
    },
    containerConfig(name, script, change = {}) {
      return {
        name,
        attempt: 0,
        image: "busybox",
        imageRef: busyboxImage,
        command: ["/bin/sh", "-c", script],
        args: [],
        workingDir: "",
        env: [],
        mounts: [],
        devices: [],
        labels: { name },
        annotations: {},
        logPath: `${name}.log`,
        stdin: false,
        stdinOnce: false,
        tty: false,
        security: {
          privileged: false,
          capabilitiesAdd: [],
          capabilitiesDrop: [],
          supplementalGroups: [],
          readonlyRootfs: false,
          noNewPrivs: false,
          unmaskedProc: false,
          network: "pod",
          pid: "container",
          ipc: "pod",
        },
        ...change,
      };
    },
    async dispose() {
      for (const { id } of await runtime.listPodSandboxes()) {
        await runtime.stopPodSandbox(id);
        await runtime.removePodSandbox(id);
      }
      await runtime.stop();
      await containerd.stop();
      removeCgroups(cgroupParent);
      removeTempDirectory(directory);
    },
  };
}

/** runc and agents make the parent and groups below it in every controller, and nobody else removes them. */
function removeCgroups(parent: string): void {
  const mount = "/sys/fs/cgroup";
  for (const controller of ["", ...fs.readdirSync(mount)])
    removeCgroup(path.join(mount, controller, parent));
}

function removeCgroup(directory: string): void {
  try {
    for (const entry of fs.readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) removeCgroup(path.join(directory, entry.name));
    fs.rmdirSync(directory);
  } catch {
    // not in this controller, or not empty
  }
}
