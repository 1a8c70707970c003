// Pods resized in place: what differs of a container, what its status says, what is decided and in which order it is done.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pino from "pino";
import { AllocatedResources } from "../../../agent/pods/resize/allocated-resources.ts";
import {
  readContainerLimits,
  readLimits,
} from "../../../agent/pods/resize/container-cgroup.ts";
import {
  actualResources,
  containerResize,
  reportedResources,
} from "../../../agent/pods/resize/container-resources.ts";
import { PodResizer } from "../../../agent/pods/resize/pod-resizer.ts";
import { cpuWeight } from "../../../agent/cgroups/v2.ts";
import type { Container, Node, Pod } from "../../../api/types/core-v1.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { deleted, stagedPod, workerStage, type Stage } from "./worker-stage.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });

type Amounts = Record<string, string>;
const container = (
  requests: Amounts,
  limits?: Amounts,
  extra: Partial<Container> = {},
): Container => ({
  name: "app",
  image: "i",
  resources: { requests, ...(limits ? { limits } : {}) },
  ...extra,
});

test("what the kernel rounds is no difference", () => {
  const has = actualResources({
    cpuShares: 102,
    cpuQuota: 20_000,
    cpuPeriod: 100_000,
    memoryLimitBytes: 99_999_744,
  });
  expect(
    containerResize(
      container({ cpu: "100m" }, { cpu: "200m", memory: "100M" }),
      has,
    ),
  ).toBeUndefined();
  expect(
    containerResize(
      container({ cpu: "150m" }, { cpu: "200m", memory: "100M" }),
      has,
    ),
  ).toEqual({ cpu: 50, memory: 0, restart: false });
  expect(
    containerResize(
      container({ cpu: "100m" }, { cpu: "200m", memory: "50M" }),
      has,
    )?.memory,
  ).toBeLessThan(0);
  // The least that the kernel can do counts as all below it.
  const least = actualResources({
    cpuShares: 2,
    cpuQuota: 1000,
    cpuPeriod: 100_000,
  });
  expect(
    containerResize(container({ cpu: "1m" }, { cpu: "5m" }), least),
  ).toBeUndefined();
  // Without a limit version 1 of cgroups says a very large number.
  expect(
    actualResources({ memoryLimitBytes: 9_223_372_036_854_771_712 }),
  ).toEqual({});
});

test("only the policy of what changes restarts", () => {
  const has = actualResources({ cpuShares: 102, memoryLimitBytes: 2 ** 26 });
  const withPolicy = (requests: Amounts, limits: Amounts): Container =>
    container(requests, limits, {
      resizePolicy: [
        { resourceName: "cpu", restartPolicy: "NotRequired" },
        { resourceName: "memory", restartPolicy: "RestartContainer" },
      ],
    });
  expect(
    containerResize(withPolicy({ cpu: "200m" }, { memory: "64Mi" }), has)
      ?.restart,
  ).toBe(false);
  expect(
    containerResize(withPolicy({ cpu: "100m" }, { memory: "65Mi" }), has)
      ?.restart,
  ).toBe(true);
});

test("the status says what the container has where that is not what it was given", () => {
  const given = {
    requests: { cpu: "100m", memory: "32Mi" },
    limits: { cpu: "1", memory: "64Mi" },
  };
  expect(reportedResources(given, undefined, undefined)).toEqual(given);
  const has = {
    cpuRequestMillis: 250,
    cpuLimitMillis: 2000,
    memoryLimitBytes: 2 ** 27,
  };
  expect(reportedResources(given, has, undefined)).toEqual({
    requests: { cpu: "250m", memory: "32Mi" },
    limits: { cpu: "2", memory: "128Mi" },
  });
  // What is not reported now stays as it was.
  const before = { limits: { cpu: "3", memory: "1Gi" } };
  expect(reportedResources(given, {}, before).limits).toEqual(before.limits);
});

