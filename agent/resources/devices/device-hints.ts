// From which sets of NUMA nodes a number of devices could come. Pure.
// Worked example: nodes 0 and 1, devices a on 0 and b, c on 1, two wanted: {1} is preferred, {0, 1} is possible.
import type { TopologyHint } from "../topology/hint-provider.ts";
import {
  largestNodeId,
  nodeCount,
  nodeMask,
  nodeSubsets,
} from "../topology/numa-nodes.ts";
import type { KnownDevice } from "./device-inventory.ts";

type Placed = Pick<KnownDevice, "id" | "numaNodes">;

interface HintRequest {
  /** Ids of the machine's nodes. */
  readonly numaNodes: readonly number[];
  readonly wanted: number;
  /** All of the resource. */
  readonly all: readonly Placed[];
  readonly available: readonly Placed[];
  /** Those of the pod's init containers; every hint includes them. */
  readonly reusable: readonly Placed[];
}

export function deviceHints(request: HintRequest): TopologyHint[] {
  const { numaNodes, wanted, all, available, reusable } = request;
  const masks = new Map(all.map((device) => [device.id, maskOf(device)]));
  const lies = (device: Placed, mask: number): boolean =>
    ((masks.get(device.id) ?? maskOf(device)) & mask) !== 0;
  let fewestNodes = numaNodes.length;
  const possible: number[] = [];
  for (const mask of nodeSubsets(numaNodes)) {
    if (all.filter((device) => lies(device, mask)).length >= wanted)
      fewestNodes = Math.min(fewestNodes, nodeCount(mask));
    const placed = reusable.filter(({ numaNodes: nodes }) => nodes.length > 0);
    if (!placed.every((device) => lies(device, mask))) continue;
    const found =
      placed.length + available.filter((device) => lies(device, mask)).length;
    if (found >= wanted) possible.push(mask);
  }
  return possible.map((nodes) => ({
    nodes,
    preferred: nodeCount(nodes) === fewestNodes,
  }));
}

/** What a plug-in says of its devices' places: ids that no machine has are left out. */
function maskOf({ numaNodes }: Placed): number {
  return nodeMask(
    numaNodes.filter(
      (id) => Number.isInteger(id) && id >= 0 && id <= largestNodeId,
    ),
  );
}
