// Finds the node for one pod: filters, then scores. A pure function of the pod and the cluster's state, except for where
// the search begins, which moves on so that all nodes get their turn.
import type { NodeInfo } from "./node-info.ts";
import type {
  ClusterView,
  FilterPlugin,
  NodeFilter,
  Rejection,
  ScorePlugin,
} from "./plugin.ts";
import type { PodView } from "./pod-view.ts";

/** Below this all nodes are looked at. */
const minFeasibleNodes = 100;
const minPercentage = 5;

type Placement =
  { node: NodeInfo } | { rejections: ReadonlyMap<NodeInfo, Rejection> };

export class Placer {
  #startIndex = 0;

  constructor(
    private readonly filters: readonly FilterPlugin[],
    private readonly scores: readonly ScorePlugin[],
  ) {}

  place(view: PodView, cluster: ClusterView): Placement {
    const nodes = cluster.nodes();
    const compiled = compileFilters(this.filters, view, cluster);
    const rejections = new Map<NodeInfo, Rejection>();
    // A node where room was made for it is looked at first.
    const nominated = view.pod.status?.nominatedNodeName;
    if (nominated) {
      const node = nodes.find(({ name }) => name === nominated);
      if (node && !firstRejection(compiled, node)) return { node };
    }
    const enough = feasibleNodesToFind(nodes.length);
    const feasible: NodeInfo[] = [];
    let looked = 0;
    while (looked < nodes.length && feasible.length < enough) {
      const node = nodes[(this.#startIndex + looked++) % nodes.length]!;
      const reserved = cluster.reserved?.(node, view) ?? node;
      const rejection =
        firstRejection(compiled, node) ??
        (reserved === node ? undefined : firstRejection(compiled, reserved));
      if (rejection) rejections.set(node, rejection);
      else feasible.push(node);
    }
    if (nodes.length > 0)
      this.#startIndex = (this.#startIndex + looked) % nodes.length;
    if (feasible.length === 0) return { rejections };
    return { node: this.#best(view, feasible, cluster) };
  }

  #best(
    view: PodView,
    nodes: readonly NodeInfo[],
    cluster: ClusterView,
  ): NodeInfo {
    if (nodes.length === 1) return nodes[0]!;
    const totals = new Array<number>(nodes.length).fill(0);
    for (const plugin of this.scores)
      plugin.score(view, nodes, cluster)?.forEach((score, index) => {
        totals[index]! += score * plugin.weight;
      });
    // Among equals one at random, so that a burst of pods does not pile up.
    let best = 0;
    let ties = 1;
    for (let index = 1; index < totals.length; index++) {
      if (totals[index]! > totals[best]!) {
        best = index;
        ties = 1;
      } else if (totals[index] === totals[best] && Math.random() < 1 / ++ties)
        best = index;
    }
    return nodes[best]!;
  }
}

export function compileFilters(
  filters: readonly FilterPlugin[],
  view: PodView,
  cluster: ClusterView,
): NodeFilter[] {
  return filters.flatMap((plugin) => plugin.compile(view, cluster) ?? []);
}

export function firstRejection(
  filters: readonly NodeFilter[],
  node: NodeInfo,
): Rejection | undefined {
  for (const filter of filters) {
    const rejection = filter(node);
    if (rejection) return rejection;
  }
  return undefined;
}

/** In large clusters enough feasible nodes are enough: the share falls from 50 % as the cluster grows. */
function feasibleNodesToFind(nodes: number): number {
  if (nodes < minFeasibleNodes) return nodes;
  const percentage = Math.max(minPercentage, 50 - nodes / 125);
  return Math.max(minFeasibleNodes, Math.floor((nodes * percentage) / 100));
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function unavailableMessage(
  nodeCount: number,
  rejections: ReadonlyMap<NodeInfo, Rejection>,
): string {
  if (nodeCount === 0) return "no nodes available to schedule pods";
  const counts = new Map<string, number>();
  for (const { reasons } of rejections.values())
    for (const reason of reasons)
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const texts = [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort();
  return `0/${nodeCount} nodes are available: ${texts.join(", ")}.`;
}
