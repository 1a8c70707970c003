// What containers and file systems use, and what is being downloaded, as runtimes report it.

export interface FilesystemUsage {
  mountpoint: string;
  usedBytes: number;
  inodesUsed: number;
}

/** Where images lie. */
export interface ImageFilesystem extends FilesystemUsage {
  /** Where containers' writable layers lie when that is elsewhere. */
  layers?: FilesystemUsage;
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

/** A part of an image that is on its way here. */
export interface Download {
  /** Of the part, in the runtime's own form. */
  name: string;
  doneBytes: number;
  /** 0: not known. */
  totalBytes: number;
}
