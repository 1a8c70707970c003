// CPUs and memory of containers' own on this machine, with containerd and the kernel's cpusets: given at the start, taken
// from the shared containers that run, kept over a restart of the agent, given back.
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { AgentConfig } from "../../../agent/config/agent-config.ts";
import { parseCpuList } from "../../../agent/resources/machine/cpu-list.ts";
import { readMachineTopology } from "../../../agent/resources/machine/machine-topology.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let node: NodeFixture;

beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => await node?.close());

const settings: Partial<AgentConfig> & { nodeName: string } = {
  nodeName: "test-node",
  cpuManagerPolicy: "static",
  systemReserved: { cpu: "500m" },
};

async function agentWith(config: Partial<AgentConfig> = {}): Promise<Agent> {
  const agent = node.agent({ config: { ...settings, ...config } });
  await agent.start();
  return agent;
}

/** CPUs on which the first process of the pod's container may run. */
async function allowed(agent: Agent, name: string): Promise<number[]> {
  const pod = agent
    .pods()
    .find(({ metadata }) => metadata.name.startsWith(name));
  const id = pod?.status?.containerStatuses?.[0]?.containerID;
  if (!id) return [];
  const { pid } = await node.runtime.containerStatus(id.split("//")[1]!, true);
  const status = await fs
    .readFile(`/proc/${pid}/status`, "utf8")
    .catch(() => "");
  return parseCpuList(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? "");
}

function guaranteed(name: string, cpu: string): Pod {
  const pod = busyboxPod(name, "sleep 1000");
  pod.spec.containers[0]!.resources = { limits: { cpu, memory: "32Mi" } };
  return pod;
}

const all = Array.from({ length: os.cpus().length }, (_, id) => id);

test("a pod with a CPU of its own, and others beside it", async () => {
  const first = await agentWith();
  await node.writePod("shared.yaml", busyboxPod("shared", "sleep 1000"));
  await eventually(async () => (await allowed(first, "shared")).length > 0);
  expect(await allowed(first, "shared")).toEqual(all);

  // One CPU stays reserved for the system.
  await node.writePod("own.yaml", guaranteed("own", String(all.length - 1)));
  await eventually(async () => (await allowed(first, "own")).length > 0);
  const own = await allowed(first, "own");
  expect(own).toHaveLength(all.length - 1);
  expect(own).not.toContain(0);
  // The other container was moved while it ran.
  await eventually(async () => {
    const shared = await allowed(first, "shared");
    return shared.length === 1 && shared[0] === 0;
  });
  // There is none left.
  await node.writePod("more.yaml", guaranteed("more", "1"));
  const refused = await eventually(() =>
    first
      .pods()
      .find(
        ({ metadata, status }) =>
          metadata.name.startsWith("more") && status?.phase === "Failed",
      ),
  );
  expect(refused!.status).toMatchObject({
    reason: "UnexpectedAdmissionError",
    message:
      "Pod was rejected: Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected",
  });
  await fs.rm(path.join(node.manifests, "more.yaml"));

  // A restarted agent leaves both as they are.
  await first.stop();
  const second = await agentWith();
  await eventually(async () => (await allowed(second, "own")).length > 0);
  expect(await allowed(second, "own")).toEqual(own);
  await eventually(async () => (await allowed(second, "shared")).length > 0);
  expect(await allowed(second, "shared")).toEqual([0]);
  // The pod ends: all CPUs are shared again.
  await fs.rm(path.join(node.manifests, "own.yaml"));
  await eventually(
    async () => (await allowed(second, "shared")).length === all.length,
  );
  await second.stop();
});

test("memory and CPUs of one NUMA node, and a pod that finds none", async () => {
  const aligned: Partial<AgentConfig> = {
    memoryManagerPolicy: "Static",
    topologyManagerPolicy: "single-numa-node",
    systemReserved: { cpu: "500m", memory: "412Mi" },
    evictionHard: { "memory.available": "100Mi" },
    reservedMemory: ["0:memory=512Mi"],
  };
  const memoryState = path.join(node.directory, "agent/memory_manager_state");
  await fs.rm(memoryState);
  await expect(
    agentWith({ ...aligned, reservedMemory: ["0:memory=1Gi"] }),
  ).rejects.toThrow(
    'the total amount "1Gi" of type "memory" is not equal to the value "512Mi" determined by Node Allocatable feature',
  );
  const agent = await agentWith(aligned);
  // One pod takes what a node has; of nodes with as many CPUs each gets one, the lowest first.
  const { cpus, nodes } = readMachineTopology();
  const free = new Map(
    nodes.map(({ id }) => [
      id,
      cpus.filter((cpu) => cpu.node === id && cpu.id !== 0).length,
    ]),
  );
  const most = Math.max(...free.values());
  const whole = [...free].filter(([, count]) => count === most);
  for (const [id] of whole) {
    await node.writePod(
      `aligned-${id}.yaml`,
      guaranteed(`aligned-${id}`, String(most)),
    );
    await eventually(
      async () => (await allowed(agent, `aligned-${id}`)).length > 0,
    );
    expect(await allowed(agent, `aligned-${id}`)).toEqual(
      cpus
        .filter((cpu) => cpu.node === id && cpu.id !== 0)
        .map((cpu) => cpu.id),
    );
  }
  const state = JSON.parse(await fs.readFile(memoryState, "utf8")) as {
    entries: Record<string, Record<string, unknown>>;
  };
  expect(Object.values(state.entries)).toHaveLength(whole.length);
  expect(Object.values(state.entries)).toEqual(
    expect.arrayContaining(
      whole.map(([id]) => ({
        main: [{ numaAffinity: [id], type: "memory", size: 32 * 2 ** 20 }],
      })),
    ),
  );
  await node.writePod("late.yaml", guaranteed("late", String(most)));
  const refused = await eventually(() =>
    agent
      .pods()
      .find(
        ({ metadata, status }) =>
          metadata.name.startsWith("late") && status?.phase === "Failed",
      ),
  );
  expect(refused!.status).toMatchObject({
    reason: "TopologyAffinityError",
    message:
      "Pod was rejected: Resources cannot be allocated with Topology locality",
  });
  await fs.rm(path.join(node.manifests, "late.yaml"));
  for (const [id] of whole)
    await fs.rm(path.join(node.manifests, `aligned-${id}.yaml`));
  await eventually(
    async () => !(await fs.readFile(memoryState, "utf8")).includes("entries"),
  );
  await agent.stop();
  await fs.rm(memoryState);
});

test("a change of the policy refuses the start until the state file is removed", async () => {
  const file = path.join(node.directory, "agent/cpu_manager_state");
  await expect(agentWith({ cpuManagerPolicy: "none" })).rejects.toThrow(
    `configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "${file}"`,
  );
  await fs.rm(file);
  const agent = await agentWith({ cpuManagerPolicy: "none" });
  await agent.stop();
});
