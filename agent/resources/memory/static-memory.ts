// The static memory policy: the memory and huge pages of Guaranteed pods come from NUMA nodes that are reserved for them,
// as few as possible, and the kernel allocates on these nodes only (cpuset.mems).
// Invariants: a node holds either blocks of single nodes or those of one group; memory of an ended init container is
// taken over by the pod's next ones on the same nodes; what was assigned is on disk before its container starts.
import type { Logger } from "pino";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { isSidecar } from "../../pods/shape/pod-shape.ts";
import { StateFileError } from "../checkpoint-file.ts";
import { sameIds, union } from "../machine/id-set.ts";
import type { MachineNode } from "../machine/machine-topology.ts";
import type {
  Pinning,
  ResourceManager,
  ResourceShares,
} from "../resource-managers.ts";
import { memoryPinningFamilies } from "../pinning-metrics.ts";
import type { TopologyHint, TopologyHints } from "../topology/hint-provider.ts";
import { nodeIds, nodeMask, type NodeMask } from "../topology/numa-nodes.ts";
import type {
  MemoryAssignments,
  MemoryBlock,
  MemoryCheckpoint,
} from "./memory-checkpoint.ts";
import {
  memoryDemand,
  podMemoryDemand,
  type MemoryDemand,
} from "./memory-demand.ts";
import { bestHint, memoryHints } from "./memory-hints.ts";
import { NodeMemory, type ReservedMemory } from "./node-memory.ts";

interface StaticMemoryOptions {
  readonly nodes: readonly MachineNode[];
  readonly reserved: ReservedMemory;
  readonly checkpoint: MemoryCheckpoint;
  readonly logger: Logger;
}

