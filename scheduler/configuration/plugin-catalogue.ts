// The plug-ins that there are, at which extension points each takes part, and which of them a profile has by default: the
// reference's in-tree plug-ins with its names, order and weights.
import type { ExtensionPoint, PluginEntry } from "./configuration-types.ts";

const filters = ["preFilter", "filter"] as const;
const scores = ["preScore", "score"] as const;

const catalogue: Readonly<Record<string, readonly ExtensionPoint[]>> = {
  SchedulingGates: ["preEnqueue"],
  PrioritySort: ["queueSort"],
  NodeUnschedulable: ["filter"],
  NodeName: ["filter"],
  TaintToleration: ["filter", ...scores],
  NodeAffinity: [...filters, ...scores],
  NodePorts: filters,
  NodeResourcesFit: [...filters, ...scores],
  VolumeRestrictions: filters,
  NodeVolumeLimits: filters,
  VolumeBinding: [...filters, "reserve", "preBind", ...scores],
  VolumeZone: filters,
  PodTopologySpread: [...filters, ...scores],
  InterPodAffinity: [...filters, ...scores],
  // Does nothing unless the gate DynamicResourceAllocation is on.
  DynamicResources: [
    "preEnqueue",
    ...filters,
    "postFilter",
    "reserve",
    "preBind",
  ],
  DefaultPreemption: ["postFilter", "preEnqueue"],
  NodeResourcesBalancedAllocation: scores,
  ImageLocality: ["score"],
  DefaultBinder: ["bind"],
};

const weights: Readonly<Record<string, number>> = {
  TaintToleration: 3,
  NodeAffinity: 2,
  NodeResourcesFit: 1,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
  NodeResourcesBalancedAllocation: 1,
  ImageLocality: 1,
};

/** undefined: there is no such plug-in. */
export const pointsOf = (
  name: string,
): readonly ExtensionPoint[] | undefined =>
  Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;

/** @param dynamicResources whether its gate is on */
export function defaultPlugins(dynamicResources: boolean): PluginEntry[] {
  return Object.keys(catalogue)
    .filter((name) => dynamicResources || name !== "DynamicResources")
    .map((name) => {
      const weight = weights[name];
      return weight === undefined ? { name } : { name, weight };
    });
}
