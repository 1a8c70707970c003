// CPUs of containers' own: who gets some, from which pool, init containers and sidecars, what a restarted agent knows, and
// which state files it refuses.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { CpuCheckpoint } from "../../../../agent/resources/cpu/cpu-checkpoint.ts";
import { CpuPlaces } from "../../../../agent/resources/cpu/cpu-places.ts";
import {
  checkCpuPolicy,
  parseCpuPolicyOptions,
} from "../../../../agent/resources/cpu/cpu-policy.ts";
import { CpusetReconciler } from "../../../../agent/resources/cpu/cpuset-reconciler.ts";
import { StaticCpus } from "../../../../agent/resources/cpu/static-cpus.ts";
import {
  formatCpuList,
  parseCpuList,
} from "../../../../agent/resources/machine/cpu-list.ts";
import { readMachineTopology } from "../../../../agent/resources/machine/machine-topology.ts";
import { ResourceManagers } from "../../../../agent/resources/resource-managers.ts";
import {
  noAffinity,
  type TopologyHint,
} from "../../../../agent/resources/topology/hint-provider.ts";
import { nodeMask } from "../../../../agent/resources/topology/numa-nodes.ts";
import { TopologyManager } from "../../../../agent/resources/topology/topology-manager.ts";
import { parseTopologyOptions } from "../../../../agent/resources/topology/topology-policy.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import {
  writeMachine,
  type MachineShape,
} from "../../../support/machine-tree.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import pino from "pino";

const directories = useTempDirectories();

/** A pod's release writes the file behind the caller's back: its end is waited for before the directory goes. */
const saves: Promise<unknown>[] = [];
class WatchedCpuCheckpoint extends CpuCheckpoint {
  override save(...state: Parameters<CpuCheckpoint["save"]>): Promise<void> {
    const saving = super.save(...state);
    saves.push(saving);
    return saving;
  }
}
afterEach(async () => {
  await Promise.all(saves.splice(0));
});
/** Cores {0,4} {1,5} | {2,6} {3,7}. */
const machine: MachineShape = {
  sockets: 2,
  nodesPerSocket: 1,
  coresPerNode: 2,
  threads: 2,
};
const on = (): boolean => true;

function cpus(
  options: {
    directory?: string;
    policy?: Record<string, string>;
    reserved?: string;
    reservedCount?: number;
    shape?: MachineShape;
    onChange?: () => void;
  } = {},
): StaticCpus {
  const reservedCpus = parseCpuList(options.reserved ?? "");
  return new StaticCpus({
    places: new CpuPlaces(
      readMachineTopology(writeMachine(directories(), options.shape ?? machine))
        .cpus,
    ),
    policy: parseCpuPolicyOptions(options.policy ?? {}, on),
    reservedCount: options.reservedCount ?? (reservedCpus.length || 1),
    reservedCpus,
    checkpoint: new WatchedCpuCheckpoint(
      options.directory ?? directories(),
      "static",
    ),
    onChange: options.onChange ?? (() => undefined),
    onSaveFailure(error) {
      throw error;
    },
  });
}

function container(name: string, cpu: string, memory = "1Mi"): Container {
  return { name, image: "i", resources: { limits: { cpu, memory } } };
}

function podOf(
  uid: string,
  containers: Container[],
  initContainers: Container[] = [],
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, uid },
    spec: { containers, initContainers },
  };
}

async function allocateAll(
  of: StaticCpus,
  pod: Pod,
  affinity: TopologyHint = noAffinity,
): Promise<void> {
  for (const each of [
    ...(pod.spec.initContainers ?? []),
    ...pod.spec.containers,
  ])
    await of.allocate(pod, each, affinity);
}

const listOf = (of: StaticCpus, uid: string, name: string): string =>
  formatCpuList(of.cpusOf(uid, name));