export class StaticMemory implements ResourceManager {
  readonly #options: StaticMemoryOptions;
  #assigned: MemoryAssignments = {
    machine: new NodeMemory(new Map()),
    blocks: new Map(),
  };
  /** What init containers of the pod that was looked at last left: bytes by `nodes resource`. */
  #reusable = { uid: "", bytes: new Map<string, number>() };
  #requests = 0;
  #failures = 0;

  constructor(options: StaticMemoryOptions) {
    this.#options = options;
  }

  /** @throws Error when what was assigned before does not fit the machine or the reservations */
  async start(): Promise<void> {
    const { checkpoint, nodes, reserved } = this.#options;
    const found = await checkpoint.load();
    if (found.machine.nodes.size === 0 && found.blocks.size === 0) {
      found.machine = NodeMemory.ofMachine(nodes, reserved);
      await checkpoint.save(found);
    } else {
      const problem = this.#problemOf(found);
      if (problem)
        throw new StateFileError(
          `start memory manager error: [memorymanager] ${problem}`,
          "memory",
          checkpoint.path,
        );
    }
    this.#assigned = found;
  }

  stop(): void {
    // There is nothing that runs by itself.
  }

  #problemOf({ machine, blocks }: MemoryAssignments): string | undefined {
    if (machine.nodes.size === 0)
      return "machine state can not be empty when it has memory assignments";
    const expected = NodeMemory.ofMachine(
      this.#options.nodes,
      this.#options.reserved,
    );
    for (const [uid, containers] of blocks)
      for (const [name, list] of containers)
        for (const { numaAffinity, type, size } of list) {
          const states = numaAffinity.map((id) => expected.nodes.get(id));
          const of = `(pod: ${uid}, container: ${name}) the memory assignment uses`;
          if (states.includes(undefined))
            return `${of} the NUMA that does not exist`;
          if (states.some((state) => !state?.memoryMap[type]))
            return `${of} memory resource that does not exist`;
          expected.take(numaAffinity, type, size);
        }
    return machine.equals(expected)
      ? undefined
      : "the expected machine state is different from the real one";
  }

  blocksOf(uid: string, container: string): readonly MemoryBlock[] | undefined {
    return this.#assigned.blocks.get(uid)?.get(container);
  }

  holders(): Iterable<string> {
    return this.#assigned.blocks.keys();
  }

  pinning({ metadata }: Pod, { name }: Container): Pinning {
    const blocks = this.blocksOf(metadata.uid ?? "", name) ?? [];
    const nodes = union(...blocks.map(({ numaAffinity }) => numaAffinity));
    return nodes.length > 0 ? { cpusetMems: nodes.join(",") } : {};
  }

  sharesOf(uid: string, container: string): Partial<ResourceShares> {
    return { memory: this.blocksOf(uid, container) ?? [] };
  }

  allocatable(): Partial<ResourceShares> {
    const memory = [...this.#assigned.machine.nodes].flatMap(
      ([id, { memoryMap }]) =>
        Object.entries(memoryMap).flatMap(([type, { allocatable: size }]) =>
          size > 0 ? [{ numaAffinity: [id], type, size }] : [],
        ),
    );
    return { memory };
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    const demand = memoryDemand(pod, container);
    const has = this.blocksOf(pod.metadata.uid ?? "", container.name);
    return has ? hintsOf(has, demand) : this.#hints(pod, demand);
  }

  podHints(pod: Pod): TopologyHints {
    const demand = podMemoryDemand(pod);
    for (const { name } of [
      ...(pod.spec.initContainers ?? []),
      ...pod.spec.containers,
    ]) {
      const has = this.blocksOf(pod.metadata.uid ?? "", name);
      if (has) return hintsOf(has, demand);
    }
    return this.#hints(pod, demand);
  }

  #hints(pod: Pod, demand: MemoryDemand): TopologyHints {
    if (demand.size === 0) return new Map();
    const hints = this.#possible(pod, demand);
    // Without any place there is no list either: the allocation then says why.
    return new Map(
      hints.length === 0 ? [] : [...demand.keys()].map((name) => [name, hints]),
    );
  }

  #possible(pod: Pod, demand: MemoryDemand): TopologyHint[] {
    return memoryHints(this.#assigned.machine, demand, (nodes, name) =>
      this.#reusableOn(pod, nodes, name),
    );
  }

  #reusableOn(pod: Pod, nodes: NodeMask, name: string): number {
    return this.#reusable.uid === pod.metadata.uid
      ? (this.#reusable.bytes.get(`${nodes} ${name}`) ?? 0)
      : 0;
  }

  async allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint,
  ): Promise<void> {
    const demand = memoryDemand(pod, container);
    if (demand.size === 0) return;
    const uid = pod.metadata.uid ?? "";
    const has = this.blocksOf(uid, container.name);
    if (has) return this.#passOn(pod, container, has);
    this.#requests++;
    let nodes: NodeMask;
    try {
      nodes = this.#place(pod, demand, affinity);
    } catch (error) {
      this.#failures++;
      throw error;
    }
    const { machine, blocks } = this.#assigned;
    const numaAffinity = nodeIds(nodes);
    const own = [...demand].map(([type, size]): MemoryBlock => ({
      numaAffinity,
      type,
      size,
    }));
    for (const { type, size } of own)
      machine.take(
        numaAffinity,
        type,
        Math.max(0, size - this.#reusableOn(pod, nodes, type)),
      );
    this.#passOn(pod, container, own);
    const containers = blocks.get(uid) ?? new Map<string, MemoryBlock[]>();
    blocks.set(uid, containers.set(container.name, own));
    takeOver(pod, container, own, containers);
    await this.#options.checkpoint.save(this.#assigned);
  }

  /** @throws Error when no nodes can give it */
  #place(pod: Pod, demand: MemoryDemand, affinity: TopologyHint): NodeMask {
    const { machine } = this.#assigned;
    const hints = this.#possible(pod, demand);
    const fail = (why: string): never => {
      throw new Error(`[memorymanager] ${why}`);
    };
    let chosen = affinity;
    if (chosen.nodes === undefined) {
      const any =
        bestHint(hints) ??
        fail(
          "failed to get the default NUMA affinity, no NUMA nodes with enough memory is available",
        );
      if (!any.preferred && affinity.preferred)
        fail("failed to find the default preferred hint");
      chosen = any;
    }
    let nodes = chosen.nodes!;
    const hasAll = [...demand].every(
      ([name, bytes]) => machine.sum(nodeIds(nodes), name, "free") >= bytes,
    );
    if (!hasAll) {
      // The merged hint may be a part of what was offered: it grows to one of the offers.
      const larger =
        bestHint(hints.filter((hint) => (nodes & ~hint.nodes!) === 0)) ??
        fail("failed to find NUMA nodes to extend the current topology hint");
      if (!larger.preferred && chosen.preferred)
        fail("failed to find the extended preferred hint");
      nodes = larger.nodes;
    }
    const inside = nodeIds(nodes);
    if (inside.length > 1 && !machine.allows(inside))
      fail("preferred hint violates NUMA node allocation");
    return nodes;
  }

  /** An init container's memory is free for the pod's next containers when it has ended; a sidecar's is not. */
  #passOn(
    pod: Pod,
    container: Container,
    blocks: readonly MemoryBlock[],
  ): void {
    const uid = pod.metadata.uid ?? "";
    if (this.#reusable.uid !== uid) this.#reusable = { uid, bytes: new Map() };
    for (const { numaAffinity, type, size } of blocks) {
      const key = `${nodeMask(numaAffinity)} ${type}`;
      const before = this.#reusable.bytes.get(key) ?? 0;
      this.#reusable.bytes.set(
        key,
        endsBeforeOthers(pod, container)
          ? Math.max(before, size)
          : Math.max(0, before - size),
      );
    }
  }

  release(uid: string): void {
    const { machine, blocks } = this.#assigned;
    const containers = blocks.get(uid);
    if (!containers) return;
    blocks.delete(uid);
    for (const list of containers.values())
      for (const { numaAffinity, type, size } of list)
        machine.giveBack(numaAffinity, type, size);
    const { checkpoint, logger } = this.#options;
    checkpoint
      .save(this.#assigned)
      .catch((error: unknown) =>
        logger.error({ err: error }, "can't write the state of the memory"),
      );
  }

  metrics(): Family[] {
    return memoryPinningFamilies({
      requests: this.#requests,
      errors: this.#failures,
    });
  }
}

