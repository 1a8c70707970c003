// Soft topology spread: the fewer pods of its kind a topology holds already, the better. Constraints are the pod's own, or
// the defaults of the profile.
import {
  countsFor,
  podCounter,
  spreadConstraints,
  type SpreadConstraint,
  type SpreadDefaults,
} from "../filters/topology-spread.ts";
import type { NodeInfo } from "../node-info.ts";
import { maxScore } from "../plugin.ts";
import type { ClusterView, ScorePlugin } from "../plugin.ts";
import type { PodView } from "../pod-view.ts";
import { ownValue } from "../../api/objects/own-value.ts";

const hostname = "kubernetes.io/hostname";

const labelOf = ({ node }: NodeInfo, key: string): string | undefined =>
  ownValue(node?.metadata.labels, key);

export function createSpreadScore(
  defaults: SpreadDefaults,
  weight: number,
): ScorePlugin {
  return {
    name: "PodTopologySpread",
    weight,
    score(view, nodes, cluster) {
      const constraints = spreadConstraints(view, "ScheduleAnyway", defaults);
      if (constraints.length === 0) return undefined;
      const own = (view.pod.spec.topologySpreadConstraints?.length ?? 0) > 0;
      const needsAll = own || !defaults.system;
      const isWhole = (node: NodeInfo): boolean =>
        !needsAll ||
        constraints.every(
          ({ constraint }) =>
            labelOf(node, constraint.topologyKey) !== undefined,
        );
      const scored = nodes.map(isWhole);
      const counted = nodes.filter((_, index) => scored[index]);
      const costs = new Array<number>(nodes.length).fill(0);
      for (const spread of constraints) {
        const costOf = costsOf(spread, view, counted, cluster, isWhole);
        for (const [index, node] of nodes.entries())
          if (scored[index]) costs[index]! += costOf(node);
      }
      return scoresOf(costs.map(Math.round), scored);
    },
  };
}

/** What one constraint says against each node. */
function costsOf(
  spread: SpreadConstraint,
  view: PodView,
  counted: readonly NodeInfo[],
  cluster: ClusterView,
  isWhole: (node: NodeInfo) => boolean,
): (node: NodeInfo) => number {
  const { topologyKey, maxSkew } = spread.constraint;
  const { namespace } = view.pod.metadata;
  const found = podCounter(spread.selector, namespace);
  if (topologyKey === hostname) {
    const weight = weightOf(counted.length);
    return (node) =>
      labelOf(node, hostname) === undefined
        ? 0
        : found(node) * weight + maxSkew - 1;
  }
  const counts = new Map<string | undefined, number>();
  for (const node of counted) counts.set(labelOf(node, topologyKey), 0);
  const weight = weightOf(counts.size);
  // Without any label there is one topology of no name.
  if (counts.size > 1 || !counts.has(undefined))
    for (const node of cluster.nodes()) {
      const value = labelOf(node, topologyKey);
      const known = counts.get(value);
      if (known !== undefined && isWhole(node) && countsFor(spread, view, node))
        counts.set(value, known + found(node));
    }
  return (node) => {
    const value = labelOf(node, topologyKey);
    return value === undefined
      ? 0
      : (counts.get(value) ?? 0) * weight + maxSkew - 1;
  };
}

/** A constraint over many topologies weighs more, as its counts are smaller. */
const weightOf = (topologies: number): number => Math.log(topologies + 2);

function scoresOf(
  costs: readonly number[],
  scored: readonly boolean[],
): number[] {
  const counted = costs.filter((_, index) => scored[index]);
  const most = Math.max(0, ...counted);
  const least = Math.min(...counted);
  return costs.map((cost, index) => {
    if (!scored[index]) return 0;
    if (most === 0) return maxScore;
    return Math.floor((maxScore * (most + least - cost)) / most);
  });
}