test("whole CPUs of Guaranteed pods are their own, all others share the rest", async () => {
  let changes = 0;
  const manager = cpus({ onChange: () => changes++ });
  await manager.start();
  expect(listOf(manager, "none", "c")).toBe("0-7");
  await allocateAll(manager, podOf("a", [container("two", "2")]));
  await allocateAll(manager, podOf("b", [container("half", "1500m")]));
  const burstable = podOf("c", [
    { name: "x", image: "i", resources: { requests: { cpu: "2" } } },
  ]);
  await allocateAll(manager, burstable);
  expect(changes).toBe(1);
  // CPU 0 is reserved: the first whole core is {1,5}.
  expect(listOf(manager, "a", "two")).toBe("1,5");
  expect(manager.exclusiveOf("b", "half")).toBeUndefined();
  expect(listOf(manager, "c", "x")).toBe("0,2-4,6-7");
  expect(formatCpuList(manager.allocatable())).toBe("1-7");
  // As many as the node has free, and no more: CPU 0 is never given away.
  await allocateAll(manager, podOf("d", [container("five", "5")]));
  expect(listOf(manager, "c", "x")).toBe("0");
  await expect(
    allocateAll(manager, podOf("e", [container("one", "1")])),
  ).rejects.toThrow(
    "not enough cpus available to satisfy request: requested=1, available=0",
  );
  const text = metricsText(manager.metrics());
  expect(text).toContain("kubelet_cpu_manager_pinning_requests_total 3");
  expect(text).toContain("kubelet_cpu_manager_pinning_errors_total 1");
  expect(text).toContain("kubelet_cpu_manager_shared_pool_size_millicores 0");
  expect(text).toContain(
    "kubelet_cpu_manager_exclusive_cpu_allocation_count 7",
  );
  manager.release("a");
  manager.release("d");
  expect(listOf(manager, "c", "x")).toBe("0-7");
  expect([...manager.holders()]).toEqual([]);
  // Whole cores were not demanded.
  expect(manager.alignment().count).toBe(0);
});

test("the place that the topology manager chose comes first", async () => {
  const manager = cpus();
  await manager.start();
  const second = { nodes: nodeMask([1]), preferred: true };
  await allocateAll(manager, podOf("a", [container("c", "2")]), second);
  expect(listOf(manager, "a", "c")).toBe("2,6");
  // What the node can't give comes from elsewhere.
  await allocateAll(manager, podOf("b", [container("c", "3")]), second);
  expect(listOf(manager, "b", "c")).toBe("3-4,7");
});

test("init containers' CPUs pass to the next containers, sidecars' do not", async () => {
  const manager = cpus();
  await manager.start();
  const sidecar: Container = {
    ...container("side", "1"),
    restartPolicy: "Always",
  };
  const pod = podOf(
    "a",
    [container("app", "2")],
    [container("first", "7"), sidecar, container("second", "1")],
  );
  // At most 7 CPUs at a time: they are on both nodes.
  expect(manager.podHints(pod).get("cpu")).toEqual([
    { nodes: nodeMask([0, 1]), preferred: true },
  ]);
  await allocateAll(manager, pod);
  const [first, side, second, app] = ["first", "side", "second", "app"].map(
    (name) => manager.exclusiveOf("a", name)!,
  );
  expect(first).toHaveLength(7);
  expect([side, second, app].map((own) => own?.length)).toEqual([1, 1, 2]);
  expect(first).toEqual(expect.arrayContaining([...side!, ...app!]));
  expect(app!.some((cpu) => side!.includes(cpu))).toBe(false);
  expect(second!.some((cpu) => side!.includes(cpu))).toBe(false);
  // Another pod gets none of them, and nothing is lost when the pod ends.
  await expect(
    allocateAll(manager, podOf("b", [container("c", "1")])),
  ).rejects.toThrow("requested=1, available=0");
  manager.release("a");
  expect(listOf(manager, "x", "y")).toBe("0-7");
});

