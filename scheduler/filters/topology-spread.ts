// Pod topology spread, DoNotSchedule: a placement may not make one topology hold more than maxSkew matching pods above
// the least filled one. nodeAffinityPolicy (default Honor) and nodeTaintsPolicy (default Ignore) say which nodes count.
import type { Selector } from "../../api/selectors.ts";
import type { Pod, TopologySpreadConstraint } from "../../api/types/core-v1.ts";
import { matchesNodeAffinity } from "../../api/objects/node-affinity.ts";
import { untoleratedTaint } from "../../api/objects/taints.ts";
import type { NodeInfo } from "../node-info.ts";
import type { ClusterView, FilterPlugin, NodeFilter } from "../plugin.ts";
import { mergedSelector } from "../pod-view.ts";
import type { PodView } from "../pod-view.ts";
import { ownValue } from "../../api/objects/own-value.ts";

const name = "PodTopologySpread";

export interface SpreadConstraint {
  constraint: TopologySpreadConstraint;
  selector: Selector;
  /** Does the pod count for its own constraint? */
  self: number;
}

/** What holds for pods that have no constraints of their own. */
export interface SpreadDefaults {
  /** The reference's own, which ask for no label of a node. */
  readonly system: boolean;
  readonly constraints: readonly TopologySpreadConstraint[];
  /** By which the pods are found that are spread together with this one; undefined: it belongs to nothing. */
  selectorOf(pod: Pod): Selector | undefined;
}

export function spreadConstraints(
  { pod }: PodView,
  whenUnsatisfiable: string,
  defaults: SpreadDefaults,
): SpreadConstraint[] {
  if (!pod.spec.topologySpreadConstraints?.length)
    return defaultConstraints(pod, whenUnsatisfiable, defaults);
  return pod.spec.topologySpreadConstraints
    .filter((constraint) => constraint.whenUnsatisfiable === whenUnsatisfiable)
    .map((constraint) => {
      const selector = mergedSelector(pod, constraint);
      return {
        constraint,
        selector,
        self: selector.matches(pod.metadata.labels) ? 1 : 0,
      };
    });
}

function defaultConstraints(
  pod: Pod,
  whenUnsatisfiable: string,
  { constraints, selectorOf }: SpreadDefaults,
): SpreadConstraint[] {
  const wanted = constraints.filter(
    (constraint) => constraint.whenUnsatisfiable === whenUnsatisfiable,
  );
  const selector = wanted.length > 0 ? selectorOf(pod) : undefined;
  if (!selector) return [];
  const self = selector.matches(pod.metadata.labels) ? 1 : 0;
  return wanted.map((constraint) => ({ constraint, selector, self }));
}

/** Does the node count for the constraint? */
export function countsFor(
  { constraint }: SpreadConstraint,
  { pod }: PodView,
  { node }: NodeInfo,
): boolean {
  if (!node) return false;
  if (
    constraint.nodeAffinityPolicy !== "Ignore" &&
    !matchesNodeAffinity(pod.spec, node)
  )
    return false;
  return (
    constraint.nodeTaintsPolicy !== "Honor" ||
    !untoleratedTaint(node.spec.taints, pod.spec.tolerations, [
      "NoSchedule",
      "NoExecute",
    ])
  );
}

/** Counts the pods of a namespace that a selector matches, node by node. A node remembers counts until a pod comes or goes. */
export function podCounter(
  selector: Selector,
  namespace: string | undefined,
): (node: NodeInfo) => number {
  // As in the reference, which takes a selector of everything for none.
  if (selector.empty) return () => 0;
  const key = `${namespace ?? ""}/${selector.toString()}`;
  const counts = ({ pod }: PodView): boolean =>
    pod.metadata.namespace === namespace &&
    !pod.metadata.deletionTimestamp &&
    selector.matches(pod.metadata.labels);
  return (node) => node.count(key, counts);
}

export const createTopologySpreadFilter = (
  defaults: SpreadDefaults,
): FilterPlugin => ({
  name,
  hints: [
    "node-added",
    "node-labels",
    "node-taints",
    "pod-added",
    "pod-labels",
    "pod-removed",
  ],
  compile(view, cluster) {
    const constraints = spreadConstraints(view, "DoNotSchedule", defaults);
    if (constraints.length === 0) return undefined;
    return filterOf(
      constraints.map((spread) => ({
        ...spread,
        counts: countsByValue(spread, constraints, view, cluster),
      })),
    );
  },
});

function countsByValue(
  spread: SpreadConstraint,
  all: readonly SpreadConstraint[],
  view: PodView,
  cluster: ClusterView,
): Map<string, number> {
  const counts = new Map<string, number>();
  const count = podCounter(spread.selector, view.pod.metadata.namespace);
  for (const node of cluster.nodes()) {
    const labels = node.node?.metadata.labels ?? {};
    const hasAll = all.every(
      ({ constraint }) => labels[constraint.topologyKey] !== undefined,
    );
    if (!hasAll || !countsFor(spread, view, node)) continue;
    const value = labels[spread.constraint.topologyKey]!;
    counts.set(value, (counts.get(value) ?? 0) + count(node));
  }
  return counts;
}

function filterOf(
  constraints: readonly (SpreadConstraint & {
    counts: ReadonlyMap<string, number>;
  })[],
): NodeFilter {
  const least = constraints.map(({ constraint, counts }) =>
    // Fewer topologies than minDomains: an empty one is still to come.
    counts.size < (constraint.minDomains ?? 1)
      ? 0
      : Math.min(...counts.values()),
  );
  return ({ node }) => {
    for (const [index, { constraint, counts, self }] of constraints.entries()) {
      const value = ownValue(node?.metadata.labels, constraint.topologyKey);
      if (value === undefined)
        return {
          plugin: name,
          reasons: [
            "node(s) didn't match pod topology spread constraints (missing required label)",
          ],
          unresolvable: true,
        };
      const skew = (counts.get(value) ?? 0) + self - least[index]!;
      if (skew > constraint.maxSkew)
        return {
          plugin: name,
          reasons: ["node(s) didn't match pod topology spread constraints"],
        };
    }
    return undefined;
  };
}
