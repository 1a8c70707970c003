// What filters and scores are. Both are compiled for one pod against one state of the cluster, so that work that is the
// same for all nodes is done once, and a pod that does not use a feature costs nothing.
import type { NodeInfo } from "./node-info.ts";
import type { NamespaceLabels, PodView } from "./pod-view.ts";

export interface ClusterView {
  nodes(): readonly NodeInfo[];
  readonly namespaceLabels: NamespaceLabels;
  /** The node with what is reserved on it for others; undefined: nothing ever is. */
  reserved?(node: NodeInfo, view: PodView): NodeInfo;
}

/** Why a node can't take the pod. */
export interface Rejection {
  /** The reference's texts. */
  reasons: readonly string[];
  /** Removing pods from the node would not help. */
  unresolvable?: boolean;
  /** No node can take the pod, for a reason that has nothing to do with nodes: it is said once, without a number. */
  everywhere?: boolean;
  plugin: string;
}

export interface NodeFilter {
  (node: NodeInfo): Rejection | undefined;
  /** Where the pod itself names the nodes that may take it: no filter looks at any other. */
  readonly only?: NamedNodes;
  /** No node can take the pod: no filter looks at any. */
  readonly nowhere?: Rejection;
}

/** @param rejection is said once, without a number of nodes */
export function rejectEverywhere(rejection: Rejection): NodeFilter {
  const nowhere: Rejection = { ...rejection, everywhere: true };
  return Object.assign(() => nowhere, { nowhere });
}

interface NamedNodes {
  readonly plugin: string;
  readonly names: ReadonlySet<string>;
}

const events = [
  "node-added",
  "node-taints",
  "node-labels",
  "node-allocatable",
  "pod-added",
  "pod-labels",
  "pod-removed",
  "volume",
  // Claims, classes and slices of devices.
  "claim",
] as const;
/** What happened in the cluster, as far as it may make a pod fit. */
export type ClusterEvent = (typeof events)[number];
export const allEvents: ReadonlySet<ClusterEvent> = new Set(events);

export interface FilterPlugin {
  readonly name: string;
  /** Events after which a pod this filter rejected is worth another try. */
  readonly hints: readonly ClusterEvent[];
  /** undefined: the pod does not concern this filter. */
  compile(view: PodView, cluster: ClusterView): NodeFilter | undefined;
}

export interface ScorePlugin {
  readonly name: string;
  readonly weight: number;
  /** Scores of the nodes given, in their order, each from 0 to 100; undefined: no preference. */
  score(
    view: PodView,
    nodes: readonly NodeInfo[],
    cluster: ClusterView,
  ): readonly number[] | undefined;
}

export const maxScore = 100;

/** Scales scores to 0…100 by the largest, reversed when less is better. */
export function normalized(scores: number[], reverse = false): number[] {
  const most = Math.max(0, ...scores);
  if (most === 0) return reverse ? scores.map(() => maxScore) : scores;
  return scores.map((score) => {
    const scaled = Math.floor((score * maxScore) / most);
    return reverse ? maxScore - scaled : scaled;
  });
}
