// Where the topology manager places pods: merged hints against every combination tried one by one, the policies, scopes
// and options, and what is allocated when and given back.
import type { TopologyPolicy } from "../../../../agent/config/resource-policies.ts";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { AdmissionError } from "../../../../agent/resources/admission-error.ts";
import {
  cpuPinningFamilies,
  memoryPinningFamilies,
} from "../../../../agent/resources/pinning-metrics.ts";
import { ResourceManagers } from "../../../../agent/resources/resource-managers.ts";
import type {
  HintProvider,
  TopologyHint,
  TopologyHints,
} from "../../../../agent/resources/topology/hint-provider.ts";
import {
  hintsByResource,
  mergeHints,
} from "../../../../agent/resources/topology/merge-hints.ts";
import { NumaDistances } from "../../../../agent/resources/topology/numa-distances.ts";
import {
  isNarrower,
  nodeCount,
  nodeIds,
  nodeMask,
} from "../../../../agent/resources/topology/numa-nodes.ts";
import { TopologyManager } from "../../../../agent/resources/topology/topology-manager.ts";
import {
  choosePlacement,
  parseTopologyOptions,
} from "../../../../agent/resources/topology/topology-policy.ts";
import { Random } from "../../../robustness/random.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const hint = (
  nodes: number[] | undefined,
  preferred: boolean,
): TopologyHint => ({
  nodes: nodes && nodeMask(nodes),
  preferred,
});
/** Every gate. */
const on = (): boolean => true;
const best = (nodes: number[]): TopologyHint => hint(nodes, true);
const other = (nodes: number[]): TopologyHint => hint(nodes, false);

test("sets of nodes", () => {
  expect(nodeIds(nodeMask([0, 2, 5]))).toEqual([0, 2, 5]);
  expect(nodeCount(nodeMask([0, 2, 5]))).toBe(3);
  expect(isNarrower(nodeMask([3]), nodeMask([0, 1]))).toBe(true);
  expect(isNarrower(nodeMask([1, 2]), nodeMask([0, 2]))).toBe(false);
  expect(isNarrower(nodeMask([30]), nodeMask([0]))).toBe(false);
});

/** Every combination of one hint a resource, compared pair by pair as the reference's documentation has it. */
function tryAll(
  resources: (readonly TopologyHint[])[],
  all: number,
  better: (a: number, b: number) => boolean,
): { nodes: number; preferred: boolean } {
  const wanted = Math.max(
    0,
    ...resources
      .map((hints) =>
        Math.min(
          Infinity,
          ...hints.flatMap(({ nodes }) =>
            nodes === undefined ? [] : [nodeCount(nodes)],
          ),
        ),
      )
      .filter(Number.isFinite),
  );
  let combinations: TopologyHint[][] = [[]];
  for (const hints of resources)
    combinations = combinations.flatMap((start) =>
      hints.map((each) => [...start, each]),
    );
  let found: { nodes: number; preferred: boolean } | undefined;
  for (const combination of combinations) {
    const named = combination.flatMap(({ nodes }) => nodes ?? []);
    const nodes = named.reduce((common, mask) => common & mask, all);
    const preferred =
      combination.every((each) => each.preferred) &&
      named.every((mask) => mask === named[0]);
    if (nodes === 0) continue;
    const candidate = { nodes, preferred };
    if (!found) {
      found = candidate;
      continue;
    }
    const fitter = (): boolean => better(nodes, found!.nodes);
    const a = nodeCount(found.nodes);
    const b = nodeCount(nodes);
    let takes: boolean;
    if (preferred !== found.preferred) takes = preferred;
    else if (preferred) takes = fitter();
    else if (a > wanted) takes = fitter();
    else if (a === wanted) takes = b === wanted && fitter();
    else if (b > wanted) takes = false;
    else if (b !== a) takes = b > a;
    else takes = fitter();
    if (takes) found = candidate;
  }
  return found ?? { nodes: all, preferred: false };
}

