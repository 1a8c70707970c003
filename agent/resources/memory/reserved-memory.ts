// `--reserved-memory`: what of each NUMA node's memory is kept for the system. In total it has to be what node allocatable
// leaves out: the reservations of the node's daemons and the hard eviction threshold.
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import { formatBinary } from "../../../eviction/format.ts";
import { keptBack } from "../../../eviction/thresholds.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { MachineNode } from "../machine/machine-topology.ts";
import { isMemoryResource } from "./memory-demand.ts";
import type { ReservedMemory } from "./node-memory.ts";

/** `0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi`. @throws Error with the reference's text */
export function parseReservedMemory(texts: readonly string[]): ReservedMemory {
  const reserved = new Map<number, Map<string, number>>();
  for (const text of texts.flatMap((each) => each.split(";")).filter(Boolean)) {
    const [node = "", limits, ...more] = text.split(":");
    if (limits === undefined || more.length > 0)
      throw new Error(
        `the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got ${text}`,
      );
    if (!/^\d{1,9}$/.test(node))
      throw new Error(
        `failed to convert the NUMA node ID, expected integer, got ${node}`,
      );
    const ofNode = reserved.get(Number(node)) ?? new Map<string, number>();
    reserved.set(Number(node), ofNode);
    for (const limit of limits.split(",")) addLimit(ofNode, node, limit);
  }
  return reserved;
}

function addLimit(
  ofNode: Map<string, number>,
  node: string,
  limit: string,
): void {
  const [name = "", quantity, ...more] = limit.split("=");
  if (quantity === undefined || more.length > 0)
    throw new Error(
      `the reserved limit has incorrect value, expected type=quantity, got ${limit}`,
    );
  if (!isMemoryResource(name))
    throw new Error(
      `memory type conversion error, unknown type: ${JSON.stringify(name)}`,
    );
  let bytes: number;
  try {
    bytes = quantityValue(parseQuantity(quantity));
  } catch {
    throw new Error(
      `failed to parse the quantity, expected quantity, got ${quantity}`,
    );
  }
  if (bytes <= 0)
    throw new Error(
      `reserved memory may not be zero for NUMA node ${node} and resource ${JSON.stringify(name)}`,
    );
  if (ofNode.has(name))
    throw new Error(
      `the reserved memory has a duplicate value for NUMA node ${node} and resource ${JSON.stringify(name)}`,
    );
  ofNode.set(name, bytes);
}

/** @throws Error when a node does not exist, or the totals differ from what is reserved on the node */
export function checkReservedMemory(
  reserved: ReservedMemory,
  nodes: readonly MachineNode[],
  ofNode: ReadonlyMap<string, number>,
): void {
  const totals = new Map<string, number>();
  for (const [id, limits] of reserved) {
    if (!nodes.some((node) => node.id === id))
      throw new Error(
        `the reserved memory configuration references a NUMA node ${id} that does not exist on this machine`,
      );
    for (const [name, bytes] of limits)
      totals.set(name, (totals.get(name) ?? 0) + bytes);
  }
  for (const name of new Set([...totals.keys(), ...ofNode.keys()])) {
    const total = totals.get(name) ?? 0;
    const expected = ofNode.get(name) ?? 0;
    if (total !== expected)
      throw new Error(
        `the total amount "${formatBinary(total)}" of type ${JSON.stringify(name)} is not equal to the value "${formatBinary(expected)}" determined by Node Allocatable feature`,
      );
  }
  if ((totals.get("memory") ?? 0) <= 0)
    throw new Error(
      "[memorymanager] you should specify the system reserved memory",
    );
}

/** Bytes by resource that pods of the node can't have. */
export function nodeReservations(
  config: Pick<AgentConfig, "systemReserved" | "kubeReserved" | "evictionHard">,
  memoryBytes: number,
): ReadonlyMap<string, number> {
  const reserved = new Map<string, number>();
  const add = (name: string, bytes: number): void =>
    void reserved.set(name, (reserved.get(name) ?? 0) + bytes);
  for (const list of [config.systemReserved, config.kubeReserved])
    for (const [name, text] of Object.entries(list))
      if (isMemoryResource(name)) add(name, quantityValue(parseQuantity(text)));
  const kept = keptBack(config.evictionHard, "memory.available", memoryBytes);
  if (kept > 0) add("memory", kept);
  return reserved;
}
