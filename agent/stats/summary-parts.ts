// The parts of the stats summary that are not processor and memory: networks, swap, processes, logs, and what a pod takes of
// the node's file system. Shapes and names are those of stats.Summary; what is not known is left out.
import { readFile } from "node:fs/promises";
import type { ContainerFigures, VolumeStats } from "../../api/contracts.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { DiskUsage } from "../../eviction/pod-usage.ts";
import { mostProcesses } from "../../eviction/process-limit.ts";
import type { VolumeUsage } from "../volumes/volume-plugin.ts";
import { fileSystemUsage } from "../volumes/volume-statistics.ts";

/** The interface whose figures are those of the whole, as at the reference. */
const defaultInterface = "eth0";

export interface FsStats extends Omit<VolumeUsage, "abnormal"> {
  readonly time: string;
}

interface SwapStats {
  readonly time: string;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

/** Of the machine, in bytes. */
export interface MachineSwap {
  readonly total: number;
  readonly free: number;
}

export async function machineSwap(): Promise<MachineSwap> {
  const text = await readFile("/proc/meminfo", "utf8");
  const bytes = (line: RegExp): number =>
    Number(line.exec(text)?.[1] ?? 0) * 1024;
  return {
    total: bytes(/^SwapTotal:\s+(\d+)/m),
    free: bytes(/^SwapFree:\s+(\d+)/m),
  };
}

export const nodeSwap = (
  { total, free }: MachineSwap,
  time: string,
): SwapStats => ({
  time,
  swapAvailableBytes: free,
  swapUsageBytes: total - free,
});

/** @param figures of the cgroup; undefined: not read. Without swap on the machine there is none in use. */
export function cgroupSwap(
  { total }: MachineSwap,
  figures: ContainerFigures | undefined,
  time: string,
): SwapStats {
  if (total === 0) return { time, swapAvailableBytes: 0, swapUsageBytes: 0 };
  const used = figures?.memorySwapBytes;
  const limit = figures?.swapLimitBytes;
  return {
    time,
    ...(used === undefined ? {} : { swapUsageBytes: used }),
    ...(used === undefined || limit === undefined
      ? {}
      : { swapAvailableBytes: Math.max(0, limit - used) }),
  };
}

export function network(
  interfaces: ContainerFigures["interfaces"],
  time: string,
): object | undefined {
  if (!interfaces) return undefined;
  const shown = interfaces.map(
    ({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
      name,
      rxBytes,
      rxErrors,
      txBytes,
      txErrors,
    }),
  );
  const whole = shown.find(({ name }) => name === defaultInterface);
  return { time, ...(whole ?? { name: "" }), interfaces: shown };
}

export async function filesystem(
  path: string,
  time: string,
): Promise<FsStats | undefined> {
  const found = await fileSystemUsage(path).catch(() => undefined);
  return found && { time, ...found };
}

/** What something uses on a file system, whose other figures are those of the whole. */
export function usageOn(
  whole: FsStats | undefined,
  time: string,
  { bytes, inodes }: DiskUsage,
): FsStats {
  const { usedBytes: _, inodesUsed: __, ...room } = whole ?? {};
  return { ...room, time, usedBytes: bytes, inodesUsed: inodes };
}

/** Volumes that take of the node's own file system. */
const isEphemeral = ({
  emptyDir,
  configMap,
  gitRepo,
}: NonNullable<Pod["spec"]["volumes"]>[number]): boolean =>
  (emptyDir !== undefined && !emptyDir.medium) ||
  configMap !== undefined ||
  gitRepo !== undefined;

/** Writable layers, logs, such volumes and the agent's files of a pod together, as eviction counts them. */
export function ephemeralUsage(
  { spec }: Pod,
  containers: readonly { readonly rootfs?: FsStats; readonly logs?: FsStats }[],
  volumes: readonly Pick<VolumeStats, "name" | "usedBytes" | "inodesUsed">[],
  agentFiles: DiskUsage,
): DiskUsage {
  const names = new Set(
    (spec.volumes ?? []).filter(isEphemeral).map(({ name }) => name),
  );
  const parts = [
    ...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]),
    ...volumes.filter(({ name }) => names.has(name)),
  ];
  return parts.reduce<DiskUsage>(
    ({ bytes, inodes }, part) => ({
      bytes: bytes + (part?.usedBytes ?? 0),
      inodes: inodes + (part?.inodesUsed ?? 0),
    }),
    agentFiles,
  );
}

/** Of a pod's containers, as their cgroups have them; undefined: none of them was read. */
export function processCount(
  figures: readonly ContainerFigures[],
): { process_count: number } | undefined {
  const counts = figures.flatMap(({ container, processes }) =>
    container !== "" && processes !== undefined ? [processes] : [],
  );
  return counts.length === 0
    ? undefined
    : { process_count: counts.reduce((sum, each) => sum + each, 0) };
}

/** Rlimit of the machine. */
export async function processLimits(at: string): Promise<object> {
  const load = await readFile("/proc/loadavg", "utf8");
  return {
    time: at,
    maxpid: mostProcesses(),
    curproc: Number(/ \d+\/(\d+)/.exec(load)?.[1] ?? 0),
  };
}
