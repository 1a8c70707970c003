// Runtime configurations → what the daemon is asked to create. What Docker can't do is refused by name, never left out.
import type {
  ContainerCreateOptions,
  HostConfig,
  MountSettings,
} from "dockerode";
import { basename, posix } from "node:path";
import {
  RuntimeError,
  type ContainerConfig,
  type LinuxResources,
  type Mount,
  type NamespaceMode,
  type SandboxConfig,
} from "../runtime.ts";
import {
  containerName,
  labelsOf,
  type ContainerRecord,
  type SandboxRecord,
} from "./records.ts";

/** Kept for the agent to copy from (log-copier.ts): what a container may write while no agent runs. */
const daemonLog = {
  Type: "json-file",
  Config: { "max-size": "10m", "max-file": "2" },
};

/** The sandbox's process never needs more. */
const sandboxCpuShares = 2;

export interface DaemonFacts {
  cgroupDriver: string;
  /** 2: the unified hierarchy alone. */
  cgroupVersion: 1 | 2;
  runtimes: readonly string[];
  defaultRuntime: string;
  /** Devices by the Container Device Interface: Docker 25 and newer, where the daemon has that on. */
  cdi: boolean;
  seccomp: boolean;
  apparmor: boolean;
  /** Directory of images and containers. */
  rootDirectory: string;
  /** As it is called there, e.g. overlay2. */
  storageDriver: string;
}

function refuse(what: string): never {
  throw new RuntimeError(
    "unsupported",
    `${what} is not supported by the docker runtime`,
  );
}

/** With the systemd driver a parent is the name of a slice. */
function cgroupParent(parent: string, facts: DaemonFacts): string {
  return facts.cgroupDriver === "systemd" ? basename(parent) : parent;
}

function runtimeOf(handler: string, facts: DaemonFacts): string {
  if (handler === "") return facts.defaultRuntime;
  if (!facts.runtimes.includes(handler))
    throw new RuntimeError(
      "invalid",
      `no runtime for "${handler}" is configured`,
    );
  return handler;
}

const common = {
  RestartPolicy: { Name: "no" },
  AutoRemove: false,
  // The daemon may be configured to add an init process of its own.
  Init: false,
} satisfies Partial<HostConfig>;

export function sandboxRequest(options: {
  record: SandboxRecord;
  config: SandboxConfig;
  image: string;
  securityOptions: string[];
  facts: DaemonFacts;
  /** undefined: the daemon's default. */
  oomScoreAdj: number | undefined;
}): ContainerCreateOptions {
  const { record, config, image, facts, securityOptions } = options;
  const { security } = config;
  if (security.users) refuse("a user namespace of the pod");
  const onHost = security.network === "node";
  return {
    name: containerName(record),
    Image: image,
    ...(onHost || config.hostname === "" ? {} : { Hostname: config.hostname }),
    ...userOf(security),
    Labels: labelsOf(record),
    HostConfig: {
      ...common,
      NetworkMode: onHost ? "host" : "none",
      ...(onHost ? { UTSMode: "host" } : {}),
      IpcMode: security.ipc === "node" ? "host" : "shareable",
      PidMode: security.pid === "node" ? "host" : "",
      CgroupParent: cgroupParent(config.cgroupParent, facts),
      Sysctls: config.sysctls,
      ReadonlyRootfs: security.readonlyRootfs,
      GroupAdd: security.supplementalGroups.map(String),
      SecurityOpt: securityOptions,
      CpuShares: sandboxCpuShares,
      ...(options.oomScoreAdj === undefined
        ? {}
        : { OomScoreAdj: options.oomScoreAdj }),
      LogConfig: { Type: "none", Config: {} },
      Runtime: runtimeOf(record.runtimeHandler, facts),
    },
  };
}

