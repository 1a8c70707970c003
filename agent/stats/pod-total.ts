// Processor and memory of a pod as a whole, as its cgroup has them: with what its ended containers have used, so that
// counters never fall, and with volumes in memory that they filled. Where there is no such cgroup, its containers together.
import type { CgroupUsage } from "../cgroups/cgroup-driver.ts";

export interface CpuStats {
  time: string;
  usageNanoCores?: number;
  usageCoreNanoSeconds?: number;
}

export interface MemoryStats {
  time: string;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
}

interface ContainerTotals {
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
}

/** @param rate nanocores since the pod was read before; undefined: it was not */
export function podTotal(
  containers: readonly ContainerTotals[],
  whole: CgroupUsage,
  rate: number | undefined,
  time: string,
): ContainerTotals {
  const sum = (of: (each: ContainerTotals) => number | undefined): number =>
    containers.reduce((total, each) => total + (of(each) ?? 0), 0);
  const limit = whole.memoryLimitBytes;
  const workingSetBytes =
    whole.workingSetBytes ?? sum(({ memory }) => memory.workingSetBytes);
  return {
    cpu:
      whole.cpuNanoseconds === undefined
        ? {
            time,
            usageNanoCores: sum(({ cpu }) => cpu.usageNanoCores),
            usageCoreNanoSeconds: sum(({ cpu }) => cpu.usageCoreNanoSeconds),
          }
        : {
            time,
            ...(rate === undefined ? {} : { usageNanoCores: rate }),
            usageCoreNanoSeconds: whole.cpuNanoseconds,
          },
    memory: {
      time,
      ...(limit === undefined
        ? {}
        : { availableBytes: Math.max(0, limit - workingSetBytes) }),
      usageBytes: whole.memoryBytes ?? sum(({ memory }) => memory.usageBytes),
      workingSetBytes,
      rssBytes: whole.rssBytes ?? sum(({ memory }) => memory.rssBytes),
      pageFaults: whole.pageFaults ?? sum(({ memory }) => memory.pageFaults),
      majorPageFaults:
        whole.majorPageFaults ?? sum(({ memory }) => memory.majorPageFaults),
    },
  };
}
