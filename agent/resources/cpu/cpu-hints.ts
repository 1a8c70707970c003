// From which NUMA nodes a number of CPUs could come. Pure.
import type { Ids } from "../machine/id-set.ts";
import type { TopologyHint } from "../topology/hint-provider.ts";
import {
  nodeCount,
  nodeIds,
  nodeMask,
  nodeSubsets,
  type NodeMask,
} from "../topology/numa-nodes.ts";
import type { CpuPlaces } from "./cpu-places.ts";

interface CpuDemand {
  readonly count: number;
  readonly free: Ids;
  /** The container may have them, and a hint must name their nodes. */
  readonly reusable: Ids;
  /** Every set of nodes on as few sockets as the smallest one needs is as good as that one. */
  readonly alignBySocket: boolean;
}

/** A set of nodes is preferred when no smaller one could hold so many CPUs on an empty machine. */
export function cpuHints(
  places: CpuPlaces,
  { count, free, reusable, alignBySocket }: CpuDemand,
): TopologyHint[] {
  const subsets = nodeSubsets(places.nodeIds);
  const inside = (cpus: Ids, nodes: NodeMask): number =>
    cpus.filter((cpu) => nodes & (1 << places.idOf(cpu, "node"))).length;
  const smallest = subsets.find((nodes) => inside(places.all, nodes) >= count);
  const fewest =
    smallest === undefined ? places.nodeIds.length : nodeCount(smallest);
  const reused = nodeMask(reusable.map((cpu) => places.idOf(cpu, "node")));
  return subsets.flatMap((nodes) => {
    if ((reused & ~nodes) !== 0) return [];
    if (inside(free, nodes) + reusable.length < count) return [];
    const preferred =
      nodeCount(nodes) === fewest ||
      (alignBySocket && isOnFewestSockets(places, nodes, fewest));
    return [{ nodes, preferred }];
  });
}

function isOnFewestSockets(
  places: CpuPlaces,
  nodes: NodeMask,
  fewestNodes: number,
): boolean {
  const nodesPerSocket = Math.floor(places.nodeIds.length / places.sockets);
  if (nodesPerSocket === 0) return false;
  const cpus = places.within(places.all, "node", nodeIds(nodes));
  return (
    places.group(cpus, "socket").size ===
    Math.ceil(fewestNodes / nodesPerSocket)
  );
}
