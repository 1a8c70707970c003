// From which NUMA nodes a container's memory could come. Pure.
import type { TopologyHint } from "../topology/hint-provider.ts";
import {
  isNarrower,
  nodeCount,
  nodeIds,
  nodeSubsets,
  type NodeMask,
} from "../topology/numa-nodes.ts";
import type { MemoryDemand } from "./memory-demand.ts";
import type { NodeMemory } from "./node-memory.ts";

/**
 * The sets of nodes that have enough of every resource; preferred are those with as many nodes as the smallest set that
 * could ever hold it. `reusable`: bytes that the pod's ended init containers left on exactly these nodes.
 */
export function memoryHints(
  machine: NodeMemory,
  demand: MemoryDemand,
  reusable: (nodes: NodeMask, resource: string) => number,
): TopologyHint[] {
  const { ids } = machine;
  const wanted = [...demand];
  const possible = nodeSubsets(ids).filter((nodes) =>
    wanted.every(
      ([name, bytes]) =>
        machine.sum(nodeIds(nodes), name, "allocatable") >= bytes,
    ),
  );
  const fewest = Math.min(ids.length, ...possible.map(nodeCount));
  return possible
    .filter((nodes) => {
      const inside = nodeIds(nodes);
      return (
        machine.allows(inside) &&
        wanted.every(
          ([name, bytes]) =>
            machine.sum(inside, name, "free") + reusable(nodes, name) >= bytes,
        )
      );
    })
    .map((nodes) => ({ nodes, preferred: nodeCount(nodes) === fewest }));
}

/** A preferred one, then the narrowest. */
export function bestHint(
  hints: readonly TopologyHint[],
): (TopologyHint & { nodes: NodeMask }) | undefined {
  let best: (TopologyHint & { nodes: NodeMask }) | undefined;
  for (const { nodes, preferred } of hints) {
    if (nodes === undefined) continue;
    if (
      !best ||
      (preferred && !best.preferred) ||
      (preferred === best.preferred && isNarrower(nodes, best.nodes))
    )
      best = { nodes, preferred };
  }
  return best;
}
