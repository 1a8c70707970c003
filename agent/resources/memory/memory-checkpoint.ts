// The state of the memory manager as a file, `memory_manager_state`, in the reference's form with its checksum. A file of
// another policy, or one that is damaged, refuses the start: containers may lie on nodes that it names.
import { join } from "node:path";
import type { MemoryPolicy } from "../../config/resource-policies.ts";
import {
  CheckpointFile,
  fnv1a32,
  sortedEntries,
  StateFileError,
} from "../checkpoint-file.ts";
import type { Ids } from "../machine/id-set.ts";
import { NodeMemory, type NodeState } from "./node-memory.ts";

export interface MemoryBlock {
  readonly numaAffinity: Ids;
  /** The resource. */
  readonly type: string;
  size: number;
}

export interface MemoryAssignments {
  machine: NodeMemory;
  /** By the pod's uid and the container's name. */
  readonly blocks: Map<string, Map<string, MemoryBlock[]>>;
}

type MachineState = Record<string, NodeState>;
type Entries = Record<string, Record<string, MemoryBlock[]>>;

const fileName = "memory_manager_state";

export class MemoryCheckpoint {
  readonly #file: CheckpointFile;
  readonly #policy: MemoryPolicy;

  constructor(directory: string, policy: MemoryPolicy) {
    this.#file = new CheckpointFile(join(directory, fileName));
    this.#policy = policy;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Without a file: no nodes and no blocks, and the file is written. @throws Error with the reference's advice */
  async load(): Promise<MemoryAssignments> {
    try {
      const found = await this.#file.read();
      if (found) return this.#assignments(found);
    } catch (error) {
      throw new StateFileError(
        `could not restore state from checkpoint: ${(error as Error).message}`,
        "memory",
        this.path,
        error,
      );
    }
    const empty = { machine: new NodeMemory(new Map()), blocks: new Map() };
    await this.save(empty);
    return empty;
  }

  async save({ machine, blocks }: MemoryAssignments): Promise<void> {
    await this.#file.save(() => {
      const machineState: MachineState = Object.fromEntries(machine.nodes);
      const entries: Entries = Object.fromEntries(
        [...blocks].map(([uid, containers]) => [
          uid,
          Object.fromEntries(containers),
        ]),
      );
      return {
        policyName: this.#policy,
        machineState,
        ...(blocks.size > 0 ? { entries } : {}),
        checksum: checksum(this.#policy, machineState, entries),
      };
    });
  }

  #assignments(found: Record<string, unknown>): MemoryAssignments {
    const { policyName = "", machineState = {}, entries = {} } = found;
    if (
      typeof policyName !== "string" ||
      !isMapOf(machineState, isNodeState) ||
      !isMapOf(entries, (each) =>
        isMapOf(each, (list) => Array.isArray(list) && list.every(isBlock)),
      )
    )
      throw new Error("its fields have other types than expected");
    const states = machineState as MachineState;
    const assigned = entries as Entries;
    if (found["checksum"] !== checksum(policyName, states, assigned))
      throw new Error("checkpoint is corrupted");
    if (policyName !== this.#policy)
      throw new Error(
        `[memorymanager] configured policy ${JSON.stringify(this.#policy)} differs from state checkpoint policy ${JSON.stringify(policyName)}`,
      );
    return {
      machine: new NodeMemory(
        new Map(
          Object.entries(states).map(([id, state]) => [Number(id), state]),
        ),
      ),
      blocks: new Map(
        Object.entries(assigned).map(([uid, containers]) => [
          uid,
          new Map(Object.entries(containers)),
        ]),
      ),
    };
  }
}

const isAmount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0;
const isIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isAmount);

function isMapOf(value: unknown, inner: (each: unknown) => boolean): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(inner)
  );
}

function isNodeState(value: unknown): boolean {
  const { numberOfAssignments, memoryMap, cells } = Object(value) as NodeState;
  const isTable = (table: unknown): boolean =>
    isMapOf(table, isAmount) &&
    ["total", "systemReserved", "allocatable", "reserved", "free"].every(
      (name) => Object.hasOwn(table as object, name),
    );
  return (
    isAmount(numberOfAssignments) && isIds(cells) && isMapOf(memoryMap, isTable)
  );
}

function isBlock(value: unknown): boolean {
  const { numaAffinity, type, size } = Object(value) as MemoryBlock;
  return isIds(numaAffinity) && typeof type === "string" && isAmount(size);
}

function checksum(
  policy: string,
  machineState: MachineState,
  entries: Entries,
): number {
  const nodes = Object.entries(machineState)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([id, { numberOfAssignments, memoryMap, cells }]) => {
      const tables = sortedEntries(memoryMap).map(
        ([name, table]) =>
          `${name}:<*>{TotalMemSize:(uint64)${table.total} SystemReserved:(uint64)${table.systemReserved} Allocatable:(uint64)${table.allocatable} Reserved:(uint64)${table.reserved} Free:(uint64)${table.free}}`,
      );
      return `${id}:<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)map[${tables.join(" ")}] Cells:([]int)[${cells.join(" ")}]}`;
    });
  const pods = sortedEntries(entries).map(([uid, containers]) => {
    const inner = sortedEntries(containers).map(([name, blocks]) => {
      const written = blocks.map(
        ({ numaAffinity, type, size }) =>
          `{NUMAAffinity:([]int)[${numaAffinity.join(" ")}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`,
      );
      return `${name}:[${written.join(" ")}]`;
    });
    return `${uid}:map[${inner.join(" ")}]`;
  });
  return fnv1a32(
    `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policy} MachineState:(state.NUMANodeMap)map[${nodes.join(" ")}] Entries:(state.ContainerMemoryAssignments)map[${pods.join(" ")}] Checksum:(checksum.Checksum)0}`,
  );
}
