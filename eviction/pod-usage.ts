// What the eviction manager knows of a pod: its object, whether it may be ended at all, and what it uses.
import type { Pod } from "../api/types/core-v1.ts";

/** Of a file system: bytes, and files and directories. */
export interface DiskUsage {
  bytes: number;
  inodes: number;
}

export interface ContainerUsage {
  name: string;
  memoryBytes: number;
  writableLayer: DiskUsage;
  logs: DiskUsage;
}

export interface PodUsage {
  containers: readonly ContainerUsage[];
  /** emptyDir volumes on the disk, by volume name. */
  emptyDirs: ReadonlyMap<string, DiskUsage>;
  /** Files of the agent's that the containers write: the hosts file, the last messages. */
  agentFiles: DiskUsage;
  processes: number;
  /** Of the whole pod, with what its ended containers left in volumes in memory; absent: that of its containers counts. */
  memoryBytes?: number;
}

/** What of a pod lies on the file system that is short. */
export type DiskShare =
  "all" | "writable layers" | "logs and volumes" | "nothing";

export interface EvictablePod {
  pod: Pod;
  /** Static pods and those of the highest priority classes: never ended. */
  critical: boolean;
  /** What it asked for as a whole: millicores, bytes. */
  requests: ReadonlyMap<string, number>;
}

export const noUsage: PodUsage = {
  containers: [],
  emptyDirs: new Map(),
  agentFiles: { bytes: 0, inodes: 0 },
  processes: 0,
};

export function podMemory(usage: PodUsage): number {
  return (
    usage.memoryBytes ??
    usage.containers.reduce((sum, c) => sum + c.memoryBytes, 0)
  );
}

export function containerStorage(
  usage: ContainerUsage,
  unit: keyof DiskUsage = "bytes",
  share: Exclude<DiskShare, "nothing"> = "all",
): number {
  return (
    (share === "logs and volumes" ? 0 : usage.writableLayer[unit]) +
    (share === "writable layers" ? 0 : usage.logs[unit])
  );
}

export function podStorage(
  usage: PodUsage,
  unit: keyof DiskUsage = "bytes",
  share: DiskShare = "all",
): number {
  if (share === "nothing") return 0;
  let sum = 0;
  for (const container of usage.containers)
    sum += containerStorage(container, unit, share);
  if (share === "writable layers") return sum;
  for (const volume of usage.emptyDirs.values()) sum += volume[unit];
  return sum + usage.agentFiles[unit];
}
