// The stats.Summary of /stats/summary: what the node and each pod's containers use, from the runtime and from /proc.
// CPU rates are the difference to the sample before; the first one has none.
import { readFile } from "node:fs/promises";
import type { ContainerFigures, VolumeStats } from "../../api/contracts.ts";
import { formatTime, type Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { ContainerStats, FilesystemUsage } from "../../cri/usage.ts";
import { within } from "../../cri/deadline.ts";
import type { DiskUsage } from "../../eviction/pod-usage.ts";
import type { CgroupUsage } from "../cgroups/cgroup-driver.ts";
import { containerNameLabel, podUidLabel } from "../pods/shape/labels.ts";
import { runningInstances } from "./container-instances.ts";
import { podTotal, type CpuStats, type MemoryStats } from "./pod-total.ts";
import { agentFilesUsage } from "./pod-usage.ts";
import {
  cgroupSwap,
  ephemeralUsage,
  filesystem,
  machineSwap,
  network,
  nodeSwap,
  processLimits,
  processCount,
  usageOn,
  type FsStats,
  type MachineSwap,
} from "./summary-parts.ts";
import {
  systemContainers,
  type SystemContainersOptions,
} from "./system-containers.ts";

interface SummaryOptions {
  runtime: Runtime;
  nodeName: string;
  rootDirectory: string;
  /** With status. */
  pods: () => readonly Pod[];
  /** VolumeStats of a pod. */
  volumes: (pod: Pod) => Promise<readonly VolumeStats[]>;
  /** Of the pod's cgroup. */
  podUsage: (pod: Pod) => Promise<CgroupUsage>;
  /** Of cgroups and networks: of the machine, the pods, their sandboxes and containers. */
  figures: () => Promise<readonly ContainerFigures[]>;
  /** Of a container's logs. */
  logs: (pod: Pod, container: string) => Promise<DiskUsage>;
  startedAtMs: number;
  system: Pick<SystemContainersOptions, "mount" | "cgroups">;
  clock: Clock;
}

/** What the descriptions of all pods share. */
interface Reading {
  readonly onlyCpuAndMemory: boolean;
  readonly swap: MachineSwap;
  /** By namespace and name of the pod; of the machine by "/". */
  readonly figures: ReadonlyMap<string, readonly ContainerFigures[]>;
  /** Where the agent's files are. */
  readonly rootFs: FsStats | undefined;
  readonly imageFs: FsStats | undefined;
  /** Where containers' writable layers are. */
  readonly containerFs: FsStats | undefined;
}

interface Sample {
  nanoseconds: number;
  atMs: number;
  nanoCores: number | undefined;
}

const ticksPerSecond = 100;
/** For a runtime that hangs: the caller gets an answer all the same. */
const patienceMs = 10_000;
/** Rates over less than this are noise: the one before is given again. */
const shortestRateMs = 1000;

export class StatsSummary {
  readonly #options: SummaryOptions;
  readonly #samples = new Map<string, Sample>();

  constructor(options: SummaryOptions) {
    this.#options = options;
  }

  async summary(onlyCpuAndMemory: boolean): Promise<object> {
    const { runtime, pods, clock } = this.#options;
    const all = await within(clock, patienceMs, runtime.containerStats());
    const byPod = new Map<string, ContainerStats[]>();
    for (const stats of all) {
      const uid = stats.labels[podUidLabel];
      // A pod of which nothing runs is not in it.
      if (uid === undefined || stats.timestampMs === 0) continue;
      const list = byPod.get(uid);
      if (list) list.push(stats);
      else byPod.set(uid, [stats]);
    }
    const known = new Set([
      ...all.map(({ id }) => id),
      ...[...byPod.keys()].map(podKey),
    ]);
    for (const id of this.#samples.keys())
      if (id !== "" && !id.startsWith("system:") && !known.has(id))
        this.#samples.delete(id);
    const reading = await this.#read(onlyCpuAndMemory);
    return {
      node: await this.#node(reading),
      pods: await Promise.all(
        pods()
          .filter(({ metadata }) => byPod.has(metadata.uid ?? ""))
          .map((pod) =>
            this.#pod(pod, byPod.get(pod.metadata.uid ?? "")!, reading),
          ),
      ),
    };
  }

  async #read(onlyCpuAndMemory: boolean): Promise<Reading> {
    const swap = await machineSwap();
    const figures = new Map<string, ContainerFigures[]>();
    // A machine without swap has none in use: no cgroup is read for that.
    if (!onlyCpuAndMemory || swap.total > 0)
      for (const each of await this.#options.figures()) {
        const key = each.id === "/" ? "/" : `${each.namespace}/${each.pod}`;
        const list = figures.get(key);
        if (list) list.push(each);
        else figures.set(key, [each]);
      }
    if (onlyCpuAndMemory)
      return {
        ...{ onlyCpuAndMemory, swap, figures },
        ...{ rootFs: undefined, imageFs: undefined, containerFs: undefined },
      };
    const { runtime, clock, rootDirectory } = this.#options;
    const at = time(clock.now());
    const [image] = await within(
      clock,
      patienceMs,
      runtime.imageFsInfo(),
    ).catch(() => []);
    const reported = async (found: FilesystemUsage): Promise<FsStats> => ({
      ...(await filesystem(found.mountpoint, at)),
      time: at,
      usedBytes: found.usedBytes,
      inodesUsed: found.inodesUsed,
    });
    const imageFs = image && (await reported(image));
    return {
      ...{ onlyCpuAndMemory, swap, figures, imageFs },
      rootFs: await filesystem(rootDirectory, at),
      containerFs: image?.layers ? await reported(image.layers) : imageFs,
    };
  }

  async #pod(
    pod: Pod,
    all: readonly ContainerStats[],
    reading: Reading,
  ): Promise<object> {
    const { onlyCpuAndMemory, swap, containerFs, rootFs } = reading;
    const { namespace = "", name: podName } = pod.metadata;
    const figures = reading.figures.get(`${namespace}/${podName}`) ?? [];
    const statuses = [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
    ];
    const describe = async (container: ContainerStats) => {
      const at = time(container.timestampMs);
      const name = container.labels[containerNameLabel] ?? container.name;
      const startTime = statuses.find((status) => status.name === name)?.state
        ?.running?.startedAt;
      return {
        name,
        ...(startTime ? { startTime } : {}),
        cpu: this.#cpu(container),
        memory: memory(container, hasMemoryLimit(pod, name)),
        swap: cgroupSwap(
          swap,
          figures.find((each) => each.container === name),
          at,
        ),
        ...(onlyCpuAndMemory
          ? {}
          : {
              logs: usageOn(rootFs, at, await this.#options.logs(pod, name)),
            }),
        ...(onlyCpuAndMemory || !container.writableLayer
          ? {}
          : {
              rootfs: usageOn(containerFs, at, {
                bytes: container.writableLayer.usedBytes,
                inodes: container.writableLayer.inodesUsed,
              }),
            }),
      };
    };
    const latest = runningInstances(all);
    const containers = await Promise.all(latest.map(describe));
    const at = time(Math.max(...latest.map(({ timestampMs }) => timestampMs)));
    const { uid = "" } = pod.metadata;
    const whole = figures.find((each) => each.container === "" && !each.image);
    const usage = await this.#options.podUsage(pod);
    const { cpuNanoseconds } = usage;
    const rate =
      cpuNanoseconds === undefined
        ? undefined
        : this.#rate(podKey(uid), cpuNanoseconds, this.#options.clock.now());
    const details = onlyCpuAndMemory
      ? {}
      : await this.#details(pod, containers, figures, { at, rootFs });
    return {
      podRef: { name: podName, namespace, uid },
      startTime: pod.status?.startTime ?? null,
      containers,
      ...podTotal(containers, usage, rate, at),
      swap: cgroupSwap(swap, whole, at),
      ...details,
    };
  }

  async #details(
    pod: Pod,
    containers: Parameters<typeof ephemeralUsage>[1],
    figures: readonly ContainerFigures[],
    { at, rootFs }: { at: string; rootFs: FsStats | undefined },
  ): Promise<object> {
    const volume = await this.#options.volumes(pod);
    const { uid = "" } = pod.metadata;
    const files = await agentFilesUsage(this.#options, uid);
    const used = ephemeralUsage(pod, containers, volume, files);
    const sandbox = figures.find(({ interfaces }) => interfaces);
    const ofNetwork = network(sandbox?.interfaces, at);
    const processes = processCount(figures);
    return {
      ...(ofNetwork ? { network: ofNetwork } : {}),
      volume,
      "ephemeral-storage": usageOn(rootFs, at, used),
      ...(processes ? { process_stats: processes } : {}),
    };
  }

  #cpu(stats: ContainerStats): CpuStats {
    const result: CpuStats = { time: time(stats.timestampMs) };
    const nanoseconds = stats.cpuUsageNanoseconds;
    if (nanoseconds === undefined) return result;
    result.usageCoreNanoSeconds = nanoseconds;
    const rate = this.#rate(stats.id, nanoseconds, stats.timestampMs);
    if (rate !== undefined) result.usageNanoCores = rate;
    return result;
  }

  #rate(key: string, nanoseconds: number, atMs: number): number | undefined {
    const before = this.#samples.get(key);
    if (before && atMs - before.atMs < shortestRateMs) return before.nanoCores;
    const nanoCores =
      before && nanoseconds >= before.nanoseconds
        ? Math.round(
            ((nanoseconds - before.nanoseconds) * 1000) / (atMs - before.atMs),
          )
        : undefined;
    this.#samples.set(key, { nanoseconds, atMs, nanoCores });
    return nanoCores;
  }

  async #node({
    onlyCpuAndMemory,
    swap,
    figures,
    rootFs,
    imageFs,
    containerFs,
  }: Reading): Promise<object> {
    const { nodeName, startedAtMs } = this.#options;
    const nowMs = Date.now();
    const at = time(nowMs);
    const [stat, meminfo, vmstat] = await Promise.all([
      readFile("/proc/stat", "utf8"),
      readFile("/proc/meminfo", "utf8"),
      readFile("/proc/vmstat", "utf8"),
    ]);
    const faults = (line: RegExp): number =>
      Number(line.exec(vmstat)?.[1] ?? 0);
    // user nice system idle iowait irq softirq steal
    const ticks = /^cpu +(.*)$/m.exec(stat)![1]!.split(" ").map(Number);
    const busy = ticks
      .slice(0, 8)
      .reduce(
        (sum, value, index) => (index === 3 || index === 4 ? sum : sum + value),
        0,
      );
    const nanoseconds = (busy * 1e9) / ticksPerSecond;
    const rate = this.#rate("", nanoseconds, nowMs);
    const kilobytes = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(meminfo)?.[1] ?? 0) *
      1024;
    const availableBytes = kilobytes("MemAvailable");
    const node = {
      nodeName,
      systemContainers: await systemContainers(
        { ...this.#options.system, startedAtMs },
        (key, nanoseconds, atMs) => this.#rate(key, nanoseconds, atMs),
      ),
      startTime: formatTime(
        Number(/^btime (\d+)$/m.exec(stat)?.[1] ?? 0) * 1000,
      ),
      cpu: {
        time: at,
        ...(rate === undefined ? {} : { usageNanoCores: rate }),
        usageCoreNanoSeconds: nanoseconds,
      },
      memory: {
        time: at,
        availableBytes,
        usageBytes: kilobytes("MemTotal") - kilobytes("MemFree"),
        workingSetBytes: kilobytes("MemTotal") - availableBytes,
        rssBytes: kilobytes("AnonPages"),
        pageFaults: faults(/^pgfault (\d+)$/m),
        majorPageFaults: faults(/^pgmajfault (\d+)$/m),
      },
      swap: nodeSwap(swap, at),
    };
    if (onlyCpuAndMemory) return node;
    const ofNetwork = network(figures.get("/")?.[0]?.interfaces, at);
    return {
      ...node,
      ...(ofNetwork ? { network: ofNetwork } : {}),
      ...(rootFs ? { fs: rootFs } : {}),
      runtime: imageFs ? { imageFs, containerFs } : {},
      rlimit: await processLimits(at),
    };
  }
}

/** Without a limit runtimes report that nothing is available. */
const hasMemoryLimit = ({ spec }: Pod, container: string): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some(
    ({ name, resources }) =>
      name === container && resources?.limits?.["memory"] !== undefined,
  );

function memory(stats: ContainerStats, limited: boolean): MemoryStats {
  const result: MemoryStats = { time: time(stats.timestampMs) };
  const set = (
    key: Exclude<keyof MemoryStats, "time">,
    value: number | undefined,
  ): void => {
    if (value !== undefined) result[key] = value;
  };
  if (limited) set("availableBytes", stats.memoryAvailableBytes);
  set("usageBytes", stats.memoryUsageBytes);
  set("workingSetBytes", stats.memoryWorkingSetBytes);
  set("rssBytes", stats.memoryRssBytes);
  set("pageFaults", stats.pageFaults);
  set("majorPageFaults", stats.majorPageFaults);
  return result;
}

/** As the samples of a pod are called. */
const podKey = (uid: string): string => `pod:${uid}`;

/** Exact: rates are computed of it. */
function time(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