test("merging counts each result once and finds what trying all combinations finds", () => {
  const random = new Random(4711);
  const distances = new NumaDistances([
    { id: 0, distances: [10, 21, 11, 21] },
    { id: 1, distances: [21, 10, 21, 11] },
    { id: 2, distances: [11, 21, 10, 21] },
    { id: 3, distances: [21, 11, 21, 10] },
  ]);
  const all = nodeMask([0, 1, 2, 3]);
  let preferred = 0;
  for (let round = 0; round < 3000; round++) {
    const resources = Array.from({ length: 1 + random.integer(3) }, () =>
      Array.from({ length: random.integer(5) + (round % 7 ? 1 : 0) }, () => ({
        nodes: random.chance(0.1) ? undefined : 1 + random.integer(15),
        preferred: random.chance(0.6),
      })),
    );
    for (const better of [
      isNarrower,
      (a: number, b: number) => distances.isCloser(a, b),
    ]) {
      const merged = mergeHints(resources, all, better);
      expect({ round, ...merged }).toEqual({
        round,
        ...tryAll(resources, all, (a, b) => a !== b && better(a, b)),
      });
      if (merged.preferred) preferred++;
    }
  }
  expect(preferred).toBeGreaterThan(1000);
});

test("eight nodes and six resources with every hint are merged at once", () => {
  const all = Array.from({ length: 255 }, (_, mask) => mask + 1);
  const hints = all.map((nodes) => ({
    nodes,
    preferred: nodeCount(nodes) === 2,
  }));
  let merged: unknown;
  const cpuMs = cpuMsOf(() => {
    merged = mergeHints(Array(6).fill(hints), 255);
  });
  expect(merged).toEqual({ nodes: nodeMask([0, 1]), preferred: true });
  // Trying all combinations would take 255⁶ steps.
  expect(cpuMs).toBeLessThan(2000);
});

const twoNodes = new NumaDistances([
  { id: 0, distances: [10, 20] },
  { id: 1, distances: [20, 10] },
]);
const noOptions = parseTopologyOptions({}, on);

function place(policy: TopologyPolicy, ...providers: TopologyHints[]) {
  const { affinity, admitted } = choosePlacement(
    policy,
    noOptions,
    twoNodes,
    providers,
  );
  return {
    nodes: affinity.nodes === undefined ? undefined : nodeIds(affinity.nodes),
    preferred: affinity.preferred,
    admitted,
  };
}
const of = (...entries: [string, TopologyHint[] | undefined][]) =>
  new Map(entries);

test("a provider without hints, a resource without preference, and one without a place", () => {
  expect(hintsByResource([new Map(), of(["a", undefined], ["b", []])])).toEqual(
    [
      [hint(undefined, true)],
      [hint(undefined, true)],
      [hint(undefined, false)],
    ],
  );
});

test("best-effort admits everything, restricted and single-numa-node only what is preferred", () => {
  const cpu = of(["cpu", [best([0]), best([1]), other([0, 1])]]);
  const cards = of(["cards", [best([1]), other([0, 1])]]);
  const spread = of(["cpu", [best([0, 1])]]);
  const aligned = { nodes: [1], preferred: true, admitted: true };
  for (const policy of [
    "best-effort",
    "restricted",
    "single-numa-node",
  ] as const)
    expect(place(policy, cpu, cards)).toEqual(aligned);
  // CPUs that need both nodes: preferred for restricted, but never on one node.
  expect(place("restricted", spread)).toEqual({
    nodes: [0, 1],
    preferred: true,
    admitted: true,
  });
  expect(place("single-numa-node", spread)).toMatchObject({ admitted: false });
  // One node for CPUs, the other for cards.
  const apart = [of(["cpu", [best([0]), other([0, 1])]]), cards];
  expect(place("best-effort", ...apart)).toEqual({
    nodes: [0],
    preferred: false,
    admitted: true,
  });
  expect(place("restricted", ...apart)).toMatchObject({ admitted: false });
  // Nothing to align: single-numa-node asks for no node.
  expect(place("single-numa-node", new Map())).toEqual({
    nodes: undefined,
    preferred: true,
    admitted: true,
  });
  expect(place("restricted", of(["cards", []]))).toMatchObject({
    admitted: false,
  });
});

