// The metric families of /metrics/cadvisor: cAdvisor's names, types and labels, as dashboards and rules for clusters ask
// for them. Rules distinguish containers from the cgroups around them by a label `image` that is not empty.
import type {
  CgroupAmount,
  ContainerFigures,
  DeviceCounts,
  InterfaceFigures,
  MachineFigures,
} from "../api/contracts.ts";
import type { Family, Labels, MetricType } from "../api/metrics/family.ts";
import { addMachine, addScrape } from "./cadvisor-machine.ts";
import { Families } from "./metric-families.ts";

interface AmountFamily {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly amount: CgroupAmount;
  readonly labels?: Labels;
  /** cAdvisor writes what a container is held to without the time. */
  readonly timeless?: boolean;
}

const counter = (
  name: string,
  amount: CgroupAmount,
  help: string,
  labels?: Labels,
): AmountFamily => ({
  name: `container_${name}`,
  type: "counter",
  help,
  amount,
  ...(labels ? { labels } : {}),
});

const gauge = (
  name: string,
  amount: CgroupAmount,
  help: string,
): AmountFamily => ({ name: `container_${name}`, type: "gauge", help, amount });

const spec = (
  name: string,
  amount: CgroupAmount,
  help: string,
): AmountFamily => ({ ...gauge(`spec_${name}`, amount, help), timeless: true });

const faults = "Cumulative count of page faults, by kind and scope.";

const amounts: readonly AmountFamily[] = [
  counter("cpu_usage_seconds_total", "cpuSeconds", "CPU time used.", {
    cpu: "total",
  }),
  counter("cpu_user_seconds_total", "cpuUserSeconds", "User CPU time used."),
  counter(
    "cpu_system_seconds_total",
    "cpuSystemSeconds",
    "System CPU time used.",
  ),
  counter(
    "cpu_cfs_periods_total",
    "cfsPeriods",
    "Enforced periods of the CPU limit.",
  ),
  counter(
    "cpu_cfs_throttled_periods_total",
    "cfsThrottledPeriods",
    "Periods in which the CPU limit held something up.",
  ),
  counter(
    "cpu_cfs_throttled_seconds_total",
    "cfsThrottledSeconds",
    "How long the CPU limit held something up.",
  ),
  gauge(
    "memory_usage_bytes",
    "memoryUsageBytes",
    "Memory in use, whenever it was last looked at.",
  ),
  gauge(
    "memory_max_usage_bytes",
    "memoryMaxUsageBytes",
    "The most memory that was in use.",
  ),
  gauge(
    "memory_working_set_bytes",
    "memoryWorkingSetBytes",
    "The working set of memory.",
  ),
  gauge(
    "memory_total_active_file_bytes",
    "memoryActiveFileBytes",
    "Pages of files that were used of late.",
  ),
  gauge(
    "memory_total_inactive_file_bytes",
    "memoryInactiveFileBytes",
    "Pages of files that were not, which the working set leaves out.",
  ),
  gauge("memory_rss", "memoryRssBytes", "Resident memory that is no file's."),
  gauge("memory_cache", "memoryCacheBytes", "Memory of the page cache."),
  gauge("memory_swap", "memorySwapBytes", "Swap in use."),
  gauge("memory_mapped_file", "memoryMappedFileBytes", "Memory mapped files."),
  gauge("memory_kernel_usage", "memoryKernelBytes", "Memory of the kernel."),
  counter(
    "memory_failcnt",
    "memoryFailures",
    "How often the limit of memory was hit.",
  ),
  counter("memory_failures_total", "pageFaults", faults, {
    failure_type: "pgfault",
    scope: "container",
  }),
  counter("memory_failures_total", "majorPageFaults", faults, {
    failure_type: "pgmajfault",
    scope: "container",
  }),
  counter("memory_failures_total", "treePageFaults", faults, {
    failure_type: "pgfault",
    scope: "hierarchy",
  }),
  counter("memory_failures_total", "treeMajorPageFaults", faults, {
    failure_type: "pgmajfault",
    scope: "hierarchy",
  }),
  counter(
    "oom_events_total",
    "oomKills",
    "Processes that were killed for lack of memory.",
  ),
  gauge("processes", "processes", "Processes in the container."),
  gauge("threads", "threads", "Threads in the container."),
  gauge("threads_max", "threadsMax", "The most threads; 0: no limit."),
  gauge("file_descriptors", "fileDescriptors", "Open descriptors."),
  gauge("sockets", "sockets", "Open sockets."),
  {
    ...gauge(
      "ulimits_soft",
      "maxOpenFiles",
      "Soft limits of the first process; -1: no limit.",
    ),
    labels: { ulimit: "max_open_files" },
  },
  spec("cpu_shares", "specCpuShares", "The share of CPU."),
  spec("cpu_period", "specCpuPeriod", "The period of the CPU limit."),
  spec("cpu_quota", "specCpuQuota", "The CPU limit in a period."),
  spec(
    "memory_limit_bytes",
    "specMemoryBytes",
    "The limit of memory; 0: none.",
  ),
  spec(
    "memory_reservation_limit_bytes",
    "specMemoryReservationBytes",
    "The soft limit of memory; 0: none.",
  ),
  spec(
    "memory_swap_limit_bytes",
    "specMemorySwapBytes",
    "The limit of memory and swap; 0: none.",
  ),
];

