// Runtime configurations → CRI messages. One function a message; absent optional parts stay absent on the wire, so the
// runtime's own defaults apply.
import type {
  ContainerConfig,
  LinuxResources,
  Mount,
  NamespaceMode,
  SandboxConfig,
  SecurityProfile,
} from "../runtime.ts";
import type { IdMapping } from "../user-mappings.ts";
import type * as cri from "./cri-v1-types.ts";
import type { Message } from "./connection.ts";

const namespaceModes: Readonly<Record<NamespaceMode, number>> = {
  pod: 0,
  container: 1,
  node: 2,
  target: 3,
};
const protocols = { TCP: 0, UDP: 1, SCTP: 2 } as const;
const propagations = {
  private: 0,
  "host-to-container": 1,
  bidirectional: 2,
} as const;
const profileTypes = {
  "runtime-default": 0,
  unconfined: 1,
  localhost: 2,
} as const;

function securityProfile(
  profile: SecurityProfile | undefined,
): Message<cri.SecurityProfile> | undefined {
  if (profile === undefined) return undefined;
  return {
    profile_type: profileTypes[profile.type],
    localhost_ref: profile.localhostRef ?? "",
  };
}

/** containerd 1.6 reads AppArmor only from the old text field. */
function apparmorText(profile: SecurityProfile | undefined): string {
  if (profile === undefined) return "";
  if (profile.type === "runtime-default") return "runtime/default";
  if (profile.type === "unconfined") return "unconfined";
  return `localhost/${profile.localhostRef ?? ""}`;
}

function int64Value(value: number | undefined): { value: number } | undefined {
  return value === undefined ? undefined : { value };
}

export function resourcesMessage(
  resources: LinuxResources,
): Message<cri.LinuxContainerResources> {
  return {
    cpu_period: resources.cpuPeriod ?? 0,
    cpu_quota: resources.cpuQuota ?? 0,
    cpu_shares: resources.cpuShares ?? 0,
    memory_limit_in_bytes: resources.memoryLimitBytes ?? 0,
    oom_score_adj: resources.oomScoreAdj ?? 0,
    cpuset_cpus: resources.cpusetCpus ?? "",
    cpuset_mems: resources.cpusetMems ?? "",
    hugepage_limits: (resources.hugepageLimits ?? []).map(
      ({ pageSize, limitBytes }) => ({
        page_size: pageSize,
        limit: limitBytes,
      }),
    ),
    unified: resources.unified ?? {},
    memory_swap_limit_in_bytes: resources.memorySwapLimitBytes ?? 0,
  };
}

function idMappings(mappings: readonly IdMapping[]): Message<cri.IDMapping>[] {
  return mappings.map(({ hostId, containerId, length }) => ({
    host_id: hostId,
    container_id: containerId,
    length,
  }));
}

function userNamespaceMessage({
  security: { users },
}: SandboxConfig): Message<cri.UserNamespace> | undefined {
  return (
    users && {
      mode: namespaceModes.pod,
      uids: idMappings(users.uids),
      gids: idMappings(users.gids),
    }
  );
}

export function sandboxMessage(
  config: SandboxConfig,
): Message<cri.PodSandboxConfig> {
  const { security } = config;
  return {
    metadata: config.metadata,
    // A host-network sandbox with a hostname is refused.
    hostname: security.network === "node" ? "" : config.hostname,
    log_directory: config.logDirectory,
    dns_config: config.dns,
    port_mappings: config.portMappings.map(
      ({ protocol, containerPort, hostPort, hostIP }) => ({
        protocol: protocols[protocol],
        container_port: containerPort,
        host_port: hostPort,
        host_ip: hostIP,
      }),
    ),
    labels: config.labels,
    annotations: config.annotations,
    linux: {
      cgroup_parent: config.cgroupParent,
      sysctls: config.sysctls,
      overhead:
        config.overhead === undefined
          ? undefined
          : resourcesMessage(config.overhead),
      resources:
        config.resources === undefined
          ? undefined
          : resourcesMessage(config.resources),
      security_context: {
        namespace_options: {
          network: namespaceModes[security.network],
          pid: namespaceModes[security.pid],
          ipc: namespaceModes[security.ipc],
          userns_options: userNamespaceMessage(config),
        },
        selinux_options: security.selinux,
        run_as_user: int64Value(security.runAsUser),
        run_as_group: int64Value(security.runAsGroup),
        readonly_rootfs: security.readonlyRootfs,
        supplemental_groups: security.supplementalGroups,
        supplemental_groups_policy:
          security.supplementalGroupsPolicy === "Strict" ? 1 : 0,
        privileged: security.privileged,
        seccomp: securityProfile(security.seccomp),
        apparmor: securityProfile(security.apparmor),
      },
    },
  };
}

