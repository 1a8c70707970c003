// The figures of containers out of cgroups of either version and of the table of interfaces, as kernels write them.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readCgroupFigures } from "../../../../agent/stats/containers/cgroup-figures.ts";
import { containerFigures } from "../../../../agent/stats/containers/container-figures.ts";
import {
  deviceCounts,
  deviceOf,
  interfacesOf,
  machineInterfaces,
  parseInterfaces,
} from "../../../../agent/stats/containers/devices.ts";
import type { ContainerFigures } from "../../../../api/contracts.ts";
import { systemClock } from "../../../../api/clock.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type { RuntimePod } from "../../../../agent/pods/runtime/runtime-pods.ts";

let mount: string;

beforeEach(async () => {
  mount = await mkdtemp(join(tmpdir(), "figures-"));
});

afterEach(async () => {
  await rm(mount, { recursive: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(mount, name)), { recursive: true });
    await writeFile(join(mount, name), content);
  }
}

const version1 = (path: string): Record<string, string> => ({
  [`cpuacct${path}/cpuacct.usage`]: "2500000000\n",
  [`cpuacct${path}/cpuacct.stat`]: "user 120\nsystem 30\n",
  [`cpu${path}/cpu.stat`]:
    "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\nnr_bursts 0\n",
  [`cpu${path}/cpu.cfs_quota_us`]: "-1\n",
  [`cpu${path}/cpu.cfs_period_us`]: "100000\n",
  [`memory${path}/memory.usage_in_bytes`]: "1000\n",
  [`memory${path}/memory.limit_in_bytes`]: "9223372036854771712\n",
  [`memory${path}/memory.memsw.limit_in_bytes`]: "4096\n",
  [`memory${path}/memory.stat`]:
    "cache 1\npgfault 7\ntotal_cache 300\ntotal_rss 200\ntotal_inactive_file 100\ntotal_pgfault 9\n",
  [`memory${path}/memory.oom_control`]:
    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
  [`memory${path}/cgroup.procs`]: "11\n12\n",
  [`pids${path}/pids.max`]: "max\n",
  [`blkio${path}/blkio.throttle.io_service_bytes_recursive`]:
    "999:0 Read 4096\n999:0 Write 8192\n999:0 Total 12288\nTotal 12288\n",
  [`blkio${path}/blkio.throttle.io_serviced_recursive`]:
    "999:0 Read 1\n999:0 Write 2\n",
});

test("a cgroup of version 1", async () => {
  await write(version1("/a"));
  expect(await readCgroupFigures(mount, "/a")).toEqual({
    cpuSeconds: 2.5,
    cpuUserSeconds: 1.2,
    cpuSystemSeconds: 0.3,
    cfsPeriods: 10,
    cfsThrottledPeriods: 4,
    cfsThrottledSeconds: 1.5,
    memoryUsageBytes: 1000,
    memoryWorkingSetBytes: 900,
    memoryInactiveFileBytes: 100,
    memoryRssBytes: 200,
    memoryCacheBytes: 300,
    pageFaults: 7,
    treePageFaults: 9,
    oomKills: 3,
    threadsMax: 0,
    processes: 2,
    specCpuPeriod: 100_000,
    specMemoryBytes: 0,
    specMemorySwapBytes: 4096,
    swapLimitBytes: 4096,
    disks: [
      {
        device: "999:0",
        numbers: "999:0",
        readBytes: 4096,
        writeBytes: 8192,
        readOperations: 1,
        writeOperations: 2,
      },
    ],
  });
});

test("on version 1 what the scheduler counted goes before what throttling did; nothing counted is nothing", async () => {
  await write({
    ...version1("/bfq"),
    "blkio/bfq/blkio.bfq.io_service_bytes_recursive":
      "999:0 Read 10\n999:0 Write 20\n999:0 Total 30\nTotal 30\n",
    "blkio/bfq/blkio.bfq.io_serviced_recursive":
      "999:0 Read 3\n999:0 Write 4\nTotal 7\n",
    ...version1("/none-of-bfq"),
    "blkio/none-of-bfq/blkio.bfq.io_service_bytes_recursive": "Total 0\n",
    ...version1("/idle"),
    "blkio/idle/blkio.throttle.io_service_bytes_recursive": "Total 0\n",
    "blkio/idle/blkio.throttle.io_serviced_recursive": "Total 0\n",
  });
  const bytes = async (path: string) =>
    (await readCgroupFigures(mount, path))?.disks.map((disk) => [
      disk.readBytes,
      disk.writeBytes,
      disk.readOperations,
      disk.writeOperations,
    ]);
  expect(await bytes("/bfq")).toEqual([[10, 20, 3, 4]]);
  expect(await bytes("/none-of-bfq")).toEqual([[4096, 8192, 1, 2]]);
  expect(await bytes("/idle")).toEqual([]);
});

