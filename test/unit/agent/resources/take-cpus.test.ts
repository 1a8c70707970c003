// Which CPUs are chosen on machines of several shapes, and from which NUMA nodes they could come.
import { cpuHints } from "../../../../agent/resources/cpu/cpu-hints.ts";
import { CpuPlaces } from "../../../../agent/resources/cpu/cpu-places.ts";
import {
  takeDistributed,
  takePacked,
} from "../../../../agent/resources/cpu/take-cpus.ts";
import {
  formatCpuList,
  parseCpuList,
} from "../../../../agent/resources/machine/cpu-list.ts";
import { without } from "../../../../agent/resources/machine/id-set.ts";
import { readMachineTopology } from "../../../../agent/resources/machine/machine-topology.ts";
import {
  nodeIds,
  nodeSubsets,
} from "../../../../agent/resources/topology/numa-nodes.ts";
import { Random } from "../../../robustness/random.ts";
import {
  writeMachine,
  type MachineShape,
} from "../../../support/machine-tree.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();

test("lists of CPUs", () => {
  expect(parseCpuList("0-2,8,5-5")).toEqual([0, 1, 2, 5, 8]);
  expect(parseCpuList(" \n")).toEqual([]);
  expect(formatCpuList([8, 1, 0, 2, 5, 2])).toBe("0-2,5,8");
  for (const text of [
    "0,,1",
    ",",
    "x",
    "1-",
    "3-1",
    "1..2",
    "-1",
    "0-99999999",
    "1-70000",
  ])
    expect(() => parseCpuList(text)).toThrow("invalid list of CPUs");
  expect(nodeSubsets([4, 0, 1]).map(nodeIds)).toEqual([
    [0],
    [1],
    [4],
    [0, 1],
    [0, 4],
    [1, 4],
    [0, 1, 4],
  ]);
});

function places(shape: MachineShape): CpuPlaces {
  return new CpuPlaces(
    readMachineTopology(writeMachine(directories(), shape)).cpus,
  );
}
const small = { sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 2 };
/** Node 0: cores {0,6} {1,7} {2,8}; node 1: {3,9} {4,10} {5,11}. */
const twoSockets = {
  sockets: 2,
  nodesPerSocket: 1,
  coresPerNode: 3,
  threads: 2,
};
/** Four nodes of cores {0,16} …; two nodes a socket. */
const large = { sockets: 2, nodesPerSocket: 2, coresPerNode: 4, threads: 2 };

/** One node, four caches of four cores without second threads. */
const ofCaches = {
  ...{ sockets: 1, nodesPerSocket: 1, coresPerNode: 16, threads: 1 },
  coresPerCache: 4,
};
/** Two sockets, two caches each: {0-1,8-9} {2-3,10-11} and {4-5,12-13} {6-7,14-15}. */
const ofThreads = {
  ...{ sockets: 2, nodesPerSocket: 1, coresPerNode: 4, threads: 2 },
  coresPerCache: 2,
};

test("the machine is read with unique cores, nodes, memory and distances", () => {
  const machine = readMachineTopology(
    writeMachine(directories(), { ...large, hugepages: 3 }),
  );
  expect(machine.cpus).toHaveLength(32);
  // Its kernel's core_id is 1 in both sockets.
  expect(machine.cpus[9]).toEqual({
    ...{ id: 9, core: 9, socket: 1, node: 2 },
    cache: 1,
  });
  expect(machine.cpus[25]).toEqual({
    ...{ id: 25, core: 9, socket: 1, node: 2 },
    cache: 1,
  });
  expect(machine.nodes[2]).toEqual({
    id: 2,
    memoryBytes: 2 ** 34,
    hugepages: { "hugepages-2Mi": 3 * 2 ** 21 },
    distances: [32, 32, 10, 12],
  });
  expect(() => readMachineTopology(directories())).toThrow(
    "can't read the machine's CPUs",
  );
  // This machine, whatever it is.
  expect(readMachineTopology().cpus.length).toBeGreaterThan(0);
  expect(readMachineTopology().nodes[0]!.memoryBytes).toBeGreaterThan(0);
});

test.each<[string, MachineShape, string, number, string, string]>([
  ["one CPU of an idle machine", small, "", 1, "0", "0"],
  ["a core", small, "", 2, "0,4", "0-1"],
  ["three: a core and a thread", small, "", 3, "0-1,4", "0-2"],
  ["all", small, "", 8, "0-7", "0-7"],
  ["a thread fills a core that is begun", small, "0", 1, "4", "1"],
  ["whole cores before begun ones", small, "0", 2, "1,5", "1-2"],
  ["then what is left of begun ones", small, "0", 3, "1,4-5", "1-3"],
  ["a whole socket", twoSockets, "", 6, "0-2,6-8", "0-2,6-8"],
  ["a socket and a thread", twoSockets, "", 7, "0-3,6-8", "0-3,6-8"],
  ["the begun socket first", twoSockets, "0", 2, "1,7", "1-2"],
  ["the whole socket for as many", twoSockets, "0", 6, "3-5,9-11", "3-5,9-11"],
  ["a node of a socket", large, "", 8, "0-3,16-19", "0-3,16-19"],
  ["a socket of two nodes", large, "", 16, "0-7,16-23", "0-7,16-23"],
  ["a socket and two cores", large, "", 20, "0-9,16-25", "0-11,16-23"],
  ["what is left when little is free", large, "0-14,16-31", 1, "15", "15"],
])("%s", (_what, shape, taken, count, packed, spread) => {
  const machine = places(shape);
  const free = without(machine.all, parseCpuList(taken));
  expect(formatCpuList(takePacked(machine, free, count))).toBe(packed);
  expect(formatCpuList(takePacked(machine, free, count, "spread"))).toBe(
    spread,
  );
});

