// What containers and file systems use, as runtimes report it.

export interface FilesystemUsage {
  mountpoint: string;
  usedBytes: number;
  inodesUsed: number;
}

export interface ContainerStats {
  id: string;
  name: string;
  labels: Record<string, string>;
  timestampMs: number;
  cpuUsageNanoseconds?: number;
  memoryWorkingSetBytes?: number;
  memoryUsageBytes?: number;
  memoryRssBytes?: number;
  memoryAvailableBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  writableLayer?: FilesystemUsage;
}
