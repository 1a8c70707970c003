// CRI messages → the shapes of cri/runtime.ts. Times: CRI's nanoseconds become milliseconds; 0 stays 0 ("not yet").
import {
  type ContainerState,
  type ContainerStatus,
  type ContainerSummary,
  type ImageSummary,
  type LinuxResources,
  type PodMetadata,
  type SandboxStatus,
  type SandboxSummary,
} from "../runtime.ts";
import type { IdMapping, UserMappings } from "../user-mappings.ts";
import type {
  ContainerStats,
  FilesystemUsage,
  ImageFilesystem,
} from "../usage.ts";
import type { RuntimeHandler } from "../runtime-features.ts";
import type * as cri from "./cri-v1-types.ts";

const containerStates: readonly ContainerState[] = [
  "created",
  "running",
  "exited",
  "unknown",
];
const sandboxReady = 0;
/** Of a namespace. */
const ofPod = 0;
const propagations = ["private", "host-to-container", "bidirectional"] as const;

function milliseconds(nanoseconds: number): number {
  return Math.floor(nanoseconds / 1e6);
}

function metadata(message: cri.PodSandboxMetadata | undefined): PodMetadata {
  return message ?? { name: "", namespace: "", uid: "", attempt: 0 };
}

export function runtimeHandler({
  name,
  features,
}: cri.RuntimeHandler): RuntimeHandler {
  return {
    name,
    recursiveReadOnlyMounts: features?.recursive_read_only_mounts ?? false,
    userNamespaces: features?.user_namespaces ?? false,
  };
}

export function sandboxSummary(
  message: cri.PodSandbox | cri.PodSandboxStatus,
): SandboxSummary {
  return {
    id: message.id,
    metadata: metadata(message.metadata),
    ready: message.state === sandboxReady,
    createdAtMs: milliseconds(message.created_at),
    labels: message.labels,
    annotations: message.annotations,
    runtimeHandler: message.runtime_handler,
  };
}

function idMappings(messages: readonly cri.IDMapping[]): IdMapping[] {
  return messages.map(({ host_id, container_id, length }) => ({
    hostId: host_id,
    containerId: container_id,
    length,
  }));
}

/** undefined: the node's, or the runtime does not say. */
function sandboxUsers({
  linux,
}: cri.PodSandboxStatus): UserMappings | undefined {
  const message = linux?.namespaces?.options?.userns_options;
  return message?.mode === ofPod
    ? { uids: idMappings(message.uids), gids: idMappings(message.gids) }
    : undefined;
}