test("the weights of version 2 stand for all requests that round to them", async () => {
  const mount = directories();
  await mkdir(join(mount, "pod/c"), { recursive: true });
  const put = (file: string, text: string): Promise<void> =>
    writeFile(join(mount, "pod/c", file), text);
  await put("cpu.weight", `${cpuWeight(102)}\n`);
  await put("cpu.max", "max 100000\n");
  await put("memory.max", "max\n");
  const read = await readLimits({ mount }, "pod/c");
  const has = actualResources(read!);
  expect(containerResize(container({ cpu: "100m" }), has)).toBeUndefined();
  expect(containerResize(container({ cpu: "500m" }), has)?.cpu).not.toBe(0);
  await put("cpu.max", "50000 100000\n");
  await put("memory.max", "1048576\n");
  expect(
    actualResources((await readLimits({ mount }, "pod/c"))!),
  ).toMatchObject({ cpuLimitMillis: 500, memoryLimitBytes: 1_048_576 });
  expect(await readLimits({ mount }, "pod/none")).toBeUndefined();
});

test("shares that are read from a weight of version 2 are turned into the same weight", async () => {
  const mount = directories();
  await mkdir(join(mount, "pod/c"), { recursive: true });
  const sharesOf = async (weight: number): Promise<number> => {
    await writeFile(join(mount, "pod/c/cpu.weight"), `${weight}\n`);
    return (await readLimits({ mount }, "pod/c"))!.cpuShares!;
  };
  for (const weight of [1, 2, 4, 20, 39, 100, 5000, 9999, 10_000])
    expect(cpuWeight(await sharesOf(weight))).toBe(weight);
});

test("a container's cgroup is found by its id, and as a scope of systemd", async () => {
  const mount = directories();
  const put = async (name: string, memory: number): Promise<void> => {
    await mkdir(join(mount, "memory/pod", name), { recursive: true });
    await mkdir(join(mount, "cpu/pod", name), { recursive: true });
    const write = (file: string, value: number): Promise<void> =>
      writeFile(join(mount, file), `${value}\n`);
    await write(`cpu/pod/${name}/cpu.shares`, 102);
    await write(`memory/pod/${name}/memory.limit_in_bytes`, memory);
  };
  await put("a", 1_048_576);
  await put("cri-containerd-b.scope", 2_097_152);
  const read = (id: string) => readContainerLimits({ mount }, "pod", id);
  expect(await read("a")).toMatchObject({ memoryLimitBytes: 1_048_576 });
  expect(await read("b")).toMatchObject({ memoryLimitBytes: 2_097_152 });
  expect(await read("c")).toBeUndefined();
});

test("what was given is there after a restart; a damaged file counts as none", async () => {
  const directory = directories();
  const pod = stagedPod({ containers: [container({ cpu: "1" })] });
  const first = new AllocatedResources(directory, logger);
  await first.allocate(pod);
  const file = join(directory, "pods/u/allocated-resources.json");
  const asks = stagedPod({ containers: [container({ cpu: "2" })] });
  const second = new AllocatedResources(directory, logger);
  await second.start();
  expect(second.apply(pod)).toBe(pod);
  expect(second.apply(asks).spec.containers[0]!.resources).toEqual({
    requests: { cpu: "1" },
  });
  for (const damaged of ["{", "[]", '{"app":3}', '{"app":{"requests":1}}']) {
    await writeFile(file, damaged);
    const third = new AllocatedResources(directory, logger);
    await third.start();
    expect(third.apply(asks)).toBe(asks);
  }
  expect((await readFile(file, "utf8")).length).toBeGreaterThan(0);
});

interface Resizing extends Stage {
  readonly events: string[];
  /** Writes to cgroups of pods and updates of containers, in order. */
  readonly writes: string[];
  /** What the pod uses of memory. */
  use(bytes: number): Promise<void>;
  /** What other pods take of the cpu. */
  take(millis: number): void;
}

