// What the eviction manager knows of a pod: its object, whether it may be ended at all, and what it uses.
import type { Pod } from "../api/types/core-v1.ts";

export interface ContainerUsage {
  name: string;
  memoryBytes: number;
  /** Writable layer and logs. */
  storageBytes: number;
}

export interface PodUsage {
  containers: readonly ContainerUsage[];
  /** emptyDir volumes on the disk, by volume name. */
  emptyDirBytes: ReadonlyMap<string, number>;
}

export interface EvictablePod {
  pod: Pod;
  /** Static pods and those of the highest priority classes: never ended. */
  critical: boolean;
  /** What it asked for as a whole: millicores, bytes. */
  requests: ReadonlyMap<string, number>;
}

export const noUsage: PodUsage = { containers: [], emptyDirBytes: new Map() };

export function podMemory(usage: PodUsage): number {
  return usage.containers.reduce((sum, c) => sum + c.memoryBytes, 0);
}

export function podStorage(usage: PodUsage): number {
  let bytes = usage.containers.reduce((sum, c) => sum + c.storageBytes, 0);
  for (const used of usage.emptyDirBytes.values()) bytes += used;
  return bytes;
}
