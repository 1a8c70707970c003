// The disk families of /metrics/cadvisor: of cgroups, and of the device of the node's file system, each sample once.
import { metricsText } from "../../../api/metrics/family.ts";
import { cadvisorMetrics } from "../../../server/cadvisor.ts";

const machine = {
  kernelVersion: "6.1.0",
  osVersion: "Debian",
  bootId: "b",
  machineId: "m",
  systemUuid: "u",
  cores: 2,
  memoryBytes: 1,
} as unknown as Parameters<typeof cadvisorMetrics>[1];

const counts = {
  reads: 10,
  readsMerged: 1,
  sectorsRead: 80,
  readSeconds: 0.5,
  writes: 20,
  writesMerged: 2,
  sectorsWritten: 160,
  writeSeconds: 1.5,
  inProgress: 3,
  ioSeconds: 4.5,
  weightedIoSeconds: 6,
};

function lines(disks: readonly object[]): string[] {
  const root = {
    ...{ id: "/", name: "", image: "", container: "", pod: "", namespace: "" },
    epochMs: 1000,
    disks,
    filesystems: [
      {
        device: "/dev/vda",
        limitBytes: 100,
        usageBytes: 50,
        inodes: 10,
        inodesFree: 5,
        counts,
      },
    ],
  } as unknown as Parameters<typeof cadvisorMetrics>[0][number];
  return metricsText(cadvisorMetrics([root], machine))
    .split("\n")
    .filter((line) => line.startsWith("container_fs_"))
    .map((line) => line.replace(/\{.*\}/, ""))
    .sort();
}

test("the kernel's counts of the device where cgroups have none", () => {
  expect(lines([])).toEqual([
    "container_fs_inodes_free 5 1000",
    "container_fs_inodes_total 10 1000",
    "container_fs_io_current 3 1000",
    "container_fs_io_time_seconds_total 4.5 1000",
    "container_fs_io_time_weighted_seconds_total 6 1000",
    "container_fs_limit_bytes 100 1000",
    "container_fs_read_seconds_total 0.5 1000",
    "container_fs_reads_merged_total 1 1000",
    "container_fs_reads_total 10 1000",
    "container_fs_sector_reads_total 80 1000",
    "container_fs_sector_writes_total 160 1000",
    "container_fs_usage_bytes 50 1000",
    "container_fs_write_seconds_total 1.5 1000",
    "container_fs_writes_merged_total 2 1000",
    "container_fs_writes_total 20 1000",
  ]);
});

test("a cgroup's own figures of the same device are not doubled", () => {
  const own = {
    device: "/dev/vda",
    numbers: "254:0",
    readBytes: 4096,
    writeBytes: 8192,
    readOperations: 1,
    writeOperations: 2,
  };
  const all = lines([own]);
  expect(all.filter((line) => /fs_(reads|writes)_total/.test(line))).toEqual([
    "container_fs_reads_total 1 1000",
    "container_fs_writes_total 2 1000",
  ]);
  expect(all).toContain("container_fs_io_time_seconds_total 4.5 1000");
});
