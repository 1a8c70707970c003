// The default profile: filters and scores in the reference's order and weights.
import { interPodAffinity } from "./filters/inter-pod-affinity.ts";
import {
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeResourcesFit,
  nodeUnschedulable,
  taintToleration,
} from "./filters/node-filters.ts";
import { podTopologySpread } from "./filters/topology-spread.ts";
import type { FilterPlugin, ScorePlugin } from "./plugin.ts";
import {
  preferredNodeAffinity,
  preferredPodAffinity,
  softTopologySpread,
  taintPreference,
} from "./scores/preference-scores.ts";
import {
  balancedAllocation,
  imageLocality,
  leastAllocated,
} from "./scores/resource-scores.ts";

/**
 * @param volumes those that look at claims and volumes; they take their place among the filters
 * @param dynamicResources where devices are claimed, if anywhere
 */
export function defaultFilters(
  volumes: readonly FilterPlugin[] = [],
  dynamicResources?: FilterPlugin,
): FilterPlugin[] {
  return [
    nodeUnschedulable,
    nodeName,
    taintToleration,
    nodeAffinity,
    nodePorts,
    nodeResourcesFit,
    ...volumes,
    podTopologySpread,
    interPodAffinity,
    ...(dynamicResources ? [dynamicResources] : []),
  ];
}

export const defaultScores: readonly ScorePlugin[] = [
  taintPreference,
  preferredNodeAffinity,
  softTopologySpread,
  preferredPodAffinity,
  leastAllocated,
  balancedAllocation,
  imageLocality,
];
