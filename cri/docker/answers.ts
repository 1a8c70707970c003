// The daemon's answers → the shapes of cri/runtime.ts. Times: the daemon's year 1 means "not yet" and becomes 0.
import type {
  ContainerInfo,
  ContainerInspectInfo,
  ContainerStats as DaemonStats,
  ImageInfo,
  ImageInspectInfo,
} from "dockerode";
import { normalizeImageName } from "../images/image-names.ts";
import type {
  ContainerState,
  ContainerStatus,
  ContainerSummary,
  ImageSummary,
  LinuxResources,
  Mount,
  SandboxSummary,
} from "../runtime.ts";
import type { ContainerStats } from "../usage.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";

/** An image with this name is left alone by garbage collection. The tag is the beginning of its id. */
export const pinnedRepository = "orbit.local/pinned";

const states: Readonly<Record<string, ContainerState>> = {
  created: "created",
  running: "running",
  paused: "running",
  restarting: "running",
  removing: "exited",
  exited: "exited",
  dead: "exited",
};

/** The exit code of a container that could not be started, as containerd has it. */
const startFailedCode = 128;

function milliseconds(time: string): number {
  const parsed = Date.parse(time);
  return parsed > 0 ? parsed : 0;
}

export function sandboxSummary(
  id: string,
  record: SandboxRecord,
  createdAtMs: number,
  ready: boolean,
): SandboxSummary {
  const { metadata, labels, annotations, runtimeHandler } = record;
  return {
    id,
    metadata,
    ready,
    createdAtMs,
    labels,
    annotations,
    runtimeHandler,
  };
}

export function containerSummary(
  { Id, State, Created }: Pick<ContainerInfo, "Id" | "State" | "Created">,
  record: ContainerRecord,
): ContainerSummary {
  return {
    id: Id,
    ...described(record),
    state: states[State] ?? "unknown",
    createdAtMs: Created * 1000,
  };
}

function described(
  record: ContainerRecord,
): Pick<
  ContainerSummary,
  | "sandboxId"
  | "name"
  | "attempt"
  | "image"
  | "imageRef"
  | "labels"
  | "annotations"
> {
  const { sandboxId, name, attempt, image, imageRef, labels, annotations } =
    record;
  return { sandboxId, name, attempt, image, imageRef, labels, annotations };
}

export function createdAtMs({ Created }: ContainerInspectInfo): number {
  return milliseconds(Created);
}

export function containerStatus(
  info: ContainerInspectInfo,
  record: ContainerRecord,
  verbose: boolean,
): ContainerStatus {
  const { State } = info;
  const state = states[State.Status] ?? "unknown";
  const created = createdAtMs(info);
  const base = {
    id: info.Id,
    ...described(record),
    createdAtMs: created,
    logPath: record.logPath,
    mounts: mountsOf(info),
    resources: resourcesOf(info),
  };
  // The daemon leaves what it could not start as created, with the reason.
  if (state === "created" && (State.Error !== "" || State.ExitCode !== 0))
    return {
      ...base,
      state: "exited",
      startedAtMs: 0,
      finishedAtMs: created,
      exitCode: startFailedCode,
      reason: "StartError",
      message: State.Error,
    };
  const ended = state === "exited";
  return {
    ...base,
    state,
    startedAtMs: milliseconds(State.StartedAt),
    finishedAtMs: ended ? milliseconds(State.FinishedAt) : 0,
    exitCode: ended ? State.ExitCode : 0,
    reason: ended ? endReason(State) : "",
    message: ended ? State.Error : "",
    ...(verbose && State.Running && State.Pid > 0 ? { pid: State.Pid } : {}),
  };
}

function endReason({
  OOMKilled,
  ExitCode,
}: ContainerInspectInfo["State"]): string {
  if (OOMKilled && ExitCode !== 0) return "OOMKilled";
  return ExitCode === 0 ? "Completed" : "Error";
}