/** `users`: the container sees its own ids as owners, while those on the disk stay as they are. */
function mountMessage(
  mount: Mount,
  users: SandboxConfig["security"]["users"],
): Message<cri.Mount> {
  return {
    container_path: mount.containerPath,
    host_path: mount.hostPath,
    readonly: mount.readonly,
    propagation: propagations[mount.propagation],
    selinux_relabel: mount.selinuxRelabel ?? false,
    recursive_read_only: mount.recursiveReadOnly ?? false,
    uidMappings: idMappings(users?.uids ?? []),
    gidMappings: idMappings(users?.gids ?? []),
    image: mount.image && {
      image: mount.image.id,
      user_specified_image: mount.image.reference,
    },
  };
}

/** What a container may not see or write under /proc and /sys unless it is unmasked; the reference's lists. */
const maskedPaths = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
];
const readonlyPaths = [
  "/proc/bus",
  "/proc/fs",
  "/proc/irq",
  "/proc/sys",
  "/proc/sysrq-trigger",
];

/** The runtime wants the pod's user namespace named with each of its containers, too. */
export function containerMessage(
  config: ContainerConfig,
  sandbox: SandboxConfig,
): Message<cri.ContainerConfig> {
  const { security } = config;
  const unmasked = security.unmaskedProc || security.privileged;
  return {
    metadata: { name: config.name, attempt: config.attempt },
    image: { image: config.imageRef, user_specified_image: config.image },
    command: config.command,
    args: config.args,
    working_dir: config.workingDir,
    envs: config.env.map(({ name, value }) => ({ key: name, value })),
    mounts: config.mounts.map((mount) =>
      mountMessage(mount, sandbox.security.users),
    ),
    devices: config.devices.map(({ containerPath, hostPath, permissions }) => ({
      container_path: containerPath,
      host_path: hostPath,
      permissions,
    })),
    CDI_devices: (config.cdiDevices ?? []).map((name) => ({ name })),
    labels: config.labels,
    annotations: config.annotations,
    log_path: config.logPath,
    stdin: config.stdin,
    stdin_once: config.stdinOnce,
    tty: config.tty,
    linux: {
      resources:
        config.resources === undefined
          ? undefined
          : resourcesMessage(config.resources),
      security_context: {
        privileged: security.privileged,
        capabilities: {
          add_capabilities: security.capabilitiesAdd,
          drop_capabilities: security.capabilitiesDrop,
        },
        namespace_options: {
          network: namespaceModes[security.network],
          pid: namespaceModes[security.pid],
          ipc: namespaceModes[security.ipc],
          target_id: security.targetId ?? "",
          userns_options: userNamespaceMessage(sandbox),
        },
        selinux_options: security.selinux,
        run_as_user: int64Value(security.runAsUser),
        run_as_group: int64Value(security.runAsGroup),
        run_as_username: security.runAsUsername ?? "",
        readonly_rootfs: security.readonlyRootfs,
        supplemental_groups: security.supplementalGroups,
        supplemental_groups_policy:
          security.supplementalGroupsPolicy === "Strict" ? 1 : 0,
        no_new_privs: security.noNewPrivs,
        masked_paths: unmasked ? [] : maskedPaths,
        readonly_paths: unmasked ? [] : readonlyPaths,
        seccomp: securityProfile(security.seccomp),
        apparmor: securityProfile(security.apparmor),
        apparmor_profile: apparmorText(security.apparmor),
      },
    },
  };
}
