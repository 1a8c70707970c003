// Holds all pods together to what the node has less what is reserved, and the cgroups of system and node daemons to what
// is reserved for them (`--enforce-node-allocatable`). Without "pods" in the list the pods' cgroup has the node's whole
// capacity, as at the reference.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "../../api/quantity.ts";
import { keptBack } from "../../eviction/thresholds.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { StartRefusal } from "../config/start-refusal.ts";
import { isGateOn } from "../config/feature-gates.ts";
import type { PodEvents } from "../events/pod-events.ts";
import type { MachineCapacity } from "./machine.ts";
import { cpuShares } from "../resources/linux-resources.ts";
import type { CgroupLimits } from "../cgroups/cgroup-driver.ts";
import type { CgroupManager } from "../cgroups/cgroup-manager.ts";

type Reserved = Readonly<Record<string, string>>;

interface NodeAllocatableOptions {
  readonly config: AgentConfig;
  readonly cgroups: Pick<CgroupManager, "limit">;
  readonly capacity: () => Promise<MachineCapacity>;
  readonly events: Pick<PodEvents, "node">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const retryMs = 60_000;

export class NodeAllocatable {
  readonly #options: NodeAllocatableOptions;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: NodeAllocatableOptions) {
    this.#options = options;
  }

  /** @throws Error when more is reserved than there is, or a cgroup of the system or of the daemons can't be held to its share: the start fails. */
  async start(): Promise<void> {
    const { config, capacity } = this.#options;
    const found = await capacity();
    checkReservations(found, config);
    if (!config.cgroupsPerQos) return;
    const enforced = new Set(config.enforceNodeAllocatable);
    await this.#limitPods(
      podsLimits(found, enforced.has("pods") ? reservedLists(config) : []),
    );
    await this.#limitDaemons(
      "system-reserved",
      config.systemReservedCgroup,
      config.systemReserved,
    );
    await this.#limitDaemons(
      "kube-reserved",
      config.kubeReservedCgroup,
      config.kubeReserved,
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Pods may use more than the new limit when it was lowered: then it is set again until evictions brought them below. */
  async #limitPods(limits: CgroupLimits): Promise<void> {
    const { config, cgroups, events, clock } = this.#options;
    try {
      await cgroups.limit(config.cgroupRoot, limits);
      events.node(
        "Normal",
        "NodeAllocatableEnforced",
        "Updated Node Allocatable limit across pods",
      );
    } catch (error) {
      events.node(
        "Warning",
        "FailedNodeAllocatableEnforcement",
        `Failed to update Node Allocatable Limits ${JSON.stringify(config.cgroupRoot)}: ${(error as Error).message}`,
      );
      if (!this.#stopped)
        this.#timer = clock.after(retryMs, () => void this.#limitPods(limits));
    }
  }

  async #limitDaemons(
    key: "system-reserved" | "kube-reserved",
    path: string,
    reserved: Reserved,
  ): Promise<void> {
    const { config, cgroups, events } = this.#options;
    const compressible = config.enforceNodeAllocatable.includes(
      `${key}-compressible`,
    );
    if (!compressible && !config.enforceNodeAllocatable.includes(key)) return;
    const name = key === "system-reserved" ? "system" : "kube";
    const limits = daemonLimits(
      reserved,
      compressible,
      isGateOn(config, "MemoryQoS"),
    );
    try {
      await cgroups.limit(path, limits);
    } catch (error) {
      const message = `Failed to enforce ${name === "system" ? "System" : "Kube"} Reserved ${compressible ? "Compressible " : ""}Cgroup Limits on ${JSON.stringify(path)}: ${(error as Error).message}`;
      events.node("Warning", "FailedNodeAllocatableEnforcement", message);
      throw new Error(message, { cause: error });
    }
    events.node(
      "Normal",
      "NodeAllocatableEnforced",
      `Updated limits on ${name} reserved cgroup ${path}`,
    );
  }
}

/** The node would have nothing to give: a slip in a size, which the reference refuses, too. */
function checkReservations(
  capacity: MachineCapacity,
  config: AgentConfig,
): void {
  const value = (text: string): number => quantityValue(parseQuantity(text));
  const millis = (text: string): number =>
    quantityMilliValue(parseQuantity(text)) / 1000;
  const kept = (signal: "memory.available" | "nodefs.available", of: number) =>
    keptBack(config.evictionHard, signal, of);
  const { cpus, memoryBytes, storageBytes } = capacity;
  const all = [
    { name: "cpu", has: cpus, amount: millis, kept: 0 },
    {
      ...{ name: "memory", has: memoryBytes, amount: value },
      kept: kept("memory.available", memoryBytes),
    },
    ...(config.localStorageCapacityIsolation
      ? [
          {
            ...{ name: "ephemeral-storage", has: storageBytes, amount: value },
            kept: kept("nodefs.available", storageBytes),
          },
        ]
      : []),
  ];
  const problems = all.flatMap(({ name, has, amount, kept }) => {
    const reserved = reservedLists(config)
      .flatMap((list) => list[name] ?? [])
      .reduce((sum, text) => sum + amount(text), kept);
    return reserved <= has
      ? []
      : [
          `Resource "${name}" has a reservation of ${reserved} but capacity of ${has}. Expected capacity >= reservation.`,
        ];
  });
  if (problems.length > 0)
    throw new StartRefusal(
      `invalid Node Allocatable configuration. ${problems.join(" ")}`,
    );
}

function reservedLists(config: AgentConfig): readonly Reserved[] {
  return [config.systemReserved, config.kubeReserved];
}

/** The reservations are taken off; eviction thresholds are not: pods may grow until they are evicted. */
export function podsLimits(
  capacity: MachineCapacity,
  reserved: readonly Reserved[],
): CgroupLimits {
  const sum = (name: string, value: (text: string) => number): number =>
    reserved.reduce(
      (total, list) => total + (list[name] ? value(list[name]) : 0),
      0,
    );
  const bytes = (text: string): number => quantityValue(parseQuantity(text));
  const millis = (text: string): number =>
    quantityMilliValue(parseQuantity(text));
  const pids = sum("pid", bytes);
  return {
    cpuShares: cpuShares(
      Math.max(0, capacity.cpus * 1000 - sum("cpu", millis)),
    ),
    memoryLimitBytes: Math.max(0, capacity.memoryBytes - sum("memory", bytes)),
    ...(pids > 0 ? { maxPids: Math.max(1, capacity.maxPids - pids) } : {}),
  };
}

/** @param memoryMin whether what is reserved is kept from reclaim, too; version 2 of cgroups alone has it */
export function daemonLimits(
  reserved: Reserved,
  compressible: boolean,
  memoryMin: boolean,
): CgroupLimits {
  const { cpu, memory, pid } = reserved;
  const memoryBytes =
    memory && !compressible ? quantityValue(parseQuantity(memory)) : undefined;
  return {
    ...(cpu
      ? { cpuShares: cpuShares(quantityMilliValue(parseQuantity(cpu))) }
      : {}),
    ...(memoryBytes === undefined ? {} : { memoryLimitBytes: memoryBytes }),
    ...(memoryBytes !== undefined && memoryMin
      ? { memoryMinBytes: memoryBytes }
      : {}),
    ...(pid && !compressible
      ? { maxPids: quantityValue(parseQuantity(pid)) }
      : {}),
  };
}