export function cadvisorMetrics(
  all: readonly ContainerFigures[],
  machine: MachineFigures,
): Family[] {
  const families = new Families();
  for (const each of all) {
    const { container, id, image, name, namespace, pod, epochMs } = each;
    const labels = { container, id, image, name, namespace, pod };
    for (const of of amounts) {
      // Without a limit of CPU nothing is enforced, and there is nothing to divide by.
      if (of.name.includes("_cfs_") && each.specCpuQuota === undefined)
        continue;
      families.add(
        of,
        { ...labels, ...of.labels },
        each[of.amount],
        of.timeless ? undefined : epochMs,
      );
    }
    if (container !== "") addLoad(families, labels, each);
    addDisks(families, labels, each);
    for (const device of each.interfaces ?? [])
      addInterface(
        families,
        { ...labels, interface: device.name },
        device,
        each,
      );
    const { startedAtMs } = each;
    families.add(
      gauge("start_time_seconds", "cpuSeconds", "When it started."),
      labels,
      startedAtMs && Math.floor(startedAtMs / 1000),
    );
    families.add(
      gauge("last_seen", "cpuSeconds", "When it was last seen."),
      labels,
      Math.floor(epochMs / 1000),
      epochMs,
    );
  }
  addMachine(families, machine);
  addScrape(families, machine);
  return families.list();
}

const taskStates = [
  "sleeping",
  "running",
  "stopped",
  "uninterruptible",
  "iowaiting",
];

/** Always 0, as at the reference, whose cAdvisor runs without its reader of loads: rules that add them up find them. */
function addLoad(
  families: Families,
  labels: Labels,
  { epochMs }: ContainerFigures,
): void {
  const add = (name: string, help: string, more: Labels): void =>
    families.add(
      { name: `container_${name}`, type: "gauge", help },
      { ...labels, ...more },
      0,
      epochMs,
    );
  add("cpu_load_average_10s", "The load of the last 10 s: not measured.", {});
  add("cpu_load_d_average_10s", "That of what waits: not measured.", {});
  for (const state of taskStates)
    add("tasks_state", "Tasks by state: not measured.", { state });
}

/** Of the device that holds the node's file system. */
const deviceFamilies: readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  of: keyof DeviceCounts,
][] = [
  ["reads_total", "counter", "Reads.", "reads"],
  ["sector_reads_total", "counter", "Sectors read.", "sectorsRead"],
  ["reads_merged_total", "counter", "Reads that were merged.", "readsMerged"],
  ["read_seconds_total", "counter", "Time of reads.", "readSeconds"],
  ["writes_total", "counter", "Writes.", "writes"],
  ["sector_writes_total", "counter", "Sectors written.", "sectorsWritten"],
  [
    "writes_merged_total",
    "counter",
    "Writes that were merged.",
    "writesMerged",
  ],
  ["write_seconds_total", "counter", "Time of writes.", "writeSeconds"],
  ["io_current", "gauge", "Reads and writes under way.", "inProgress"],
  ["io_time_seconds_total", "counter", "Time with any under way.", "ioSeconds"],
  [
    "io_time_weighted_seconds_total",
    "counter",
    "That time by how many were under way.",
    "weightedIoSeconds",
  ],
];

function addDisks(
  families: Families,
  labels: Labels,
  { disks = [], filesystems = [], epochMs }: ContainerFigures,
): void {
  const add = (
    type: "counter" | "gauge",
    name: string,
    help: string,
    device: string,
    value: number,
  ): void =>
    families.add(
      { name: `container_fs_${name}`, type, help },
      { ...labels, device },
      value,
      epochMs,
    );
  for (const disk of disks) {
    const { device } = disk;
    const [major = "", minor = ""] = disk.numbers.split(":");
    for (const [operation, bytes] of [
      ["Read", disk.readBytes],
      ["Write", disk.writeBytes],
    ] as const)
      families.add(
        {
          name: "container_blkio_device_usage_total",
          type: "counter",
          help: "Bytes read from and written to devices.",
        },
        { ...labels, device, major, minor, operation },
        bytes,
        epochMs,
      );
    add("counter", "reads_total", "Reads.", device, disk.readOperations);
    add("counter", "writes_total", "Writes.", device, disk.writeOperations);
    add("counter", "reads_bytes_total", "Bytes read.", device, disk.readBytes);
    add(
      "counter",
      "writes_bytes_total",
      "Bytes written.",
      device,
      disk.writeBytes,
    );
  }
  for (const { device, counts, ...space } of filesystems) {
    const hasCgroupFigures = disks.some((disk) => disk.device === device);
    for (const [name, type, help, of] of deviceFamilies)
      if (counts && !(hasCgroupFigures && /^(reads|writes)_total$/.test(name)))
        add(type, name, help, device, counts[of]);
    add("gauge", "limit_bytes", "Size.", device, space.limitBytes);
    add("gauge", "usage_bytes", "Bytes in use.", device, space.usageBytes);
    add("gauge", "inodes_total", "Inodes.", device, space.inodes);
    add("gauge", "inodes_free", "Free inodes.", device, space.inodesFree);
  }
}

const directions = [
  ["receive", "rx"],
  ["transmit", "tx"],
] as const;
const kinds = [
  ["bytes", "Bytes"],
  ["packets", "Packets"],
  ["errors", "Errors"],
  ["packets_dropped", "Dropped"],
] as const;

function addInterface(
  families: Families,
  labels: Labels,
  device: InterfaceFigures,
  { epochMs }: ContainerFigures,
): void {
  for (const [kind, of] of kinds)
    for (const [direction, way] of directions)
      families.add(
        {
          name: `container_network_${direction}_${kind}_total`,
          type: "counter",
          help: `Cumulative count of ${kind.replace("_", " ")} in the direction ${direction}.`,
        },
        labels,
        device[`${way}${of}`],
        epochMs,
      );
}