test("with full-pcpus-only no core is shared", async () => {
  const manager = cpus({ policy: { "full-pcpus-only": "true" } });
  await manager.start();
  await expect(
    allocateAll(manager, podOf("a", [container("c", "3")])),
  ).rejects.toMatchObject({
    reason: "SMTAlignmentError",
    message:
      "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
  });
  const b = podOf("b", [container("c", "4")]);
  await allocateAll(manager, b);
  expect(listOf(manager, "b", "c")).toBe("2-3,6-7");
  // As at the reference, a restarted agent counts what it finds again.
  await allocateAll(manager, b);
  // CPU 4 is free, but its core's other thread is reserved.
  await expect(
    allocateAll(manager, podOf("c", [container("c", "4")])),
  ).rejects.toMatchObject({
    message:
      "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2",
  });
  expect(manager.alignment()).toEqual({
    scope: "container",
    boundary: "physical_cpu",
    count: 2,
  });
});

test("with prefer-align-cpus-by-uncorecache containers keep to a cache, as long as there is room", async () => {
  const manager = cpus({
    policy: { "prefer-align-cpus-by-uncorecache": "true" },
    shape: {
      ...{ sockets: 1, nodesPerSocket: 1, coresPerNode: 12, threads: 1 },
      coresPerCache: 4,
    },
  });
  await manager.start();
  const given: string[] = [];
  for (const [uid, count] of [
    ["a", "3"],
    ["b", "3"],
    ["c", "2"],
    ["d", "3"],
  ] as const) {
    await allocateAll(manager, podOf(uid, [container("c", count)]));
    given.push(listOf(manager, uid, "c"));
  }
  expect(given).toEqual(["1-3", "4-6", "8-9", "7,10-11"]);
});

test("reserved CPUs are counted or named, and with strict-cpu-reservation nobody's", async () => {
  expect(formatCpuList(cpus({ reservedCount: 3 }).allocatable())).toBe(
    "2-3,5-7",
  );
  const named = cpus({ reserved: "3,7" });
  await named.start();
  expect(formatCpuList(named.allocatable())).toBe("0-2,4-6");
  expect(listOf(named, "x", "y")).toBe("0-7");
  const strict = cpus({
    reserved: "3,7",
    policy: { "strict-cpu-reservation": "true" },
  });
  await strict.start();
  expect(listOf(strict, "x", "y")).toBe("0-2,4-6");
  expect(() => cpus({ reservedCount: 0 })).toThrow(
    "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
  );
  expect(() => cpus({ reservedCount: 9 })).toThrow(
    "unable to reserve the required amount of CPUs",
  );
});

test("a restarted agent knows what was assigned, and a pod that runs on keeps it", async () => {
  const directory = directories();
  const before = cpus({ directory });
  await before.start();
  const pod = podOf("a", [container("c", "2")]);
  await allocateAll(before, pod);
  const after = cpus({ directory });
  await after.start();
  expect(listOf(after, "a", "c")).toBe("1,5");
  await allocateAll(after, pod);
  expect(listOf(after, "a", "c")).toBe("1,5");
  expect(after.containerHints(pod, pod.spec.containers[0]!).get("cpu")).toEqual(
    [
      { nodes: 1, preferred: true },
      { nodes: 3, preferred: false },
    ],
  );
  // The same container with another number of CPUs has no place.
  const other = podOf("a", [container("c", "3")]);
  expect(
    after.containerHints(other, other.spec.containers[0]!).get("cpu"),
  ).toEqual([]);
  const text = fs.readFileSync(
    path.join(directory, "cpu_manager_state"),
    "utf8",
  );
  expect(JSON.parse(text)).toEqual({
    policyName: "static",
    defaultCpuSet: "0,2-4,6-7",
    entries: { a: { c: "1,5" } },
    checksum: expect.any(Number),
  });
  // What a pod holds that is no more is given back.
  const resources = new ResourceManagers({
    topology: new TopologyManager({
      policy: "none",
      scope: "container",
      policyOptions: parseTopologyOptions({}, on),
      nodes: [],
      clock: new FakeClock(),
    }),
    managers: [],
    unmanaged: [],
  });
  resources.add(after);
  resources.releaseOthers((uid) => uid === "a");
  expect(listOf(after, "a", "c")).toBe("1,5");
  resources.releaseOthers(() => false);
  expect(listOf(after, "a", "c")).toBe("0-7");
});