test("what the kernel counted of a device", () => {
  const table =
    "   7       0 loop0 1 2 3\n 254       0 vda 10 11 12 1300 20 21 22 2300 1 3000 4500 0 0 0 0\n 254       1 vda1 0 0 0 0 0 0 0 0 0 0 0\n";
  expect(deviceCounts("/dev/vda", table)).toEqual({
    reads: 10,
    readsMerged: 11,
    sectorsRead: 12,
    readSeconds: 1.3,
    writes: 20,
    writesMerged: 21,
    sectorsWritten: 22,
    writeSeconds: 2.3,
    inProgress: 1,
    ioSeconds: 3,
    weightedIoSeconds: 4.5,
  });
  expect(deviceCounts("/dev/loop0", table)).toBeUndefined();
  expect(deviceCounts("", table)).toBeUndefined();
});

test("a cgroup of version 2", async () => {
  await write({
    "b/cpu.stat":
      "usage_usec 2500000\nuser_usec 1200000\nsystem_usec 300000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
    "b/cpu.max": "50000 100000\n",
    "b/cpu.weight": "1\n",
    "b/memory.current": "1000\n",
    "b/memory.max": "max\n",
    "b/memory.min": "512\n",
    "b/memory.low": "7\n",
    "b/memory.swap.max": "max\n",
    "b/memory.stat":
      "anon 200\nfile 300\ninactive_file 100\nactive_file 50\npgfault 7\npgmajfault 1\n",
    "b/memory.events": "low 0\nhigh 0\nmax 5\noom 1\noom_kill 3\n",
    "b/io.stat":
      "998:0 \n999:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n",
    "b/cgroup.procs": "",
  });
  expect(await readCgroupFigures(mount, "/b")).toEqual({
    cpuSeconds: 2.5,
    cpuUserSeconds: 1.2,
    cpuSystemSeconds: 0.3,
    cfsPeriods: 10,
    cfsThrottledPeriods: 4,
    cfsThrottledSeconds: 1.5,
    memoryUsageBytes: 1000,
    memoryWorkingSetBytes: 900,
    memoryActiveFileBytes: 50,
    memoryInactiveFileBytes: 100,
    memoryRssBytes: 200,
    memoryCacheBytes: 300,
    // No file of swap, and no process of its own.
    memorySwapBytes: 0,
    processes: 0,
    memoryFailures: 5,
    pageFaults: 7,
    majorPageFaults: 1,
    treePageFaults: 7,
    treeMajorPageFaults: 1,
    oomKills: 3,
    specCpuShares: 2,
    specCpuPeriod: 100_000,
    specCpuQuota: 50_000,
    specMemoryBytes: 0,
    specMemoryReservationBytes: 512,
    specMemorySwapBytes: 0,
    disks: [
      {
        device: "999:0",
        numbers: "999:0",
        readBytes: 4096,
        writeBytes: 8192,
        readOperations: 1,
        writeOperations: 2,
      },
    ],
  });
});

test("the root of version 2 has no limits, and uses what processes and files take", async () => {
  await write({
    "cpu.stat": "usage_usec 2500000\n",
    "memory.stat": "anon 200\nfile 300\ninactive_file 100\n",
  });
  expect(await readCgroupFigures(mount, "/")).toMatchObject({
    memoryUsageBytes: 500,
    memoryWorkingSetBytes: 400,
  });
  const root = await readCgroupFigures(mount, "/");
  for (const absent of ["specMemoryBytes", "memorySwapBytes"])
    expect(root).not.toHaveProperty(absent);
});

test.each([
  ["0", 0],
  ["4096", 4096],
  ["max", undefined],
])("version 2 with memory.swap.max of %s", async (written, limit) => {
  await write({
    "b/cpu.stat": "usage_usec 2500000\n",
    "b/memory.max": "max\n",
    "b/memory.swap.max": `${written}\n`,
  });
  const figures = await readCgroupFigures(mount, "/b");
  expect(figures).toMatchObject({ specMemorySwapBytes: limit ?? 0 });
  expect(figures?.swapLimitBytes).toBe(limit);
});

test("no cgroup, and files without sense", async () => {
  expect(await readCgroupFigures(mount, "/none")).toBeUndefined();
  await write({
    "cpuacct/c/cpuacct.usage": "5\n",
    "cpuacct/c/cpuacct.stat": "user\nsystem -\n\0",
    "memory/c/memory.usage_in_bytes": "many\n",
    "blkio/c/blkio.throttle.io_serviced_recursive": "1:0 Read\nRead 1:0 3\n",
  });
  expect(await readCgroupFigures(mount, "/c")).toEqual({
    cpuSeconds: 5e-9,
    processes: 0,
    disks: [],
  });
});