/** The verbose answer's `info` is JSON in containerd's own shape; only the pid is wanted. */
function pidOf(info: Record<string, string>): number | undefined {
  const text = info["info"];
  if (text === undefined) return undefined;
  try {
    const pid = (JSON.parse(text) as { pid?: unknown }).pid;
    return typeof pid === "number" && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

export function sandboxStatus(
  response: cri.PodSandboxStatusResponse,
): SandboxStatus {
  const message = response.status!;
  const network = message.network;
  const ips = [
    network?.ip ?? "",
    ...(network?.additional_ips ?? []).map(({ ip }) => ip),
  ].filter((ip) => ip !== "");
  const pid = pidOf(response.info);
  const users = sandboxUsers(message);
  return {
    ...sandboxSummary(message),
    ips,
    ...(pid === undefined ? {} : { pid }),
    ...(users ? { users } : {}),
  };
}

export function containerSummary(message: cri.Container): ContainerSummary {
  return {
    id: message.id,
    sandboxId: message.pod_sandbox_id,
    name: message.metadata?.name ?? "",
    attempt: message.metadata?.attempt ?? 0,
    image: message.image?.image ?? "",
    imageRef: message.image_ref,
    state: containerStates[message.state] ?? "unknown",
    createdAtMs: milliseconds(message.created_at),
    labels: message.labels,
    annotations: message.annotations,
  };
}

function resources(message: cri.LinuxContainerResources): LinuxResources {
  return {
    cpuPeriod: message.cpu_period,
    cpuQuota: message.cpu_quota,
    cpuShares: message.cpu_shares,
    memoryLimitBytes: message.memory_limit_in_bytes,
    oomScoreAdj: message.oom_score_adj,
    cpusetCpus: message.cpuset_cpus,
    cpusetMems: message.cpuset_mems,
    hugepageLimits: message.hugepage_limits.map(({ page_size, limit }) => ({
      pageSize: page_size,
      limitBytes: limit,
    })),
    unified: message.unified,
    memorySwapLimitBytes: message.memory_swap_limit_in_bytes,
  };
}

/** `sandboxId` is not in CRI's status; the verbose info or the caller's knowledge gives it. */
export function containerStatus(
  response: cri.ContainerStatusResponse,
): ContainerStatus {
  const message = response.status!;
  const user = message.user?.linux;
  const linux = message.resources?.linux;
  const pid = pidOf(response.info);
  return {
    id: message.id,
    sandboxId: sandboxIdOf(response.info),
    name: message.metadata?.name ?? "",
    attempt: message.metadata?.attempt ?? 0,
    image: message.image?.image ?? "",
    imageRef: message.image_ref,
    state: containerStates[message.state] ?? "unknown",
    createdAtMs: milliseconds(message.created_at),
    startedAtMs: milliseconds(message.started_at),
    finishedAtMs: milliseconds(message.finished_at),
    exitCode: message.exit_code,
    reason: message.reason,
    message: message.message,
    logPath: message.log_path,
    labels: message.labels,
    annotations: message.annotations,
    mounts: message.mounts.map((mount) => ({
      containerPath: mount.container_path,
      hostPath: mount.host_path,
      readonly: mount.readonly,
      propagation: propagations[mount.propagation] ?? "private",
      selinuxRelabel: mount.selinux_relabel,
      recursiveReadOnly: mount.recursive_read_only,
      ...(mount.image
        ? {
            image: {
              id: mount.image.image,
              reference: mount.image.user_specified_image,
            },
          }
        : {}),
    })),
    ...(linux === undefined ? {} : { resources: resources(linux) }),
    ...(user === undefined
      ? {}
      : {
          user: {
            uid: user.uid,
            gid: user.gid,
            supplementalGroups: user.supplemental_groups,
          },
        }),
    ...(pid === undefined ? {} : { pid }),
  };
}

function sandboxIdOf(info: Record<string, string>): string {
  try {
    const id = (JSON.parse(info["info"] ?? "{}") as { sandboxID?: unknown })
      .sandboxID;
    return typeof id === "string" ? id : "";
  } catch {
    return "";
  }
}

export function imageSummary(
  message: cri.Image,
  pinned: boolean,
): ImageSummary {
  return {
    id: message.id,
    repoTags: message.repo_tags,
    repoDigests: message.repo_digests,
    sizeBytes: message.size,
    ...(message.uid === undefined ? {} : { uid: message.uid.value }),
    ...(message.username === "" ? {} : { username: message.username }),
    pinned: pinned || message.pinned,
  };
}

function filesystemUsage(message: cri.FilesystemUsage): FilesystemUsage {
  return {
    mountpoint: message.fs_id?.mountpoint ?? "",
    usedBytes: message.used_bytes?.value ?? 0,
    inodesUsed: message.inodes_used?.value ?? 0,
  };
}

/** CRI-O with an image store of its own names two places; containerd 2 names the one twice. */
export function imageFilesystems(
  message: cri.ImageFsInfoResponse,
): ImageFilesystem[] {
  const [layers] = message.container_filesystems.map(filesystemUsage);
  return message.image_filesystems
    .map(filesystemUsage)
    .map((images) =>
      layers === undefined || layers.mountpoint === images.mountpoint
        ? images
        : { ...images, layers },
    );
}

export function containerStats(message: cri.ContainerStats): ContainerStats {
  const { cpu, memory, writable_layer: layer } = message;
  const timestamp = Math.max(cpu?.timestamp ?? 0, memory?.timestamp ?? 0);
  const stats: ContainerStats = {
    id: message.attributes?.id ?? "",
    name: message.attributes?.metadata?.name ?? "",
    labels: message.attributes?.labels ?? {},
    timestampMs: milliseconds(timestamp),
  };
  const put = (key: NumberKey, value: cri.UInt64Value | undefined): void => {
    if (value !== undefined) stats[key] = value.value;
  };
  put("cpuUsageNanoseconds", cpu?.usage_core_nano_seconds);
  put("memoryWorkingSetBytes", memory?.working_set_bytes);
  put("memoryUsageBytes", memory?.usage_bytes);
  put("memoryRssBytes", memory?.rss_bytes);
  put("memoryAvailableBytes", memory?.available_bytes);
  put("pageFaults", memory?.page_faults);
  put("majorPageFaults", memory?.major_page_faults);
  if (layer !== undefined) stats.writableLayer = filesystemUsage(layer);
  return stats;
}

type NumberKey =
  | "cpuUsageNanoseconds"
  | "memoryWorkingSetBytes"
  | "memoryUsageBytes"
  | "memoryRssBytes"
  | "memoryAvailableBytes"
  | "pageFaults"
  | "majorPageFaults";
