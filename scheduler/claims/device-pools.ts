// The pools of devices that can be reached from a node, from the ResourceSlices of all drivers. Pure. Of a pool only the
// slices of its newest generation count; it is incomplete while some of them are missing, and unusable when a device is in
// it twice.
import { matchesNodeSelector } from "../../api/objects/node-affinity.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { ResourceSlice } from "../../api/types/resource-v1beta1.ts";

export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  readonly slices: readonly ResourceSlice[];
  readonly isIncomplete: boolean;
  /** Why nothing may be taken from it. */
  readonly problem: string | undefined;
}

export function poolsOf(
  slices: readonly ResourceSlice[],
  node: Node,
): DevicePool[] {
  const pools = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    if (!isReachable(slice, node)) continue;
    const { driver, pool } = slice.spec;
    const key = `${driver}/${pool.name}`;
    const known = pools.get(key);
    const generation = known?.[0]?.spec.pool.generation ?? -1;
    if (pool.generation > generation) pools.set(key, [slice]);
    else if (pool.generation === generation) known!.push(slice);
  }
  return [...pools.values()].map((members) => {
    const { driver, pool } = members[0]!.spec;
    return {
      driver,
      name: pool.name,
      slices: members,
      isIncomplete: members.length !== pool.resourceSliceCount,
      problem: problemOf(members),
    };
  });
}

function isReachable({ spec }: ResourceSlice, node: Node): boolean {
  if (spec.nodeName) return spec.nodeName === node.metadata.name;
  if (spec.allNodes) return true;
  return (
    spec.nodeSelector !== undefined &&
    matchesNodeSelector(spec.nodeSelector, node)
  );
}

function problemOf(slices: readonly ResourceSlice[]): string | undefined {
  const seen = new Set<string>();
  for (const { spec } of slices)
    for (const { name } of spec.devices ?? []) {
      if (seen.has(name)) return `duplicate device name ${name}`;
      seen.add(name);
    }
  return undefined;
}
