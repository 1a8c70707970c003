// Pods that come and go on machines of several shapes, through the files of the machine, all managers and the topology
// manager: fixtures/placements.json holds what the reference's managers did with the same pods (its packages cpumanager,
// memorymanager and topologymanager, run by a program of a few lines that fed them these machines and pods).
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { CpuCheckpoint } from "../../../../agent/resources/cpu/cpu-checkpoint.ts";
import { CpuPlaces } from "../../../../agent/resources/cpu/cpu-places.ts";
import { parseCpuPolicyOptions } from "../../../../agent/resources/cpu/cpu-policy.ts";
import { StaticCpus } from "../../../../agent/resources/cpu/static-cpus.ts";
import {
  formatCpuList,
  parseCpuList,
} from "../../../../agent/resources/machine/cpu-list.ts";
import { readMachineTopology } from "../../../../agent/resources/machine/machine-topology.ts";
import { MemoryCheckpoint } from "../../../../agent/resources/memory/memory-checkpoint.ts";
import { StaticMemory } from "../../../../agent/resources/memory/static-memory.ts";
import { TopologyManager } from "../../../../agent/resources/topology/topology-manager.ts";
import { parseTopologyOptions } from "../../../../agent/resources/topology/topology-policy.ts";
import type {
  TopologyPolicy,
  TopologyScope,
} from "../../../../agent/config/resource-policies.ts";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import {
  writeMachine,
  type MachineShape,
} from "../../../support/machine-tree.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

type ByContainer = Record<string, Record<string, string>>;

/** What is held after a step: by pod and container. */
interface Held {
  shared: string;
  cpus: ByContainer;
  memory: ByContainer;
}

interface Recorded {
  shape: MachineShape;
  /** Of the CPU manager, all true. */
  options: string[];
  policy: TopologyPolicy;
  scope: TopologyScope;
  /** prefer-closest-numa-nodes */
  closest: boolean;
  /** One CPU; empty: any one. */
  reservedCpus: string;
  /** `add POD [init:|sidecar:]CONTAINER=CPU,MEMORY[,HUGEPAGES] …`, `remove POD`, `restart` */
  ops: string[];
  results: (Held | { refused: string })[];
}

const recorded = JSON.parse(
  fs.readFileSync(path.join(__dirname, "fixtures/placements.json"), "utf8"),
) as Recorded[];

const directories = useTempDirectories();
const mebibyte = 2 ** 20;

function podOf(uid: string, texts: readonly string[]): Pod {
  const initContainers: Container[] = [];
  const containers: Container[] = [];
  for (const text of texts) {
    const [names = "", amounts = ""] = text.split("=");
    const [name = "", kind = ""] = names.split(":").reverse();
    const [cpu = "", memory = "", hugepages] = amounts.split(",");
    const limits = {
      ...{ cpu, memory },
      ...(hugepages ? { "hugepages-2Mi": hugepages } : {}),
    };
    (kind ? initContainers : containers).push({
      ...{ name, image: "i", resources: { limits, requests: limits } },
      ...(kind === "sidecar" ? { restartPolicy: "Always" } : {}),
    });
  }
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, uid },
    spec: { initContainers, containers },
  };
}

/** The managers of one life of the agent. */
async function managers(
  { options, policy, scope, closest, reservedCpus, shape }: Recorded,
  root: string,
) {
  const machine = readMachineTopology(root);
  const cpuFile = new CpuCheckpoint(root, "static");
  const memoryFile = new MemoryCheckpoint(root, "Static");
  const saves = [jest.spyOn(cpuFile, "save"), jest.spyOn(memoryFile, "save")];
  const topology = new TopologyManager({
    policy,
    scope,
    policyOptions: parseTopologyOptions(
      closest ? { "prefer-closest-numa-nodes": "true" } : {},
      () => true,
    ),
    nodes: machine.nodes,
    clock: new FakeClock(),
  });
  const cpus = new StaticCpus({
    places: new CpuPlaces(machine.cpus),
    policy: parseCpuPolicyOptions(
      Object.fromEntries(options.map((name) => [name, "true"])),
      () => true,
    ),
    reservedCount: 1,
    reservedCpus: parseCpuList(reservedCpus),
    checkpoint: cpuFile,
    onChange: () => undefined,
    onSaveFailure: (error) => {
      throw error;
    },
  });
  const memory = new StaticMemory({
    nodes: machine.nodes,
    reserved: new Map([[0, new Map([["memory", 256 * mebibyte]])]]),
    checkpoint: memoryFile,
    logger: pino({ level: "silent" }),
  });
  for (const manager of [cpus, memory]) {
    await manager.start();
    topology.add(manager);
  }
  return { topology, cpus, memory, shape, saves };
}

type Managers = Awaited<ReturnType<typeof managers>>;

function heldBy({ cpus, memory }: Managers, pods: Iterable<Pod>): Held {
  const held: Held = {
    shared: formatCpuList(cpus.cpusOf("none", "none")),
    cpus: {},
    memory: {},
  };
  for (const { metadata, spec } of pods)
    for (const { name } of [
      ...(spec.initContainers ?? []),
      ...spec.containers,
    ]) {
      const uid = metadata.uid!;
      const own = cpus.exclusiveOf(uid, name);
      if (own) (held.cpus[uid] ??= {})[name] = formatCpuList(own);
      const blocks = memory.blocksOf(uid, name);
      if (blocks)
        (held.memory[uid] ??= {})[name] = blocks
          .map(
            ({ type, numaAffinity, size }) =>
              `${type} ${numaAffinity.join("+")} ${size / mebibyte}Mi`,
          )
          .join(", ");
    }
  return held;
}

/** Nobody waits for the saves of what was released. */
async function settled({ saves }: Managers): Promise<void> {
  for (const save of saves)
    await Promise.all(save.mock.results.map(({ value }) => value));
}

test.each(
  recorded.map((scenario, number) => ({
    scenario,
    what: `${number}: ${scenario.policy}, ${scenario.scope}, ${scenario.options.join(" and ")}`,
  })),
)("placed as by the reference $what", async ({ scenario }) => {
  const root = writeMachine(directories(), scenario.shape);
  let all = await managers(scenario, root);
  const pods = new Map<string, Pod>();
  for (const [step, op] of scenario.ops.entries()) {
    const [what, uid = "", ...containers] = op.split(" ");
    let refused = "";
    if (what === "add") {
      const pod = podOf(uid, containers);
      const refusal = await all.topology.admit(pod);
      if (refusal) refused = `${refusal.reason}: ${refusal.message}`;
      else pods.set(uid, pod);
    } else if (what === "remove") {
      if (pods.delete(uid)) all.topology.release(uid);
    } else {
      await settled(all);
      all = await managers(scenario, root);
      for (const pod of pods.values())
        expect(await all.topology.admit(pod, true)).toBeUndefined();
    }
    const expected = scenario.results[step];
    expect(refused ? { refused } : heldBy(all, pods.values())).toEqual(
      expected,
    );
  }
  await settled(all);
});