const state = (text: string): string => {
  const directory = directories();
  fs.writeFileSync(path.join(directory, "cpu_manager_state"), text);
  return directory;
};
/** Files as the reference writes them. */
const ofReference = {
  none: '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
  assigned:
    '{"policyName":"none","defaultCpuSet":"1-3","entries":{"pod":{"container1":"4-6","container2":"1-3"}},"checksum":3610638499}',
};

test("the reference's files are read, and ours have its checksums", async () => {
  await new CpuCheckpoint(state(ofReference.none), "none").load();
  const found = await new CpuCheckpoint(
    state(ofReference.assigned),
    "none",
  ).load();
  expect(found.shared).toEqual([1, 2, 3]);
  expect(found.exclusive.get("pod")?.get("container1")).toEqual([4, 5, 6]);
  const directory = directories();
  await new CpuCheckpoint(directory, "none").load();
  expect(
    fs.readFileSync(path.join(directory, "cpu_manager_state"), "utf8"),
  ).toBe(ofReference.none);
});

test.each([
  [
    "another policy",
    ofReference.none,
    'configured policy "static" differs from state checkpoint policy "none"',
  ],
  [
    "a changed file",
    ofReference.assigned.replace("4-6", "4-7"),
    "checkpoint is corrupted",
  ],
  ["half a file", ofReference.assigned.slice(0, 50), "could not restore"],
  ["a list", "[]", "it is no object"],
  ["other types", '{"policyName":"static","entries":{"a":"1"}}', "other types"],
  [
    "no list of CPUs",
    '{"policyName":"static","defaultCpuSet":"0..2"}',
    "invalid list of CPUs",
  ],
  [
    "a reserved CPU that is taken",
    '{"policyName":"static","defaultCpuSet":"1-7","entries":{"p":{"c":"0"}}}',
    'not all reserved cpus: "0" are present in defaultCpuSet: "1-7"',
  ],
  [
    "a CPU in both pools",
    '{"policyName":"static","defaultCpuSet":"0-7","entries":{"p":{"c":"4"}}}',
    'pod: p, container: c cpuset: "4" overlaps with default cpuset "0-7"',
  ],
  [
    "CPUs that are not there",
    '{"policyName":"static","defaultCpuSet":"0-15"}',
    'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-15"',
  ],
  [
    "no shared pool",
    '{"policyName":"static","entries":{"p":{"c":"4"}}}',
    "default cpuset cannot be empty",
  ],
])("%s refuses the start with advice", async (_what, text, message) => {
  const directory = state(text);
  const error = await cpus({ directory })
    .start()
    .then(
      () => undefined,
      (reason: Error) => reason,
    );
  expect(error?.message).toContain(message);
  expect(error?.message).toContain(
    `please drain this node and delete the CPU manager checkpoint file "${directory}/cpu_manager_state"`,
  );
  // It is left as it is.
  expect(
    fs.readFileSync(path.join(directory, "cpu_manager_state"), "utf8"),
  ).toBe(text);
});

test("a strict pool that is given away as a whole keeps others off the CPUs of its owners", async () => {
  const directory = directories();
  const policy = { "strict-cpu-reservation": "true" };
  const manager = cpus({ directory, policy });
  await manager.start();
  await allocateAll(manager, podOf("a", [container("all", "7")]));
  expect(listOf(manager, "a", "all")).toBe("1-7");
  expect(listOf(manager, "b", "shared")).toBe("0");
  // The pods run on; an agent that starts again takes that up.
  const second = cpus({ directory, policy });
  await second.start();
  expect(listOf(second, "a", "all")).toBe("1-7");
  expect(listOf(second, "b", "shared")).toBe("0");
  second.release("a");
  expect(listOf(second, "b", "shared")).toBe("1-7");
});

