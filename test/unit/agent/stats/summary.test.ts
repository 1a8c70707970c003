// The stats summary beside processor and memory: networks, swap, processes, logs and what pods take of the node's disk.
import * as fs from "node:fs";
import { uptime } from "node:os";
import * as path from "node:path";
import type { ContainerFigures } from "../../../../api/contracts.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import {
  cgroupSwap,
  ephemeralUsage,
  network,
  nodeSwap,
  processCount,
  usageOn,
} from "../../../../agent/stats/summary-parts.ts";
import type { CgroupUsage } from "../../../../agent/cgroups/cgroup-driver.ts";
import { StatsSummary } from "../../../../agent/stats/summary.ts";
import type { Runtime } from "../../../../cri/runtime.ts";
import type { ImageFilesystem } from "../../../../cri/usage.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const time = "2026-01-01T00:00:00Z";
const oneInterface = (name: string, rxBytes: number) => ({
  ...{ name, rxBytes, rxPackets: 1, rxErrors: 2, rxDropped: 3 },
  ...{ txBytes: 4, txPackets: 5, txErrors: 6, txDropped: 7 },
});
const figuresOf = (more: Partial<ContainerFigures>): ContainerFigures => ({
  ...{ id: "/x", name: "", image: "", container: "", pod: "p" },
  ...{ namespace: "a", epochMs: 0 },
  ...more,
});

test("the figures of eth0 are those of the whole", () => {
  const interfaces = [oneInterface("eth0", 7)];
  expect(network(interfaces, time)).toEqual({
    time,
    ...{ name: "eth0", rxBytes: 7, rxErrors: 2, txBytes: 4, txErrors: 6 },
    interfaces: [
      { name: "eth0", rxBytes: 7, rxErrors: 2, txBytes: 4, txErrors: 6 },
    ],
  });
  expect(network([oneInterface("net1", 1)], time)).toMatchObject({
    name: "",
    interfaces: [{ name: "net1" }],
  });
  expect(network(undefined, time)).toBeUndefined();
});

test("without swap on the machine none is in use; with it a cgroup says, or it is not known", () => {
  const none = { total: 0, free: 0 };
  const some = { total: 100, free: 60 };
  expect(nodeSwap(some, time)).toEqual({
    ...{ time, swapAvailableBytes: 60, swapUsageBytes: 40 },
  });
  expect(cgroupSwap(none, undefined, time)).toEqual({
    ...{ time, swapAvailableBytes: 0, swapUsageBytes: 0 },
  });
  expect(cgroupSwap(some, undefined, time)).toEqual({ time });
  const swapOf = (memorySwapBytes: number, swapLimitBytes?: number) =>
    cgroupSwap(some, figuresOf({ memorySwapBytes, swapLimitBytes }), time);
  expect(swapOf(10, 30)).toEqual({
    ...{ time, swapAvailableBytes: 20, swapUsageBytes: 10 },
  });
  expect(swapOf(0, 0)).toEqual({
    ...{ time, swapAvailableBytes: 0, swapUsageBytes: 0 },
  });
  expect(swapOf(10)).toEqual({ time, swapUsageBytes: 10 });
});

test("a pod takes of the disk by its layers, logs and some volumes", () => {
  const pod: Pod = {
    metadata: { name: "p" },
    spec: {
      containers: [],
      volumes: [
        { name: "disk", emptyDir: {} },
        { name: "memory", emptyDir: { medium: "Memory" } },
        { name: "host", hostPath: { path: "/" } },
      ],
    },
  };
  const part = (usedBytes: number) => ({ time, usedBytes, inodesUsed: 1 });
  const volumes = ["disk", "memory", "host"].map((name) => ({
    ...{ name, usedBytes: 1000, inodesUsed: 10 },
  }));
  const used = ephemeralUsage(
    pod,
    [{ rootfs: part(1), logs: part(2) }],
    volumes,
    { bytes: 4096, inodes: 1 },
  );
  expect(used).toEqual({ bytes: 5099, inodes: 13 });
  expect(
    usageOn({ time: "", capacityBytes: 9, usedBytes: 8 }, time, used),
  ).toEqual({ time, capacityBytes: 9, usedBytes: 5099, inodesUsed: 13 });
});

