// What of each NUMA node's memory is given to containers.
//
// Worked example: nodes of 10 GiB, 1 GiB of each reserved. A container with 12 GiB on nodes {0,1}: 9 GiB of node 0 and 3
// of node 1 are reserved, and both nodes form a group (cells 0,1). Until it ends no container may lie on one of them
// alone or on another group.
// Invariant: free + reserved = allocatable, of each node and resource.
import type { MachineNode } from "../machine/machine-topology.ts";
import { sameIds, type Ids } from "../machine/id-set.ts";

interface MemoryTable {
  total: number;
  systemReserved: number;
  allocatable: number;
  reserved: number;
  free: number;
}

export interface NodeState {
  /** Blocks that lie on the node. */
  numberOfAssignments: number;
  memoryMap: Record<string, MemoryTable>;
  /** The nodes of its group, itself among them. */
  cells: Ids;
}

/** Bytes reserved for the system, by node and resource. */
export type ReservedMemory = ReadonlyMap<number, ReadonlyMap<string, number>>;

export class NodeMemory {
  readonly nodes: ReadonlyMap<number, NodeState>;

  constructor(nodes: ReadonlyMap<number, NodeState>) {
    this.nodes = nodes;
  }

  /** With nothing given away. */
  static ofMachine(
    machine: readonly MachineNode[],
    reserved: ReservedMemory,
  ): NodeMemory {
    return new NodeMemory(
      new Map(
        machine.map(({ id, memoryBytes, hugepages }) => {
          const table = (name: string, total: number, rest: number) => {
            const systemReserved = reserved.get(id)?.get(name) ?? 0;
            const allocatable = Math.max(0, rest - systemReserved);
            const free = allocatable;
            return { total, systemReserved, allocatable, reserved: 0, free };
          };
          const memoryMap: Record<string, MemoryTable> = {};
          let inPages = 0;
          for (const [name, bytes] of Object.entries(hugepages)) {
            memoryMap[name] = table(name, bytes, bytes);
            inPages += bytes;
          }
          memoryMap.memory = table(
            "memory",
            memoryBytes,
            memoryBytes - inPages,
          );
          return [id, { numberOfAssignments: 0, memoryMap, cells: [id] }];
        }),
      ),
    );
  }

  get ids(): number[] {
    return [...this.nodes.keys()].sort((a, b) => a - b);
  }

  sum(nodes: Ids, resource: string, of: "free" | "allocatable"): number {
    return nodes.reduce(
      (sum, id) => sum + (this.nodes.get(id)?.memoryMap[resource]?.[of] ?? 0),
      0,
    );
  }

  /** Whether a block may lie on exactly these nodes: they hold none, or only such blocks. */
  allows(nodes: Ids): boolean {
    return nodes.every((id) => {
      const { numberOfAssignments, cells } = this.nodes.get(id)!;
      return numberOfAssignments === 0 || sameIds(cells, nodes);
    });
  }

  /** `bytes` may be less than the block's, when it takes over memory that is given already. */
  take(nodes: Ids, resource: string, bytes: number): void {
    let left = bytes;
    for (const id of nodes) {
      const node = this.nodes.get(id)!;
      node.numberOfAssignments++;
      node.cells = nodes;
      const table = node.memoryMap[resource];
      if (!table) continue;
      const part = Math.min(left, table.free);
      table.reserved += part;
      table.free -= part;
      left -= part;
    }
  }

  giveBack(nodes: Ids, resource: string, bytes: number): void {
    let left = bytes;
    for (const id of nodes) {
      const node = this.nodes.get(id)!;
      node.numberOfAssignments--;
      if (node.numberOfAssignments === 0) node.cells = [id];
      const table = node.memoryMap[resource];
      if (!table) continue;
      const part = Math.min(left, table.reserved);
      table.reserved -= part;
      table.free += part;
      left -= part;
    }
  }

  /** Whether both describe the same machine with the same amounts given away; within a group the places may differ. */
  equals(other: NodeMemory): boolean {
    if (!sameIds(this.ids, other.ids)) return false;
    return this.ids.every((id) => {
      const a = this.nodes.get(id)!;
      const b = other.nodes.get(id)!;
      const names = Object.keys(a.memoryMap);
      return (
        a.numberOfAssignments === b.numberOfAssignments &&
        sameIds(a.cells, b.cells) &&
        names.length === Object.keys(b.memoryMap).length &&
        names.every(
          (name) =>
            isSameTable(a.memoryMap[name]!, b.memoryMap[name]) &&
            this.sum(a.cells, name, "free") ===
              other.sum(a.cells, name, "free"),
        )
      );
    });
  }
}

function isSameTable(a: MemoryTable, b: MemoryTable | undefined): boolean {
  return (
    a.total === b?.total &&
    a.systemReserved === b.systemReserved &&
    a.allocatable === b.allocatable
  );
}