test("with prefer-closest-numa-nodes the nodes that are near to each other win", () => {
  // 0 and 3 are neighbours.
  const numa = new NumaDistances([
    { id: 0, distances: [10, 31, 31, 11] },
    { id: 1, distances: [31, 10, 11, 31] },
    { id: 2, distances: [31, 11, 10, 31] },
    { id: 3, distances: [11, 31, 31, 10] },
  ]);
  const cpu = of(["cpu", [best([0, 1]), best([0, 3]), best([1, 2])]]);
  const nodes = (options: Record<string, string>, policy: TopologyPolicy) =>
    choosePlacement(policy, parseTopologyOptions(options, on), numa, [cpu])
      .affinity.nodes;
  const closest = { "prefer-closest-numa-nodes": "true" };
  expect(nodes({}, "restricted")).toBe(nodeMask([0, 1]));
  // Equally near: the lower ones.
  expect(nodes(closest, "restricted")).toBe(nodeMask([1, 2]));
  expect(nodes(closest, "best-effort")).toBe(nodeMask([1, 2]));
});

test.each([
  ["colour", "red", 'unknown Topology Manager Policy option: "colour"'],
  [
    "prefer-closest-numa-nodes",
    "perhaps",
    'bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "perhaps": invalid syntax',
  ],
  [
    "max-allowable-numa-nodes",
    "many",
    'unable to convert policy option to integer "max-allowable-numa-nodes": many',
  ],
  [
    "max-allowable-numa-nodes",
    "7",
    'the minimum value of "max-allowable-numa-nodes" should not be less than 8',
  ],
])("option %s=%s is refused", (name, value, message) => {
  expect(() => parseTopologyOptions({ [name]: value }, on)).toThrow(message);
});

test.each([
  ["1", true],
  ["T", true],
  ["True", true],
  ["0", false],
  ["FALSE", false],
])("a boolean may be %s, as at the reference", (text, expected) => {
  expect(
    parseTopologyOptions({ "prefer-closest-numa-nodes": text }, on)
      .preferClosestNumaNodes,
  ).toBe(expected);
});

function manager(
  policy: TopologyPolicy,
  options: {
    scope?: "container" | "pod";
    nodes?: number;
    policyOptions?: Record<string, string>;
  } = {},
): TopologyManager {
  const { scope = "container", nodes = 2, policyOptions = {} } = options;
  return new TopologyManager({
    policy,
    scope,
    policyOptions: parseTopologyOptions(policyOptions, on),
    nodes: Array.from({ length: nodes }, (_, id) => ({
      id,
      distances: undefined,
    })),
    clock: new FakeClock(),
  });
}

test("machines with too many nodes, or without distances, fail the start", () => {
  expect(() => manager("restricted", { nodes: 9 })).toThrow(
    "unsupported on machines with more than 8 NUMA Nodes",
  );
  manager("none", { nodes: 9 });
  manager("restricted", {
    nodes: 9,
    policyOptions: { "max-allowable-numa-nodes": "9" },
  });
  expect(() =>
    manager("best-effort", {
      policyOptions: { "prefer-closest-numa-nodes": "true" },
    }),
  ).toThrow("cannot discover NUMA topology");
});

const managersOf = (topology: TopologyManager): ResourceManagers =>
  new ResourceManagers({ topology, managers: [], unmanaged: [] });

/** Cards on nodes, of which each container takes one. */
class Cards implements HintProvider {
  readonly given: string[] = [];
  constructor(readonly free: Map<number, number>) {}
  containerHints(): TopologyHints {
    return of([
      "cards",
      [...this.free].filter(([, count]) => count > 0).map(([id]) => best([id])),
    ]);
  }
  podHints(pod: Pod): TopologyHints {
    return of([
      "cards",
      [...this.free]
        .filter(([, count]) => count >= pod.spec.containers.length)
        .map(([id]) => best([id])),
    ]);
  }
  async allocate(
    pod: Pod,
    { name }: Container,
    { nodes }: TopologyHint,
  ): Promise<void> {
    // The plug-in answers later: another pod must not come in between.
    await new Promise(setImmediate);
    if (name === "unlucky") throw new Error("the card is broken");
    if (name === "late") throw new AdmissionError("CardGone", "no card left");
    const from = nodes === undefined ? 0 : nodeIds(nodes)[0]!;
    if ((this.free.get(from) ?? 0) < 1) throw new Error("taken twice");
    this.free.set(from, this.free.get(from)! - 1);
    this.given.push(`${pod.metadata.uid}/${name}@${from}`);
  }
  holders(): string[] {
    return this.given.map((text) => text.split("/")[0]!);
  }
  release(uid: string): void {
    for (const each of this.given.filter((text) =>
      text.startsWith(`${uid}/`),
    )) {
      const from = Number(each.split("@")[1]);
      this.free.set(from, this.free.get(from)! + 1);
      this.given.splice(this.given.indexOf(each), 1);
    }
  }
}