test("interfaces", async () => {
  expect(
    parseInterfaces(
      "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop\n" +
        "    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n" +
        "  eth0:125124    1333 1 2 0 0 0 0 134536 1327 3 4 0 0 0 0\n",
    ),
  ).toEqual([
    {
      name: "eth0",
      rxBytes: 125_124,
      rxPackets: 1333,
      rxErrors: 1,
      rxDropped: 2,
      txBytes: 134_536,
      txPackets: 1327,
      txErrors: 3,
      txDropped: 4,
    },
  ]);
  const named = (name: string) =>
    ({ name }) as ReturnType<typeof parseInterfaces>[number];
  // Ends of pods' links are their pods', not the machine's.
  expect(
    machineInterfaces(
      ["eth0", "vethorb1", "docker0", "nerdctl0", "orbit0"].map(named),
    ).map(({ name }) => name),
  ).toEqual(["eth0", "orbit0"]);
  expect(await interfacesOf("self")).toBeDefined();
  expect(await interfacesOf(2 ** 30)).toBeUndefined();
  expect(await deviceOf(join(mount, "none"))).toBe("");
});

test("a pod's cgroup, its sandbox and its containers, by either driver's names", async () => {
  const sandbox = "a".repeat(64);
  const container = "b".repeat(64);
  await write({
    ...version1("/"),
    ...version1("/pods/podu"),
    ...version1(`/pods/podu/${sandbox}`),
    ...version1(`/pods/podu/cri-containerd-${container}.scope`),
    // A cgroup that the runtime has not told of.
    ...version1(`/pods/podu/${"c".repeat(64)}`),
  });
  const figures = await figuresOfPod(sandbox, container);
  expect(
    figures.map(
      ({ id, name, image, container, pod, namespace, cpuSeconds }) => [
        id,
        name,
        image,
        container,
        `${namespace}/${pod}`,
        cpuSeconds,
      ],
    ),
  ).toEqual([
    ["/", "", "", "", "/", 2.5],
    ["/pods/podu", "", "", "", "n/p", 2.5],
    [`/pods/podu/${sandbox}`, sandbox, "orbit.local/pause:1", "", "n/p", 2.5],
    [
      `/pods/podu/cri-containerd-${container}.scope`,
      container,
      "web:1",
      "c",
      "n/p",
      2.5,
    ],
  ]);
  expect(figures[0]!.filesystems?.[0]?.limitBytes).toBeGreaterThan(0);
  expect(figures[3]!.startedAtMs).toBe(2000);
});

test("CRI-O: the network of a sandbox in which nothing runs is its container's, and monitors are none of the container's", async () => {
  const sandbox = "a".repeat(64);
  const container = "b".repeat(64);
  const procs = (child: string): string =>
    `memory/pods/podu/crio-${child}/cgroup.procs`;
  await write({
    ...version1("/pods/podu"),
    ...version1(`/pods/podu/crio-${sandbox}`),
    [procs(sandbox)]: "",
    ...version1(`/pods/podu/crio-${container}`),
    [procs(container)]: `${process.pid}\n`,
    ...version1(`/pods/podu/crio-conmon-${container}`),
    // Of the machine's network: what is read there must not be the pod's.
    [procs(`conmon-${container}`)]: "1\n",
  });
  const figures = (await figuresOfPod(sandbox, container)).slice(1);
  expect(
    figures.map(({ id, interfaces }) => [id, interfaces !== undefined]),
  ).toEqual([
    ["/pods/podu", false],
    [`/pods/podu/crio-${sandbox}`, true],
    [`/pods/podu/crio-${container}`, false],
  ]);
});

/** Of a pod `u` whose cgroup is /pods/podu. */
async function figuresOfPod(
  sandbox: string,
  container: string,
): Promise<ContainerFigures[]> {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "n", uid: "u" },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  const running = {
    uid: "u",
    name: "p",
    namespace: "n",
    sandboxes: [{ id: sandbox, createdAtMs: 1000 }],
    containers: [
      { id: container, name: "c", image: "web:1", startedAtMs: 2000 },
    ],
  } as unknown as RuntimePod;
  return await containerFigures({
    mount,
    rootDirectory: mount,
    pods: () => [pod],
    runtimePods: () => [running],
    cgroups: { podPath: () => "/pods/podu" },
    clock: systemClock,
  });
}