/** A node of 2 cpus, of which others take some. */
async function resizing(guaranteedRefusal?: string): Promise<Resizing> {
  const directory = directories();
  const events: string[] = [];
  const writes: string[] = [];
  const mount = join(directory, "cgroups");
  let taken = 0;
  for (const controller of ["cpu", "memory"])
    await mkdir(join(mount, controller, "podu"), { recursive: true });
  const put = (file: string, value: number): Promise<void> =>
    writeFile(join(mount, file), String(value));
  await put("cpu/podu/cpu.shares", 102);
  await put("cpu/podu/cpu.cfs_quota_us", 50_000);
  await put("cpu/podu/cpu.cfs_period_us", 100_000);
  await put("memory/podu/memory.limit_in_bytes", 2 ** 26);
  const allocated = new AllocatedResources(directory, logger);
  const node: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node" },
    spec: {},
    status: { allocatable: { cpu: "2", memory: "1Gi" } },
  };
  const on = await workerStage(directory, {
    events: (reason, message) => events.push(`${reason}: ${message}`),
    resize: (parts) =>
      new PodResizer({
        ...parts,
        runtime: {
          ...parts.runtime,
          containerStatus: (id) => parts.runtime.containerStatus(id),
          async updateContainerResources(id, resources) {
            const { cpuShares, cpuQuota, memoryLimitBytes } = resources;
            writes.push(
              `${id.split("-")[0]} ${cpuShares} ${cpuQuota} ${memoryLimitBytes}`,
            );
            await parts.runtime.updateContainerResources(id, resources);
          },
        },
        allocated,
        cgroups: {
          podPath: () => "/podu",
          createPod: () => {
            writes.push("pod as given");
            return Promise.resolve("/podu");
          },
          limit: (_path, limits) => {
            writes.push(`pod ${JSON.stringify(limits)}`);
            return Promise.resolve();
          },
        },
        files: { mount },
        admission: {
          fits: ({ spec }) =>
            Number.parseInt(spec.containers[0]!.resources!.requests!.cpu!, 10) +
              taken >
            2000
              ? { reason: "OutOfcpu", message: "no room" }
              : undefined,
        },
        node: () => node,
        resourceLimits: {
          config: {
            cgroupsPerQos: true,
            cpuCfsQuota: true,
            cpuCfsQuotaPeriodMs: 100,
          },
          machineMemoryBytes: 2 ** 30,
          lowestOomScoreAdj: undefined,
          hugepageSizes: [],
        },
        reportsAllocated: true,
        guaranteedRefusal,
      }),
  });
  return {
    ...on,
    events,
    writes,
    use: (bytes) => put("memory/podu/memory.usage_in_bytes", bytes),
    take(millis) {
      taken = millis;
    },
  };
}

const sized = (
  cpu: string,
  memory: string,
  extra: Partial<Container> = {},
): Pod =>
  stagedPod({
    containers: [container({ cpu, memory }, { cpu: "500m", memory }, extra)],
  });
const first = sized("100m", "64Mi");

async function running(
  pod: Pod,
  guaranteedRefusal?: string,
): Promise<Resizing> {
  const on = await resizing(guaranteedRefusal);
  on.workers.set(pod);
  await on.until("the app runs", () => on.running().length === 1);
  await on.until("it is reported", () =>
    Boolean(on.statuses.get("u")?.containerStatuses?.[0]?.state?.running),
  );
  on.writes.length = 0;
  return on;
}
const report = (on: Stage): unknown => {
  const status = on.statuses.get("u");
  const app = status?.containerStatuses?.[0];
  return [status?.resize, app?.resources?.requests, app?.allocatedResources];
};

test("more of both: the pod's cgroup grows first, then the container, memory before cpu", async () => {
  const on = await running(first);
  expect(report(on)).toEqual([
    undefined,
    { cpu: "100m", memory: "64Mi" },
    { cpu: "100m", memory: "64Mi" },
  ]);
  const more = sized("200m", "128Mi");
  on.workers.set(more);
  await on.until("it has more", () => on.writes.length >= 5);
  await on.until("no resize is under way", () => {
    const [resize, requests] = report(on) as [unknown, Amounts];
    return resize === undefined && requests.cpu === "200m";
  });
  expect(on.writes).toEqual([
    `pod {"memoryLimitBytes":${2 ** 27}}`,
    `app 102 50000 ${2 ** 27}`,
    'pod {"cpuShares":204}',
    `app 204 50000 ${2 ** 27}`,
    "pod as given",
  ]);
  expect(on.node.runsOf("u/app").started).toBe(1);
  expect(on.broken).toEqual([]);
});