test.each<[string, MachineShape, string, number, string]>([
  ["a cache for as many", ofCaches, "0", 4, "4-7"],
  ["the rest of one that is begun", ofCaches, "0", 3, "1-3"],
  ["a whole one and the rest of one", ofCaches, "0", 7, "1-7"],
  ["the fullest that has enough", ofCaches, "0,4-5", 2, "6-7"],
  ["one that has enough before cores of two", ofCaches, "0-2,4-5", 3, "8-10"],
  ["where none has enough: cores", ofCaches, "0-1,4-5,8-9,12-13", 3, "2-3,6"],
  ["with both threads", ofThreads, "0", 4, "2-3,10-11"],
  ["the begun core is no two CPUs", ofThreads, "0", 2, "2,10"],
  ["an odd count: cores, then a thread", ofThreads, "", 3, "0-1,8"],
  ["a whole socket comes first", ofThreads, "0", 8, "4-7,12-15"],
  ["caches of both sockets", ofThreads, "0,4", 8, "2-3,6-7,10-11,14-15"],
  ["caches that a node shares are none", small, "0", 2, "1,5"],
])("aligned by cache: %s", (_what, shape, taken, count, expected) => {
  const machine = places(shape);
  const free = without(machine.all, parseCpuList(taken));
  expect(formatCpuList(takePacked(machine, free, count, "caches"))).toBe(
    expected,
  );
});

test.each<[string, string, number, number, string]>([
  ["what fits on one node stays there", "", 8, 1, "0-3,16-19"],
  ["two nodes give six each", "", 12, 1, "0-2,4-6,16-18,20-22"],
  ["the odd one comes from the first", "", 9, 1, "0-2,4-5,16-17,20-21"],
  ["in whole cores", "", 10, 2, "0-2,4-5,16-18,20-21"],
  [
    "a node with too little is passed over",
    "0-2,16-18",
    12,
    1,
    "4-6,8-10,20-22,24-26",
  ],
  ["four nodes", "", 28, 1, "0-2,4-6,8-10,12-15,16-18,20-22,24-26,28-31"],
  ["not in groups: packed", "", 9, 2, "0-4,16-19"],
])("distributed over nodes: %s", (what, taken, count, group, expected) => {
  const machine = places(large);
  const free = without(machine.all, parseCpuList(taken));
  const chosen = takeDistributed(machine, free, count, group);
  expect(chosen).toHaveLength(count);
  if (what !== "four nodes") expect(formatCpuList(chosen)).toBe(expected);
  else
    for (const [, cpus] of machine.group(chosen, "node"))
      expect(cpus).toHaveLength(7);
});

test("what an even split leaves over fills begun cores first", () => {
  const machine = places(twoSockets);
  const free = without(machine.all, [0, 3]);
  // Three of each node: a core and the begun one's thread; then one more of node 0: the core {1,7} is taken, {6} too.
  expect(formatCpuList(takeDistributed(machine, free, 7, 1))).toBe(
    "1-2,4,6-7,9-10",
  );
});

test("too many are refused", () => {
  for (const take of [takePacked, takeDistributed])
    expect(() => take(places(small), [1, 2], 3, 1 as never)).toThrow(
      "not enough cpus available to satisfy request: requested=3, available=2",
    );
});

test("any request on any state of the machine is answered with free CPUs, each once", () => {
  const random = new Random(77);
  const shapes = [small, twoSockets, large, ofCaches, ofThreads].map(places);
  for (let round = 0; round < 600; round++) {
    const machine = random.pick(shapes);
    const free = machine.all.filter(() => random.chance(0.6));
    const count = random.integer(free.length + 1);
    for (const chosen of [
      takePacked(
        machine,
        free,
        count,
        random.pick(["cores", "spread", "caches"]),
      ),
      takeDistributed(machine, free, count, 1 + random.integer(2)),
    ]) {
      expect(new Set(chosen).size).toBe(count);
      expect(without(chosen, free)).toEqual([]);
    }
  }
});

test("hints name the nodes that could give so many CPUs", () => {
  const machine = places(twoSockets);
  const hints = (
    count: number,
    taken = "",
    reusable = "",
    alignBySocket = false,
    on = machine,
  ) =>
    cpuHints(on, {
      count,
      free: without(on.all, parseCpuList(taken)),
      reusable: parseCpuList(reusable),
      alignBySocket,
    }).map(
      ({ nodes, preferred }) =>
        `${nodeIds(nodes!).join("+")}${preferred ? "!" : ""}`,
    );
  expect(hints(4)).toEqual(["0!", "1!", "0+1"]);
  expect(hints(8)).toEqual(["0+1!"]);
  expect(hints(13)).toEqual([]);
  // Four would fit on one node, but not now.
  expect(hints(4, "0-2,3-5")).toEqual(["0+1"]);
  // CPUs of the pod's init containers are used again: their node must be among them.
  expect(hints(3, "0,6", "0,6")).toEqual(["0!", "0+1"]);
  // On a socket of two nodes both together are as good as one.
  expect(hints(4, "", "", true, places(large))).toEqual([
    ...["0!", "1!", "2!", "3!"],
    ...["0+1!", "0+2", "0+3", "1+2", "1+3", "2+3!"],
    ...["0+1+2", "0+1+3", "0+2+3", "1+2+3", "0+1+2+3"],
  ]);
});