test("processes are those of containers", () => {
  expect(processCount([])).toBeUndefined();
  expect(
    processCount([
      figuresOf({ processes: 9 }),
      figuresOf({ container: "c", processes: 2 }),
      figuresOf({ container: "d", processes: 1 }),
    ]),
  ).toEqual({ process_count: 3 });
});

describe("a whole summary", () => {
  const container = (name: string, limits: Record<string, string>) => ({
    ...{ name, resources: { limits } },
  });
  const pod: Pod = {
    metadata: { name: "p", namespace: "a", uid: "u" },
    spec: {
      containers: [container("c", {}), container("d", { memory: "1Mi" })],
    },
  };
  const stats = (name: string) => ({
    ...{ id: name, name, timestampMs: 1234, memoryAvailableBytes: 0 },
    labels: {
      "io.kubernetes.pod.uid": "u",
      "io.kubernetes.container.name": name,
    },
    writableLayer: { mountpoint: "/", usedBytes: 3, inodesUsed: 1 },
  });
  /** As containerd goes on listing it. */
  const ended = (name: string, uid: string) => ({
    ...{ id: `${uid}/${name}`, name, timestampMs: 0 },
    labels: {
      "io.kubernetes.pod.uid": uid,
      "io.kubernetes.container.name": name,
    },
  });
  let root = "";
  let hostsBytes = 0;
  let messageBytes = 0;
  beforeAll(() => {
    root = directories();
    const files = path.join(root, "pods/u");
    const messages = path.join(files, "containers/c");
    fs.mkdirSync(messages, { recursive: true });
    for (const [name, size] of [
      [path.join(files, "etc-hosts"), 100_000],
      [path.join(messages, "0"), 5000],
    ] as const) {
      // Through to the disk: then its blocks are counted for good.
      const file = fs.openSync(name, "wx");
      fs.writeSync(file, Buffer.alloc(size, 1));
      fs.fsyncSync(file);
      fs.closeSync(file);
    }
    const bytes = (...names: string[]): number =>
      names.reduce(
        (sum, name) => sum + fs.statSync(path.join(files, name)).blocks * 512,
        0,
      );
    hostsBytes = bytes("etc-hosts");
    messageBytes = bytes("containers/c", "containers/c/0");
  });
  const asked = { figures: 0 };
  const clock = new FakeClock();
  const usage: CgroupUsage = { memoryLimitBytes: 1000 };
  let imageFs: ImageFilesystem = {
    mountpoint: "/",
    usedBytes: 5,
    inodesUsed: 2,
  };
  const summary = new StatsSummary({
    runtime: {
      containerStats: () =>
        Promise.resolve([
          stats("c"),
          stats("d"),
          ended("i", "u"),
          ended("c", "x"),
        ]),
      imageFsInfo: () => Promise.resolve([imageFs]),
    } as unknown as Runtime,
    nodeName: "n",
    get rootDirectory() {
      return root;
    },
    pods: () => [pod, { ...pod, metadata: { ...pod.metadata, uid: "x" } }],
    volumes: () => Promise.resolve([]),
    podUsage: () => Promise.resolve({ ...usage }),
    figures: () => {
      asked.figures++;
      return Promise.resolve([
        figuresOf({ id: "/", pod: "", namespace: "" }),
        figuresOf({ specMemoryBytes: 1000 }),
        figuresOf({ image: "pause", interfaces: [oneInterface("eth0", 7)] }),
      ]);
    },
    logs: () => Promise.resolve({ bytes: 4, inodes: 1 }),
    startedAtMs: 0,
    system: {
      mount: "/nowhere",
      cgroups: { kubelet: "/x", runtime: "", misc: "", pods: "" },
    },
    clock,
  });

  test("in full", async () => {
    const stat = fs.readFileSync("/proc/stat", "utf8");
    const bootedAt = new Date(Number(/btime (\d+)/.exec(stat)![1]) * 1000);
    const mostProcesses = Math.min(
      ...["pid_max", "threads-max"].map((name) =>
        Number(fs.readFileSync(`/proc/sys/kernel/${name}`, "utf8")),
      ),
    );
    const found = await summary.summary(false);
    expect(found).toMatchObject({
      node: {
        swap: { time: expect.any(String) as unknown },
        fs: { capacityBytes: expect.any(Number) as unknown },
        startTime: `${bootedAt.toISOString().slice(0, 19)}Z`,
        memory: {
          pageFaults: expect.any(Number) as unknown,
          majorPageFaults: expect.any(Number) as unknown,
        },
        rlimit: { maxpid: mostProcesses },
        runtime: { imageFs: { usedBytes: 5 }, containerFs: { usedBytes: 5 } },
      },
      pods: [
        {
          containers: [
            { rootfs: { usedBytes: 3 }, logs: { usedBytes: 4 }, swap: {} },
            { memory: { availableBytes: 0 } },
          ],
          memory: { availableBytes: 1000 },
          network: { name: "eth0", rxBytes: 7 },
          // Its /etc/hosts and a termination message count too.
          "ephemeral-storage": {
            usedBytes: 14 + hostsBytes + messageBytes,
            inodesUsed: 4 + 1 + 2,
          },
          volume: [],
          swap: {},
        },
      ],
    });
    // The machine's start, which no start of this program changes.
    const started = Date.parse(
      (found as { node: { startTime: string } }).node.startTime,
    );
    expect(Math.abs(Date.now() - uptime() * 1000 - started)).toBeLessThan(5000);
    const [{ containers }] = (
      found as { pods: [{ containers: { memory: object }[] }] }
    ).pods;
    // The runtime's 0 of a container without a limit is no amount.
    expect(containers[0]!.memory).not.toHaveProperty("availableBytes");
  });

  test("layers on a file system of their own have its figures", async () => {
    const together = imageFs;
    imageFs = {
      ...together,
      layers: { mountpoint: "/proc", usedBytes: 9, inodesUsed: 1 },
    };
    const found = await summary.summary(false);
    imageFs = together;
    expect(found).toMatchObject({
      node: {
        runtime: {
          imageFs: { usedBytes: 5 },
          containerFs: { usedBytes: 9, capacityBytes: 0 },
        },
      },
      pods: [{ containers: [{ rootfs: { capacityBytes: 0 } }, {}] }],
    });
  });

  test("of processor and memory alone, no disk and no network is read", async () => {
    const before = asked.figures;
    const { pods, node } = (await summary.summary(true)) as {
      pods: object[];
      node: object;
    };
    for (const key of ["network", "ephemeral-storage", "volume"])
      expect(pods[0]).not.toHaveProperty(key);
    expect(node).not.toHaveProperty("fs");
    expect(pods[0]).toHaveProperty("swap");
    // Rates are computed of it: not in whole seconds.
    expect(pods[0]).toHaveProperty(
      "containers.0.cpu.time",
      "1970-01-01T00:00:01.234Z",
    );
    expect(asked.figures - before).toBeLessThanOrEqual(1);
  });

  test("a pod's processor and memory are those of its cgroup, where there is one", async () => {
    Object.assign(usage, { cpuNanoseconds: 5e9, workingSetBytes: 700 });
    await summary.summary(true);
    clock.advance(2000);
    usage.cpuNanoseconds = 6e9;
    const { pods } = (await summary.summary(true)) as { pods: object[] };
    // Its containers have used nothing.
    expect(pods).toMatchObject([
      {
        cpu: { usageCoreNanoSeconds: 6e9, usageNanoCores: 5e8 },
        memory: { workingSetBytes: 700, availableBytes: 300 },
      },
    ]);
  });
});