export function containerRequest(options: {
  record: ContainerRecord;
  config: ContainerConfig;
  sandbox: SandboxConfig;
  securityOptions: string[];
  facts: DaemonFacts;
  runtimeHandler: string;
}): ContainerCreateOptions {
  const { record, config, sandbox, facts, securityOptions } = options;
  const { security } = config;
  const inSandbox = `container:${record.sandboxId}`;
  const onHost = security.network === "node";
  refuseWhatIsNotThere(config, facts);
  return {
    name: containerName(record),
    Image: config.imageRef,
    ...(config.command.length > 0 ? { Entrypoint: config.command } : {}),
    ...(config.args.length > 0 ? { Cmd: config.args } : {}),
    ...(config.workingDir === "" ? {} : { WorkingDir: config.workingDir }),
    Env: config.env.map(({ name, value }) => `${name}=${value}`),
    ...userOf(security),
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    Tty: config.tty,
    Labels: labelsOf(record),
    // Pods have probes of their own.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...common,
      NetworkMode: inSandbox,
      ...(onHost ? { UTSMode: "host" } : {}),
      IpcMode: security.ipc === "node" ? "host" : inSandbox,
      PidMode: pidMode(security.pid, record.sandboxId, security.targetId),
      CgroupParent: cgroupParent(sandbox.cgroupParent, facts),
      Mounts: mountsOf(config.mounts),
      Devices: config.devices.map(
        ({ containerPath, hostPath, permissions }) => ({
          PathInContainer: containerPath,
          PathOnHost: hostPath,
          CgroupPermissions: permissions,
        }),
      ),
      ...(config.cdiDevices?.length
        ? {
            DeviceRequests: [{ Driver: "cdi", DeviceIDs: config.cdiDevices }],
          }
        : {}),
      CapAdd: security.capabilitiesAdd,
      CapDrop: security.capabilitiesDrop,
      Privileged: security.privileged,
      ReadonlyRootfs: security.readonlyRootfs,
      GroupAdd: security.supplementalGroups.map(String),
      SecurityOpt: securityOptions,
      ...(security.unmaskedProc ? { MaskedPaths: [], ReadonlyPaths: [] } : {}),
      ...(config.resources === undefined
        ? {}
        : resourcesRequest(config.resources)),
      ...(config.resources?.oomScoreAdj === undefined
        ? {}
        : { OomScoreAdj: config.resources.oomScoreAdj }),
      LogConfig: daemonLog,
      Runtime: runtimeOf(options.runtimeHandler, facts),
    },
  };
}

/** What this machine or this daemon has not. */
function refuseWhatIsNotThere(
  { resources, cdiDevices = [] }: ContainerConfig,
  { cgroupVersion, cdi }: DaemonFacts,
): void {
  const unified = Object.keys(resources?.unified ?? {});
  if (cgroupVersion === 1 && unified.length > 0)
    refuse(`${unified[0]} of the unified cgroup hierarchy, which is not here,`);
  if (cdiDevices.length > 0 && !cdi)
    throw new RuntimeError(
      "unsupported",
      `CDI devices (${cdiDevices.join(", ")}) are not enabled in the docker daemon: it takes Docker 25 or newer with the feature "cdi"`,
    );
}

function userOf(security: {
  runAsUser?: number;
  runAsUsername?: string;
  runAsGroup?: number;
}): { User?: string } {
  const user = security.runAsUser?.toString() ?? security.runAsUsername ?? "";
  if (security.runAsGroup === undefined)
    return user === "" ? {} : { User: user };
  if (user === "")
    throw new RuntimeError("invalid", "user group is specified without user");
  return { User: `${user}:${security.runAsGroup}` };
}

function pidMode(
  mode: NamespaceMode,
  sandboxId: string,
  targetId: string | undefined,
): string {
  if (mode === "node") return "host";
  if (mode === "pod") return `container:${sandboxId}`;
  return mode === "target" && targetId !== undefined
    ? `container:${targetId}`
    : "";
}

const propagations = {
  private: undefined,
  "host-to-container": "rslave",
  bidirectional: "rshared",
} as const;

/**
 * Of two mounts at one place the later one counts. A private one is the daemon's default, and is not named: for a directory
 * above its own, `/` for instance, the daemon refuses "private" by name, and follows what is mounted there otherwise.
 */
function mountsOf(mounts: readonly Mount[]): MountSettings[] {
  const byPath = new Map<string, MountSettings>();
  for (const mount of mounts) {
    if (mount.recursiveReadOnly === true) refuse("a recursive read-only mount");
    if (mount.image) refuse("an image volume");
    const path = posix.normalize(`${mount.containerPath}/.`);
    byPath.delete(path);
    const propagation = propagations[mount.propagation];
    byPath.set(path, {
      Type: "bind",
      Source: mount.hostPath,
      Target: path,
      ReadOnly: mount.readonly,
      ...(propagation === undefined
        ? {}
        : { BindOptions: { Propagation: propagation } }),
    });
  }
  return [...byPath.values()];
}

/**
 * What of the resources the daemon sets, also while the container runs; 0 and "" are its "not set". The rest are values of
 * the container's cgroup (cgroup-values.ts).
 */
export function resourcesRequest(
  resources: LinuxResources,
): Pick<
  HostConfig,
  | "CpuPeriod"
  | "CpuQuota"
  | "CpuShares"
  | "Memory"
  | "MemorySwap"
  | "CpusetCpus"
  | "CpusetMems"
> {
  const memory = resources.memoryLimitBytes ?? 0;
  return {
    CpuPeriod: resources.cpuPeriod ?? 0,
    CpuQuota: resources.cpuQuota ?? 0,
    CpuShares: resources.cpuShares ?? 0,
    Memory: memory,
    // Without it the daemon would add as much swap as there is memory.
    ...(memory > 0
      ? { MemorySwap: resources.memorySwapLimitBytes || memory }
      : {}),
    CpusetCpus: resources.cpusetCpus ?? "",
    CpusetMems: resources.cpusetMems ?? "",
  };
}