function endsBeforeOthers(pod: Pod, container: Container): boolean {
  return (
    !isSidecar(container) &&
    (pod.spec.initContainers ?? []).some(({ name }) => name === container.name)
  );
}

/** Hints for what a container has: only where it lies. Other amounts than asked for: no preference. */
function hintsOf(
  blocks: readonly MemoryBlock[],
  demand: MemoryDemand,
): TopologyHints {
  const isAsked =
    blocks.length === demand.size &&
    blocks.every(({ type, size }) => demand.get(type) === size);
  if (!isAsked) return new Map();
  return new Map(
    blocks.map(({ type, numaAffinity }) => [
      type,
      [{ nodes: nodeMask(numaAffinity), preferred: true }],
    ]),
  );
}

/** The blocks of ended init containers shrink by what the container took over, so that a pod's blocks sum up to what it has. */
function takeOver(
  pod: Pod,
  container: Container,
  own: readonly MemoryBlock[],
  containers: ReadonlyMap<string, readonly MemoryBlock[]>,
): void {
  for (const { type, size, numaAffinity } of own) {
    let left = size;
    for (const init of pod.spec.initContainers ?? []) {
      if (init.name === container.name) break;
      if (isSidecar(init)) continue;
      for (const block of containers.get(init.name) ?? []) {
        if (block.type !== type || !sameIds(block.numaAffinity, numaAffinity))
          continue;
        const part = Math.min(left, block.size);
        block.size -= part;
        left -= part;
      }
    }
  }
}
