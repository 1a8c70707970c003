// Memory of containers' own on NUMA nodes: who gets it, from which nodes, in groups, over restarts; what is reserved; and
// which state files are refused.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { readMachineTopology } from "../../../../agent/resources/machine/machine-topology.ts";
import { MemoryCheckpoint } from "../../../../agent/resources/memory/memory-checkpoint.ts";
import {
  checkReservedMemory,
  nodeReservations,
  parseReservedMemory,
} from "../../../../agent/resources/memory/reserved-memory.ts";
import { StaticMemory } from "../../../../agent/resources/memory/static-memory.ts";
import {
  noAffinity,
  type TopologyHint,
} from "../../../../agent/resources/topology/hint-provider.ts";
import {
  nodeIds,
  nodeMask,
} from "../../../../agent/resources/topology/numa-nodes.ts";
import { writeMachine } from "../../../support/machine-tree.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();

/** A pod's release writes the file behind the caller's back: its end is waited for before the directory goes. */
const saves: Promise<unknown>[] = [];
class WatchedMemoryCheckpoint extends MemoryCheckpoint {
  override save(...state: Parameters<MemoryCheckpoint["save"]>): Promise<void> {
    const saving = super.save(...state);
    saves.push(saving);
    return saving;
  }
}
afterEach(async () => {
  await Promise.all(saves.splice(0));
});
const gi = 2 ** 30;
const logger = pino({ level: "silent" });

/** Four nodes of 10 GiB, 1 GiB of it in huge pages. */
const machine = () =>
  readMachineTopology(
    writeMachine(directories(), {
      sockets: 2,
      nodesPerSocket: 2,
      coresPerNode: 1,
      threads: 1,
      memoryBytes: 10 * gi,
      hugepages: 512,
    }),
  );

function memory(
  directory = directories(),
  reserved = "0:memory=1Gi",
): StaticMemory {
  return new StaticMemory({
    nodes: machine().nodes,
    reserved: parseReservedMemory([reserved]),
    checkpoint: new WatchedMemoryCheckpoint(directory, "Static"),
    logger,
  });
}

