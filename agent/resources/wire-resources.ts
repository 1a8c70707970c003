// Makes the resource managers that the settings ask for.
import { totalmem } from "node:os";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { parseQuantity, quantityMilliValue } from "../../api/quantity.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isGateOn, type AgentGate } from "../config/feature-gates.ts";
import type { RunningContainer } from "./cpu/cpuset-reconciler.ts";
import { CpuCheckpoint } from "./cpu/cpu-checkpoint.ts";
import { CpuManager } from "./cpu/cpu-manager.ts";
import { CpuPlaces } from "./cpu/cpu-places.ts";
import { checkCpuPolicy, parseCpuPolicyOptions } from "./cpu/cpu-policy.ts";
import { formatCpuList, parseCpuList } from "./machine/cpu-list.ts";
import { without } from "./machine/id-set.ts";
import {
  readMachineTopology,
  type MachineTopology,
} from "./machine/machine-topology.ts";
import { MemoryCheckpoint } from "./memory/memory-checkpoint.ts";
import {
  checkReservedMemory,
  nodeReservations,
  parseReservedMemory,
} from "./memory/reserved-memory.ts";
import { StaticMemory } from "./memory/static-memory.ts";
import {
  cpuPinningFamilies,
  memoryPinningFamilies,
} from "./pinning-metrics.ts";
import {
  ResourceManagers,
  type ResourceManager,
  type UnmanagedResource,
} from "./resource-managers.ts";
import { TopologyManager } from "./topology/topology-manager.ts";
import { parseTopologyOptions } from "./topology/topology-policy.ts";

interface ResourceSurroundings {
  readonly runtime: Pick<Runtime, "updateContainerResources">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws Error that names the option, when the machine or the settings do not fit a policy */
export function wireResources(
  config: AgentConfig,
  surroundings: ResourceSurroundings,
  running: () => readonly RunningContainer[],
): ResourceManagers {
  const noMachine: MachineTopology = { cpus: [], nodes: [] };
  const machine = needsMachine(config) ? readMachineTopology() : noMachine;
  const isOn = (gate: AgentGate): boolean => isGateOn(config, gate);
  return new ResourceManagers({
    topology: new TopologyManager({
      policy: config.topologyManagerPolicy,
      scope: config.topologyManagerScope,
      policyOptions: parseTopologyOptions(
        config.topologyManagerPolicyOptions,
        isOn,
      ),
      nodes: machine.nodes,
      clock: surroundings.clock,
    }),
    managers: [
      wireCpus(config, surroundings, running, machine, isOn),
      wireMemory(config, surroundings, machine),
    ].flatMap((manager) => manager ?? []),
    unmanaged: unmanagedResources(config),
  });
}

/** Their files are looked at, and their counts are 0. */
function unmanagedResources({
  rootDirectory,
  cpuManagerPolicy,
  memoryManagerPolicy,
}: AgentConfig): UnmanagedResource[] {
  const unmanaged: UnmanagedResource[] = [];
  if (cpuManagerPolicy === "none")
    unmanaged.push({
      check: () => new CpuCheckpoint(rootDirectory, "none").load(),
      metrics: () => cpuPinningFamilies(),
    });
  if (memoryManagerPolicy === "None")
    unmanaged.push({
      check: () => new MemoryCheckpoint(rootDirectory, "None").load(),
      metrics: () => memoryPinningFamilies(),
    });
  return unmanaged;
}

/** Named CPUs replace the amounts of CPU that are reserved. */
export function withReservedCpus(config: AgentConfig): AgentConfig {
  if (config.reservedCpus === "") return config;
  const { cpu: _, ...kubeReserved } = config.kubeReserved;
  const count = parseCpuList(config.reservedCpus).length;
  const systemReserved = { ...config.systemReserved, cpu: String(count) };
  return { ...config, kubeReserved, systemReserved };
}

/** The machine is read only for what depends on it. */
function needsMachine(config: AgentConfig): boolean {
  return (
    config.topologyManagerPolicy !== "none" ||
    config.cpuManagerPolicy !== "none" ||
    config.memoryManagerPolicy !== "None" ||
    config.reservedCpus !== "" ||
    config.reservedMemory.length > 0
  );
}

function wireCpus(
  config: AgentConfig,
  { runtime, clock, logger }: ResourceSurroundings,
  running: () => readonly RunningContainer[],
  machine: MachineTopology,
  isOn: (gate: AgentGate) => boolean,
): ResourceManager | undefined {
  const places = new CpuPlaces(machine.cpus);
  const reservedCpus = parseCpuList(config.reservedCpus);
  if (without(reservedCpus, places.all).length > 0)
    throw new Error(
      `reserved-cpus: ${config.reservedCpus} is not a subset of online-cpus: ${formatCpuList(places.all)}`,
    );
  if (config.cpuManagerPolicy === "none") return undefined;
  const policy = parseCpuPolicyOptions(config.cpuManagerPolicyOptions, isOn);
  checkCpuPolicy(policy, places, config.topologyManagerPolicy);
  return new CpuManager({
    directory: config.rootDirectory,
    places,
    policy,
    reservedCount: Math.ceil(reservedCpuMillis(config) / 1000),
    reservedCpus,
    reconcilePeriodMs: config.cpuManagerReconcilePeriodMs,
    running,
    update: (id, pinning) => runtime.updateContainerResources(id, pinning),
    clock,
    logger,
  });
}

function wireMemory(
  config: AgentConfig,
  { logger }: ResourceSurroundings,
  { nodes }: MachineTopology,
): ResourceManager | undefined {
  if (config.memoryManagerPolicy === "None") return undefined;
  const reserved = parseReservedMemory(config.reservedMemory);
  checkReservedMemory(reserved, nodes, nodeReservations(config, totalmem()));
  return new StaticMemory({
    nodes,
    reserved,
    checkpoint: new MemoryCheckpoint(config.rootDirectory, "Static"),
    logger,
  });
}

function reservedCpuMillis(config: AgentConfig): number {
  return [config.systemReserved, config.kubeReserved].reduce(
    (sum, { cpu }) => sum + (cpu ? quantityMilliValue(parseQuantity(cpu)) : 0),
    0,
  );
}