function podOf(uid: string, ...names: string[]): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, uid },
    spec: { containers: names.map((name) => ({ name, image: "i" })) },
  };
}

test("pods are admitted one after the other, and a refused one holds nothing", async () => {
  const cards = new Cards(
    new Map([
      [0, 1],
      [1, 2],
    ]),
  );
  const topology = manager("single-numa-node");
  const resources = managersOf(topology);
  resources.add(cards);
  const refusals = await Promise.all([
    resources.admit(podOf("a", "x")),
    resources.admit(podOf("b", "x", "y", "z")),
    resources.admit(podOf("c", "x")),
  ]);
  // b finds two cards for three containers.
  expect(refusals).toEqual([
    undefined,
    {
      reason: "TopologyAffinityError",
      message: "Resources cannot be allocated with Topology locality",
    },
    undefined,
  ]);
  expect(cards.given).toEqual(["a/x@0", "c/x@1"]);
  // Once admitted a pod is not asked about again.
  expect(await resources.admit(podOf("a", "x"))).toBeUndefined();
  expect(cards.given).toHaveLength(2);
  resources.releaseOthers((uid) => uid === "c");
  resources.release("a");
  expect(cards.free.get(0)).toBe(1);
  const text = metricsText(resources.metrics());
  expect(text).toContain("kubelet_topology_manager_admission_requests_total 3");
  expect(text).toContain("kubelet_topology_manager_admission_errors_total 1");
  expect(text).toContain(
    "kubelet_topology_manager_admission_duration_ms_count 3",
  );
  expect(text).toContain('boundary="numa_node",scope="container"');
});

test("with the policy none requests count, too, and managers without a policy count nothing", async () => {
  const resources = new ResourceManagers({
    topology: manager("none"),
    managers: [],
    unmanaged: [
      {
        check: () => Promise.resolve(),
        metrics: () => [...cpuPinningFamilies(), ...memoryPinningFamilies()],
      },
    ],
  });
  resources.add(new Cards(new Map([[0, 1]])));
  await resources.admit(podOf("a", "x"));
  const text = metricsText(resources.metrics());
  for (const line of [
    "kubelet_topology_manager_admission_requests_total 1",
    "kubelet_topology_manager_admission_errors_total 0",
    "kubelet_cpu_manager_pinning_requests_total 0",
    "kubelet_cpu_manager_pinning_errors_total 0",
    "kubelet_cpu_manager_shared_pool_size_millicores 0",
    "kubelet_cpu_manager_exclusive_cpu_allocation_count 0",
    "kubelet_memory_manager_pinning_requests_total 0",
    "kubelet_memory_manager_pinning_errors_total 0",
  ])
    expect(text).toContain(`${line}\n`);
});

test("with the scope pod all containers go to one node, or the pod is refused", async () => {
  const cards = new Cards(
    new Map([
      [0, 1],
      [1, 2],
    ]),
  );
  const resources = managersOf(manager("restricted", { scope: "pod" }));
  resources.add(cards);
  expect(await resources.admit(podOf("a", "x", "y"))).toBeUndefined();
  expect(cards.given).toEqual(["a/x@1", "a/y@1"]);
  expect(await resources.admit(podOf("b", "x", "y"))).toMatchObject({
    reason: "TopologyAffinityError",
  });
});

test("an allocation that fails gives the pod its reason, and gives back the rest", async () => {
  const cards = new Cards(new Map([[0, 2]]));
  const resources = managersOf(manager("none"));
  resources.add(cards);
  expect(await resources.admit(podOf("a", "x", "unlucky"))).toEqual({
    reason: "UnexpectedAdmissionError",
    message: "Allocate failed due to the card is broken, which is unexpected",
  });
  expect(await resources.admit(podOf("b", "late"))).toEqual({
    reason: "CardGone",
    message: "no card left",
  });
  expect(cards.free.get(0)).toBe(2);
});