function container(name: string, limits: Record<string, string>): Container {
  return { name, image: "i", resources: { limits: { cpu: "1", ...limits } } };
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

const podWith = (uid: string, bytes: string): Pod =>
  podOf(uid, [container("c", { memory: bytes })]);

async function allocate(
  of: StaticMemory,
  pod: Pod,
  affinity: TopologyHint = noAffinity,
): Promise<string | undefined> {
  for (const each of [
    ...(pod.spec.initContainers ?? []),
    ...pod.spec.containers,
  ])
    await of.allocate(pod, each, affinity);
  return of.pinning(pod, pod.spec.containers[0]!).cpusetMems;
}

const hintsOf = (of: StaticMemory, pod: Pod): string[] | undefined =>
  of
    .podHints(pod)
    .get("memory")
    ?.map(
      ({ nodes, preferred }) =>
        nodeIds(nodes!).join("+") + (preferred ? "!" : ""),
    );

test("Guaranteed pods get memory of as few nodes as hold it", async () => {
  const manager = memory();
  await manager.start();
  // Node 0 has 8 GiB to give, the others 9.
  expect(await allocate(manager, podWith("a", "8Gi"))).toBe("0");
  expect(await allocate(manager, podWith("b", "4Gi"))).toBe("1");
  const burstable = podWith("x", "1Gi");
  burstable.spec.containers[0]!.resources = { requests: { memory: "1Gi" } };
  expect(await allocate(manager, burstable)).toBeUndefined();
  expect(hintsOf(manager, burstable)).toBeUndefined();
  // 12 GiB need two nodes on which nothing lies yet.
  expect(hintsOf(manager, podWith("c", "12Gi"))).toEqual(["2+3!"]);
  expect(await allocate(manager, podWith("c", "12Gi"))).toBe("2,3");
  // The group's nodes take no block of one node alone, though 6 GiB are free.
  expect(hintsOf(manager, podWith("d", "5Gi"))).toEqual(["1!", "2+3"]);
  expect(await allocate(manager, podWith("d", "5Gi"))).toBe("1");
  expect(await allocate(manager, podWith("e", "5Gi"))).toBe("2,3");
  await expect(allocate(manager, podWith("f", "2Gi"))).rejects.toThrow(
    "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available",
  );
  manager.release("c");
  manager.release("e");
  expect(await allocate(manager, podWith("f", "2Gi"))).toBe("2");
  expect([...manager.holders()]).toEqual(["a", "b", "d", "f"]);
  // What can be given does not depend on what is.
  expect(
    manager
      .allocatable()
      .memory?.filter(({ type }) => type === "memory")
      .map(({ numaAffinity, size }) => [numaAffinity, size / 2 ** 30]),
  ).toEqual([
    [[0], 8],
    [[1], 9],
    [[2], 9],
    [[3], 9],
  ]);
  expect(manager.sharesOf("b", "c").memory).toEqual([
    { numaAffinity: [1], type: "memory", size: 4 * 2 ** 30 },
  ]);
  expect(manager.sharesOf("x", "c").memory).toEqual([]);
  const text = metricsText(manager.metrics());
  expect(text).toContain("kubelet_memory_manager_pinning_requests_total 7");
  expect(text).toContain("kubelet_memory_manager_pinning_errors_total 1");
});

test("the topology manager's place is taken, or grown to one that holds it", async () => {
  const manager = memory();
  await manager.start();
  const on = (...ids: number[]): TopologyHint => ({
    nodes: nodeMask(ids),
    preferred: false,
  });
  expect(await allocate(manager, podWith("a", "2Gi"), on(3))).toBe("3");
  expect(await allocate(manager, podWith("b", "12Gi"), on(1))).toBe("0,1");
  await expect(
    allocate(manager, podWith("c", "12Gi"), { ...on(2), preferred: true }),
  ).rejects.toThrow("failed to find NUMA nodes to extend");
  await expect(
    allocate(manager, podWith("d", "1Gi"), on(2, 3)),
  ).rejects.toThrow("preferred hint violates NUMA node allocation");
});

test("huge pages count by themselves, and both kinds lie on the same nodes", async () => {
  const manager = memory();
  await manager.start();
  const both = podOf("a", [
    container("c", { memory: "1Gi", "hugepages-2Mi": "1536Mi" }),
  ]);
  // A node has 1 GiB of huge pages.
  expect(await allocate(manager, both)).toBe("0,1");
  expect(manager.blocksOf("a", "c")).toEqual([
    { numaAffinity: [0, 1], type: "hugepages-2Mi", size: 1536 * 2 ** 20 },
    { numaAffinity: [0, 1], type: "memory", size: gi },
  ]);
  const unknown = podOf("b", [
    container("c", { memory: "1Gi", "hugepages-1Gi": "1Gi" }),
  ]);
  await expect(allocate(manager, unknown)).rejects.toThrow("failed to get");
});

test("memory of init containers passes to the next containers, sidecars' does not", async () => {
  const manager = memory();
  await manager.start();
  const sidecar: Container = {
    ...container("side", { memory: "2Gi" }),
    restartPolicy: "Always",
  };
  const pod = podOf(
    "a",
    [container("app", { memory: "4Gi" })],
    [container("init", { memory: "6Gi" }), sidecar],
  );
  expect(hintsOf(manager, pod)?.[0]).toBe("0!");
  await allocate(manager, pod, { nodes: 1, preferred: true });
  const size = (name: string): number | undefined =>
    manager.blocksOf("a", name)?.[0]?.size;
  // Together what the pod holds: 6 GiB.
  expect([size("init"), size("side"), size("app")]).toEqual([
    0,
    2 * gi,
    4 * gi,
  ]);
  expect(hintsOf(manager, podWith("b", "2Gi"))?.[0]).toBe("0!");
  expect(hintsOf(manager, podWith("b", "3Gi"))?.[0]).toBe("1!");
});

test("a restarted agent knows what was assigned; other reservations refuse the start", async () => {
  const directory = directories();
  const before = memory(directory);
  await before.start();
  await allocate(before, podWith("a", "12Gi"));
  const file = path.join(directory, "memory_manager_state");
  const written = JSON.parse(fs.readFileSync(file, "utf8"));
  expect(written).toMatchObject({
    policyName: "Static",
    entries: {
      a: { c: [{ numaAffinity: [0, 1], type: "memory", size: 12 * gi }] },
    },
  });
  expect(written.machineState["0"]).toEqual({
    numberOfAssignments: 1,
    cells: [0, 1],
    memoryMap: {
      memory: {
        total: 10 * gi,
        systemReserved: gi,
        allocatable: 8 * gi,
        reserved: 8 * gi,
        free: 0,
      },
      "hugepages-2Mi": {
        total: gi,
        systemReserved: 0,
        allocatable: gi,
        reserved: 0,
        free: gi,
      },
    },
  });
  const after = memory(directory);
  await after.start();
  expect(await allocate(after, podWith("a", "12Gi"))).toBe("0,1");
  expect(hintsOf(after, podWith("a", "12Gi"))).toEqual(["0+1!"]);
  await expect(memory(directory, "0:memory=2Gi").start()).rejects.toThrow(
    `start memory manager error: [memorymanager] the expected machine state is different from the real one, please drain this node and delete the memory manager checkpoint file "${file}"`,
  );
});

/** Files as the reference writes them. */
const ofReference = {
  none: '{"policyName":"None","machineState":{},"checksum":4236770233}',
  other:
    '{"policyName":"static","machineState":{"0":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":2048,"systemReserved":512,"allocatable":1536,"reserved":512,"free":1024}},"cells":[]}},"entries":{"pod":{"container1":[{"numaAffinity":[0],"type":"memory","size":512}]}},"checksum":4215593881}',
};
const stateOf = (text: string): string => {
  const directory = directories();
  fs.writeFileSync(path.join(directory, "memory_manager_state"), text);
  return directory;
};

test("the reference's files are read, and ours have its checksums", async () => {
  await new MemoryCheckpoint(stateOf(ofReference.none), "None").load();
  const found = await new MemoryCheckpoint(
    stateOf(ofReference.other),
    "static" as never,
  ).load();
  expect(found.blocks.get("pod")?.get("container1")?.[0]?.size).toBe(512);
  const directory = directories();
  await new MemoryCheckpoint(directory, "None").load();
  expect(
    fs.readFileSync(path.join(directory, "memory_manager_state"), "utf8"),
  ).toBe(ofReference.none);
});

test.each([
  [
    "another policy",
    ofReference.none,
    '[memorymanager] configured policy "Static" differs from state checkpoint policy "None"',
  ],
  [
    "a changed file",
    ofReference.other.replace("1024", "1025"),
    "checkpoint is corrupted",
  ],
  ["half a file", ofReference.other.slice(0, 90), "could not restore"],
  [
    "other types",
    '{"policyName":"Static","machineState":{"0":5}}',
    "other types",
  ],
  [
    "negative amounts",
    '{"policyName":"Static","entries":{"a":{"c":[{"numaAffinity":[0],"type":"memory","size":-1}]}}}',
    "other types",
  ],
])("%s refuses the start with advice", async (_what, text, message) => {
  const directory = stateOf(text);
  const error = await memory(directory)
    .start()
    .then(
      () => undefined,
      (reason: Error) => reason,
    );
  expect(error?.message).toContain(message);
  expect(error?.message).toContain(
    `please drain this node and delete the memory manager checkpoint file "${directory}/memory_manager_state"`,
  );
});

test.each([
  ["0", "the reserved memory has incorrect format"],
  ["0:memory", "the reserved limit has incorrect value"],
  ["x:memory=1Gi", "failed to convert the NUMA node ID"],
  ["0:disk=1Gi", 'memory type conversion error, unknown type: "disk"'],
  ["0:memory=much", "failed to parse the quantity"],
  ["0:memory=0", "reserved memory may not be zero for NUMA node 0"],
  ["0:memory=1Gi;0:memory=1Gi", "has a duplicate value for NUMA node 0"],
])("--reserved-memory %s is refused", (text, message) => {
  expect(() => parseReservedMemory([text])).toThrow(message);
});

test("reserved memory has to be what the node's daemons and the eviction threshold take", () => {
  const { nodes } = machine();
  const check = (text: string, config: object): void =>
    checkReservedMemory(
      parseReservedMemory(text.split(" ")),
      nodes,
      nodeReservations(
        { systemReserved: {}, kubeReserved: {}, evictionHard: {}, ...config },
        40 * gi,
      ),
    );
  const config = {
    systemReserved: { memory: "500Mi", cpu: "1" },
    kubeReserved: { memory: "424Mi", "hugepages-2Mi": "2Mi" },
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%" },
  };
  check("0:memory=1000Mi,hugepages-2Mi=2Mi 3:memory=24Mi", config);
  expect(() => check("0:memory=1Gi", config)).toThrow(
    'the total amount "0" of type "hugepages-2Mi" is not equal to the value "2Mi" determined by Node Allocatable feature',
  );
  expect(() => check("0:memory=1000Mi,hugepages-2Mi=2Mi", config)).toThrow(
    'the total amount "1000Mi" of type "memory" is not equal to the value "1Gi"',
  );
  expect(() => check("7:memory=1Gi", config)).toThrow(
    "references a NUMA node 7 that does not exist on this machine",
  );
  // A share has the reference's single precision here, too.
  check("1:memory=4294967360", {
    evictionHard: { "memory.available": "10%" },
  });
  expect(() => check("", {})).toThrow(
    "you should specify the system reserved memory",
  );
});
