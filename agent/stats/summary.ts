// The stats.Summary of /stats/summary: what the node and each pod's containers use, from the runtime and from /proc.
// CPU rates are the difference to the sample before; the first one has none.
import { readFile, statfs } from "node:fs/promises";
import type { Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { ContainerStats } from "../../cri/usage.ts";
import { within } from "../../cri/deadline.ts";
import { containerNameLabel, podUidLabel } from "../pods/shape/labels.ts";
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
  volumes: (pod: Pod) => Promise<readonly object[]>;
  startedAtMs: number;
  system: Pick<SystemContainersOptions, "mount" | "cgroups">;
  clock: Clock;
}

interface CpuStats {
  time: string;
  usageNanoCores?: number;
  usageCoreNanoSeconds?: number;
}

interface MemoryStats {
  time: string;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
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
      if (uid === undefined) continue;
      const list = byPod.get(uid);
      if (list) list.push(stats);
      else byPod.set(uid, [stats]);
    }
    const known = new Set(all.map(({ id }) => id));
    for (const id of this.#samples.keys())
      if (id !== "" && !id.startsWith("system:") && !known.has(id))
        this.#samples.delete(id);
    return {
      node: await this.#node(onlyCpuAndMemory),
      pods: await Promise.all(
        pods()
          .filter(({ metadata }) => byPod.has(metadata.uid ?? ""))
          .map(async (pod) => {
            const stats = byPod.get(pod.metadata.uid ?? "")!;
            const described = this.#pod(pod, stats, onlyCpuAndMemory);
            return onlyCpuAndMemory
              ? described
              : { ...described, volume: await this.#options.volumes(pod) };
          }),
      ),
    };
  }

  #pod(
    pod: Pod,
    stats: readonly ContainerStats[],
    onlyCpuAndMemory: boolean,
  ): object {
    const statuses = [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
    ];
    const containers = stats.map((container) => {
      const name = container.labels[containerNameLabel] ?? container.name;
      const startTime = statuses.find((status) => status.name === name)?.state
        ?.running?.startedAt;
      return {
        name,
        ...(startTime ? { startTime } : {}),
        cpu: this.#cpu(container),
        memory: memory(container),
        ...(onlyCpuAndMemory || !container.writableLayer
          ? {}
          : {
              rootfs: {
                time: time(container.timestampMs),
                usedBytes: container.writableLayer.usedBytes,
                inodesUsed: container.writableLayer.inodesUsed,
              },
            }),
      };
    });
    const at = time(Math.max(...stats.map(({ timestampMs }) => timestampMs)));
    const sum = (values: readonly (number | undefined)[]): number =>
      values.reduce<number>((total, value) => total + (value ?? 0), 0);
    const { name, namespace, uid } = pod.metadata;
    return {
      podRef: { name, namespace, uid },
      startTime: pod.status?.startTime ?? null,
      containers,
      cpu: {
        time: at,
        usageNanoCores: sum(containers.map(({ cpu }) => cpu.usageNanoCores)),
        usageCoreNanoSeconds: sum(
          containers.map(({ cpu }) => cpu.usageCoreNanoSeconds),
        ),
      },
      memory: {
        time: at,
        usageBytes: sum(
          containers.map((container) => container.memory.usageBytes),
        ),
        workingSetBytes: sum(
          containers.map((container) => container.memory.workingSetBytes),
        ),
        rssBytes: sum(containers.map((container) => container.memory.rssBytes)),
        pageFaults: sum(
          containers.map((container) => container.memory.pageFaults),
        ),
        majorPageFaults: sum(
          containers.map((container) => container.memory.majorPageFaults),
        ),
      },
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

  async #node(onlyCpuAndMemory: boolean): Promise<object> {
    const { nodeName, rootDirectory, startedAtMs, runtime, clock } =
      this.#options;
    const nowMs = Date.now();
    const at = time(nowMs);
    const [stat, meminfo] = await Promise.all([
      readFile("/proc/stat", "utf8"),
      readFile("/proc/meminfo", "utf8"),
    ]);
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
      startTime: time(startedAtMs),
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
      },
    };
    if (onlyCpuAndMemory) return node;
    const [image] = await within(
      clock,
      patienceMs,
      runtime.imageFsInfo(),
    ).catch(() => []);
    const fs = await filesystem(rootDirectory, at);
    const imageFs = image
      ? {
          ...(await filesystem(image.mountpoint, at)),
          usedBytes: image.usedBytes,
          inodesUsed: image.inodesUsed,
        }
      : undefined;
    return {
      ...node,
      ...(fs ? { fs } : {}),
      runtime: imageFs ? { imageFs } : {},
      rlimit: await processes(at),
    };
  }
}

function memory(stats: ContainerStats): MemoryStats {
  const result: MemoryStats = { time: time(stats.timestampMs) };
  const set = (
    key: Exclude<keyof MemoryStats, "time">,
    value: number | undefined,
  ): void => {
    if (value !== undefined) result[key] = value;
  };
  set("availableBytes", stats.memoryAvailableBytes);
  set("usageBytes", stats.memoryUsageBytes);
  set("workingSetBytes", stats.memoryWorkingSetBytes);
  set("rssBytes", stats.memoryRssBytes);
  set("pageFaults", stats.pageFaults);
  set("majorPageFaults", stats.majorPageFaults);
  return result;
}

async function filesystem(
  path: string,
  at: string,
): Promise<object | undefined> {
  const found = await statfs(path).catch(() => undefined);
  if (!found) return undefined;
  return {
    time: at,
    availableBytes: found.bavail * found.bsize,
    capacityBytes: found.blocks * found.bsize,
    usedBytes: (found.blocks - found.bfree) * found.bsize,
    inodesFree: found.ffree,
    inodes: found.files,
    inodesUsed: found.files - found.ffree,
  };
}

async function processes(at: string): Promise<object> {
  const [limit, load] = await Promise.all([
    readFile("/proc/sys/kernel/pid_max", "utf8"),
    readFile("/proc/loadavg", "utf8"),
  ]);
  return {
    time: at,
    maxpid: Number(limit),
    curproc: Number(/ \d+\/(\d+)/.exec(load)?.[1] ?? 0),
  };
}

function time(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}