function mountsOf({ Mounts }: ContainerInspectInfo): Mount[] {
  return Mounts.filter(({ Type }) => Type === "bind").map(
    ({ Source, Destination, RW, Propagation }) => ({
      containerPath: Destination,
      hostPath: Source,
      readonly: !RW,
      propagation:
        Propagation === "rshared"
          ? "bidirectional"
          : Propagation === "rslave"
            ? "host-to-container"
            : "private",
    }),
  );
}

function resourcesOf({ HostConfig }: ContainerInspectInfo): LinuxResources {
  return {
    cpuPeriod: HostConfig.CpuPeriod ?? 0,
    cpuQuota: HostConfig.CpuQuota ?? 0,
    cpuShares: HostConfig.CpuShares ?? 0,
    memoryLimitBytes: HostConfig.Memory ?? 0,
    memorySwapLimitBytes: HostConfig.MemorySwap ?? 0,
    oomScoreAdj: HostConfig.OomScoreAdj ?? 0,
    cpusetCpus: HostConfig.CpusetCpus ?? "",
    cpusetMems: HostConfig.CpusetMems ?? "",
  };
}

/** Names in full, as every other runtime gives them; the pin is no name. */
function namesOf(names: readonly string[] | null | undefined): {
  names: string[];
  pinned: boolean;
} {
  const all = (names ?? []).filter((name) => !name.startsWith("<none>"));
  const own = all.filter((name) => !name.startsWith(`${pinnedRepository}:`));
  return { names: own.map(fullName), pinned: own.length < all.length };
}

function fullName(name: string): string {
  try {
    return normalizeImageName(name);
  } catch {
    return name;
  }
}

export function imageSummary(
  {
    Id,
    RepoTags,
    RepoDigests,
    Size,
  }: Pick<ImageInfo, "Id" | "RepoTags" | "RepoDigests" | "Size">,
  user = "",
): ImageSummary {
  const { names, pinned } = namesOf(RepoTags);
  const name = user.split(":")[0]!;
  return {
    id: Id,
    repoTags: names,
    repoDigests: namesOf(RepoDigests).names,
    sizeBytes: Size,
    ...(name === ""
      ? {}
      : /^\d+$/.test(name)
        ? { uid: Number(name) }
        : { username: name }),
    pinned,
  };
}

export function imageStatus(info: ImageInspectInfo): ImageSummary {
  const summary = imageSummary(info, info.Config?.User);
  // An image without a user runs as root, which runAsNonRoot wants to know.
  if (summary.username === undefined) summary.uid ??= 0;
  return summary;
}

/** Version 1 of cgroups counts with total_ before the names, version 2 without. */
export function containerStats(
  id: string,
  { name, labels }: Pick<ContainerRecord, "name" | "labels">,
  { read, cpu_stats, memory_stats }: DaemonStats,
): ContainerStats {
  const counted = (memory_stats.stats ?? {}) as unknown as Record<
    string,
    number | undefined
  >;
  const usage = memory_stats.usage as number | undefined;
  const inactive = counted["total_inactive_file"] ?? counted["inactive_file"];
  const workingSet =
    usage === undefined ? undefined : Math.max(0, usage - (inactive ?? 0));
  const limit = memory_stats.limit as number | undefined;
  const stats: ContainerStats = {
    id,
    name,
    labels,
    timestampMs: milliseconds(read),
  };
  const put = (key: NumberKey, value: number | undefined): void => {
    if (value !== undefined) stats[key] = value;
  };
  put("cpuUsageNanoseconds", cpu_stats.cpu_usage?.total_usage);
  put("memoryUsageBytes", usage);
  put("memoryWorkingSetBytes", workingSet);
  put("memoryRssBytes", counted["total_rss"] ?? counted["anon"]);
  put("pageFaults", counted["total_pgfault"] ?? counted["pgfault"]);
  put("majorPageFaults", counted["total_pgmajfault"] ?? counted["pgmajfault"]);
  if (workingSet !== undefined && limit !== undefined && limit > workingSet)
    put("memoryAvailableBytes", limit - workingSet);
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