test("with strict reservation a pool with reserved CPUs refuses the start", async () => {
  const directory = state('{"policyName":"static","defaultCpuSet":"0-7"}');
  await expect(
    cpus({ directory, policy: { "strict-cpu-reservation": "1" } }).start(),
  ).rejects.toThrow(
    'some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-7"',
  );
});

test.each<[Record<string, string>, string]>([
  [{ colour: "red" }, 'unknown CPU Manager Policy option: "colour"'],
  [
    { "full-pcpus-only": "perhaps" },
    'bad value for option "full-pcpus-only": strconv.ParseBool: parsing "perhaps": invalid syntax',
  ],
  [
    { "full-pcpus-only": "true", "distribute-cpus-across-cores": "true" },
    "static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time",
  ],
  [
    {
      "distribute-cpus-across-numa": "true",
      "distribute-cpus-across-cores": "true",
    },
    "static policy options distribute-cpus-across-numa and distribute-cpus-across-cores can not be used at the same time",
  ],
  [
    {
      "prefer-align-cpus-by-uncorecache": "true",
      "distribute-cpus-across-cores": "true",
    },
    "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-cores can not be used at the same time",
  ],
  [
    {
      "prefer-align-cpus-by-uncorecache": "true",
      "distribute-cpus-across-numa": "true",
    },
    "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used at the same time",
  ],
])("options %j are refused", (options, message) => {
  expect(() => parseCpuPolicyOptions(options, on)).toThrow(message);
});

test("options of a stage need its gate, and align-by-socket a machine for it", () => {
  expect(() =>
    parseCpuPolicyOptions({ "align-by-socket": "true" }, () => false),
  ).toThrow(
    'CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided',
  );
  expect(() =>
    parseCpuPolicyOptions({ "full-pcpus-only": "true" }, () => false),
  ).toThrow("CPU Manager Policy Beta-level Options not enabled");
  const aligned = parseCpuPolicyOptions({ "align-by-socket": "true" }, on);
  const places = new CpuPlaces(
    readMachineTopology(writeMachine(directories(), machine)).cpus,
  );
  checkCpuPolicy(aligned, places, "restricted");
  expect(() => checkCpuPolicy(aligned, places, "single-numa-node")).toThrow(
    "incompatible",
  );
});

test("running containers are moved when their CPUs change, and only then", async () => {
  const clock = new FakeClock();
  const updates: string[] = [];
  let shared = "0-3";
  let broken = false;
  const running = [
    { id: "1", uid: "a", name: "own" },
    { id: "2", uid: "b", name: "x" },
  ];
  const reconciler = new CpusetReconciler({
    running: () => running,
    cpusOf: (uid) => (uid === "a" ? "2-3" : shared),
    async update(id, list) {
      if (broken) throw new Error("no such container");
      updates.push(`${id}=${list}`);
    },
    periodMs: 10_000,
    clock,
    logger: pino({ level: "silent" }),
  });
  reconciler.start();
  await reconciler.reconcile();
  await reconciler.reconcile();
  expect(updates.splice(0)).toEqual(["1=2-3", "2=0-3"]);
  shared = "0-1";
  broken = true;
  await reconciler.reconcile();
  broken = false;
  // The next pass after the period makes up for it.
  clock.advance(10_000);
  await reconciler.reconcile();
  expect(updates.splice(0)).toEqual(["2=0-1"]);
  // A new container of an old name is another one.
  running[0] = { id: "3", uid: "a", name: "own" };
  await reconciler.reconcile();
  expect(updates).toEqual(["3=2-3"]);
  reconciler.stop();
});
