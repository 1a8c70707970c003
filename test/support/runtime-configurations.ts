// Configurations of sandboxes and containers for tests of runtimes: the least that runs.
import type { ContainerConfig, SandboxConfig } from "../../cri/runtime.ts";
import { busyboxImage } from "./busybox-image.ts";

/** On the pod network, with an own log directory and cgroup only when they are given. */
export function sandboxConfig(
  name: string,
  change: Partial<SandboxConfig> = {},
): SandboxConfig {
  return {
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      attempt: 0,
    },
    hostname: name,
    logDirectory: "",
    portMappings: [],
    labels: { name },
    annotations: {},
    cgroupParent: "",
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
}

/** Runs `sh -c script` in busybox. */
export function containerConfig(
  name: string,
  script: string,
  change: Partial<ContainerConfig> = {},
): ContainerConfig {
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
}
