// What makes cgroups, and what they are held to. Versions 1 and 2 are two drivers of this interface; systemd works on top
// of either.

export interface CgroupLimits {
  cpuShares?: number;
  /** Microseconds a period; undefined: none. */
  cpuQuota?: number;
  cpuPeriod?: number;
  memoryLimitBytes?: number;
  /** Kept from reclaim; version 2 alone has it. */
  memoryMinBytes?: number;
  /** Bytes by the size of the pages, e.g. 2MB. */
  hugepageLimits?: Readonly<Record<string, number>>;
  /** undefined or -1: no limit. */
  maxPids?: number;
}

/** What the processes in a cgroup and below it use. What can't be read is left out. */
export interface CgroupUsage {
  /** Since it was made, also by what has ended in it. */
  cpuNanoseconds?: number;
  memoryBytes?: number;
  /** Memory without what the kernel can drop at once. */
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  /** undefined: none. */
  memoryLimitBytes?: number;
  processes?: number;
}

export interface CgroupDriver {
  readonly version: 1 | 2;
  /** Makes the cgroup in every hierarchy, its parents too; idempotent. */
  create(path: string, limits: CgroupLimits): Promise<void>;
  update(path: string, limits: CgroupLimits): Promise<void>;
  usage(path: string): Promise<CgroupUsage>;
  exists(path: string): Promise<boolean>;
  /** Kills what is left in it and removes it with all below; idempotent. */
  remove(path: string): Promise<void>;
}