test("less memory than is used is not taken away, and tried again", async () => {
  const on = await running(first);
  await on.use(2 ** 25);
  on.workers.set(sized("100m", "32Mi"));
  await on.until(
    "it is under way",
    () => on.statuses.get("u")?.resize === "InProgress",
  );
  const triedMs = on.clock.monotonic();
  await on.until("it was tried", () => on.clock.monotonic() > triedMs + 5000);
  expect(on.writes).toEqual([]);
  await on.use(2 ** 20);
  await on.until(
    "it is done",
    () => on.statuses.get("u")?.resize === undefined,
  );
  expect(on.writes).toEqual([`app 102 50000 ${2 ** 25}`, "pod as given"]);
});

test("without room the resize is deferred until there is, beyond the node's infeasible", async () => {
  const on = await running(first);
  on.take(1900);
  on.workers.set(sized("500m", "64Mi"));
  await on.until(
    "it is deferred",
    () => on.statuses.get("u")?.resize === "Deferred",
  );
  expect(report(on)).toEqual([
    "Deferred",
    { cpu: "100m", memory: "64Mi" },
    { cpu: "100m", memory: "64Mi" },
  ]);
  on.workers.wake("u");
  on.take(0);
  on.workers.wakeForRoom();
  await on.until(
    "it is done",
    () => on.statuses.get("u")?.resize === undefined,
  );
  on.workers.set(sized("3", "64Mi"));
  await on.until(
    "it is infeasible",
    () => on.statuses.get("u")?.resize === "Infeasible",
  );
  expect(on.events.filter((each) => each.startsWith("Resize"))).toEqual([
    "ResizeDeferred: no room",
    "ResizeInfeasible: Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000",
  ]);
  expect(report(on)).toMatchObject([
    "Infeasible",
    { cpu: "500m" },
    { cpu: "500m" },
  ]);
  // Taken back: what it was given is what it asks for.
  on.workers.set(sized("500m", "64Mi"));
  await on.until(
    "it is over",
    () => on.statuses.get("u")?.resize === undefined,
  );
});

test("a policy of RestartContainer starts it again with what it was given, at once, whatever the restart policy", async () => {
  const policy: Partial<Container> = {
    resizePolicy: [
      { resourceName: "memory", restartPolicy: "RestartContainer" },
    ],
  };
  const asked = (memory: string): Pod => {
    const made = sized("100m", memory, policy);
    made.spec.restartPolicy = "OnFailure";
    return made;
  };
  const on = await running(asked("64Mi"));
  on.workers.set(asked("128Mi"));
  await on.until(
    "it runs again",
    () => on.statuses.get("u")?.containerStatuses?.[0]?.restartCount === 1,
  );
  expect(on.node.runsOf("u/app").started).toBe(2);
  await on.until(
    "it is done",
    () => on.statuses.get("u")?.resize === undefined,
  );
  expect(on.node.running()[0]!.resources!.memoryLimitBytes).toBe(2 ** 27);
  expect(on.events).toContain("Killing: Container app resize requires restart");
  expect(on.events.filter((each) => each.startsWith("BackOff"))).toEqual([]);
});

test("an update that fails is tried again, and what was given is kept through deletion", async () => {
  const on = await running(first);
  const original = on.node.updateResources.bind(on.node);
  let failures = 0;
  on.node.updateResources = (id, resources) => {
    if (++failures <= 2) throw new Error("device or resource busy");
    original(id, resources);
  };
  on.workers.set(sized("300m", "64Mi"));
  await on.until(
    "it is done",
    () => failures === 3 && on.statuses.get("u")?.resize === undefined,
  );
  expect(on.node.running()[0]!.resources!.cpuShares).toBe(307);
  on.workers.set(deleted(first));
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(on.broken).toEqual([]);
});

test("where resources are pinned, guaranteed pods keep what they have", async () => {
  const guaranteed = (cpu: string): Pod => {
    const amounts = { cpu, memory: "64Mi" };
    return stagedPod({ containers: [container(amounts, amounts)] });
  };
  const on = await running(guaranteed("100m"), "pinned");
  on.workers.set(guaranteed("200m"));
  await on.until(
    "it is infeasible",
    () => on.statuses.get("u")?.resize === "Infeasible",
  );
  expect(on.events).toContain("ResizeInfeasible: pinned");
  expect(on.writes).toEqual([]);
});
