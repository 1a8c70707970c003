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

/** The nodes where a pod may go, as many as are looked for, and why it can't go to the others that were looked at. */
export interface Search {
  readonly feasible: readonly NodeInfo[];
  readonly rejections: Map<NodeInfo, Rejection>;
  /** Only the node was looked at where room was made for the pod. */
  readonly nominated: boolean;
}

interface PlacerOptions {
  readonly filters: readonly FilterPlugin[];
  readonly scores: readonly ScorePlugin[];
  /** Of the nodes, that many feasible ones are enough, in percent; 0: less the more there are. */
  readonly percentageOfNodesToScore: number;
  /** Others than the plug-ins have a say: one feasible node is not enough even without scores. */
  readonly extended?: boolean;
  /** Undefined: nothing is timed. */
  readonly timing?: PlacementTiming | undefined;
}

/** Takes how long the parts of a search took. */
export interface PlacementTiming {
  point(point: "PreFilter" | "Filter" | "Score", seconds: number): void;
  plugin(
    plugin: string,
    point: "PreFilter" | "Filter" | "Score",
    rejection: Rejection | undefined,
    seconds: number,
  ): void;
}

/** Plug-ins are timed in one of this many searches: timing each of them on each node costs as much as they do. */
const timedSearches = 10;
const secondsSince = (startMs: number): number =>
  (performance.now() - startMs) / 1000;

export class Placer {
  readonly #options: PlacerOptions;
  #startIndex = 0;
  #searches = 0;

  constructor(options: PlacerOptions) {
    this.#options = options;
  }

  place(view: PodView, cluster: ClusterView): Placement {
    const search = this.search(view, cluster);
    return search.feasible.length === 0
      ? search
      : { node: this.choose(view, search.feasible, cluster) };
  }

  /** @param options.anyNode whether room was made on one for the pod or not */
  search(
    view: PodView,
    cluster: ClusterView,
    { anyNode = false }: { anyNode?: boolean } = {},
  ): Search {
    const nodes = cluster.nodes();
    const startMs = performance.now();
    const compiled = this.#compiled(view, cluster);
    const compiledMs = performance.now();
    const { timing } = this.#options;
    timing?.point("PreFilter", (compiledMs - startMs) / 1000);
    const rejections = new Map<NodeInfo, Rejection>();
    const problem = (node: NodeInfo): Rejection | undefined =>
      rejectionOn(node, compiled, this.#options.filters, view, cluster);
    // A node where room was made for it is looked at first.
    const nominated = view.pod.status?.nominatedNodeName;
    if (nominated && !anyNode) {
      const node = nodes.find(({ name }) => name === nominated);
      if (node && !problem(node)) {
        timing?.point("Filter", secondsSince(compiledMs));
        return { feasible: [node], rejections, nominated: true };
      }
    }
    const open = openNodes(compiled, nodes, rejections);
    const enough = this.#feasibleNodesToFind(open.length);
    const feasible: NodeInfo[] = [];
    let looked = 0;
    while (looked < open.length && feasible.length < enough) {
      const node = open[(this.#startIndex + looked++) % open.length]!;
      const rejection = problem(node);
      if (rejection) rejections.set(node, rejection);
      else feasible.push(node);
    }
    if (nodes.length > 0)
      this.#startIndex = (this.#startIndex + looked) % nodes.length;
    timing?.point("Filter", secondsSince(compiledMs));
    return { feasible, rejections, nominated: false };
  }

  /** Now and then each plug-in is timed. */
  get #timesPlugins(): boolean {
    return this.#searches % timedSearches === 1;
  }

  #compiled(view: PodView, cluster: ClusterView): NodeFilter[] {
    const { filters, timing } = this.#options;
    this.#searches++;
    if (!timing || !this.#timesPlugins)
      return compileFilters(filters, view, cluster);
    return filters.flatMap((plugin): NodeFilter[] => {
      const startMs = performance.now();
      const filter = plugin.compile(view, cluster);
      const { name } = plugin;
      timing.plugin(name, "PreFilter", undefined, secondsSince(startMs));
      if (!filter) return [];
      const timed: NodeFilter = (node) => {
        const beganMs = performance.now();
        const rejection = filter(node);
        timing.plugin(name, "Filter", rejection, secondsSince(beganMs));
        return rejection;
      };
      const { only, nowhere } = filter;
      return [
        Object.assign(timed, {
          ...(only ? { only } : {}),
          ...(nowhere ? { nowhere } : {}),
        }),
      ];
    });
  }

  /** @param extra points of nodes by name, beside those of the plug-ins */
  choose(
    view: PodView,
    nodes: readonly NodeInfo[],
    cluster: ClusterView,
    extra?: ReadonlyMap<string, number>,
  ): NodeInfo {
    if (nodes.length === 1) return nodes[0]!;
    const { timing } = this.#options;
    const startMs = performance.now();
    const totals = nodes.map(({ name }) => extra?.get(name) ?? 0);
    for (const plugin of this.#options.scores) {
      const beganMs = performance.now();
      plugin.score(view, nodes, cluster)?.forEach((score, index) => {
        totals[index]! += score * plugin.weight;
      });
      if (this.#timesPlugins)
        timing?.plugin(plugin.name, "Score", undefined, secondsSince(beganMs));
    }
    timing?.point("Score", secondsSince(startMs));
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

  /** In large clusters enough feasible nodes are enough: the share falls from 50 % as the cluster grows. */
  #feasibleNodesToFind(nodes: number): number {
    const { scores, extended, percentageOfNodesToScore } = this.#options;
    if (scores.length === 0 && !extended) return 1;
    if (nodes < minFeasibleNodes) return nodes;
    const percentage =
      percentageOfNodesToScore ||
      Math.max(minPercentage, 50 - Math.floor(nodes / 125));
    return Math.max(minFeasibleNodes, Math.floor((nodes * percentage) / 100));
  }
}

/** The nodes that are worth a look: those that every filter which names some names; the others are rejected. */
function openNodes(
  compiled: readonly NodeFilter[],
  nodes: readonly NodeInfo[],
  rejections: Map<NodeInfo, Rejection>,
): readonly NodeInfo[] {
  const [nowhere] = compiled.flatMap((filter) => filter.nowhere ?? []);
  if (nowhere) {
    for (const node of nodes) rejections.set(node, nowhere);
    return [];
  }
  const restrictions = compiled.flatMap(({ only }) => only ?? []);
  const [first] = restrictions;
  if (!first) return nodes;
  const plugins = restrictions.map(({ plugin }) => plugin).sort();
  const rejection: Rejection = {
    plugin: first.plugin,
    reasons: [`node(s) didn't satisfy plugin(s) [${plugins.join(" ")}]`],
    unresolvable: true,
  };
  return nodes.filter((node) => {
    const isNamed = restrictions.every(({ names }) => names.has(node.name));
    if (!isNamed) rejections.set(node, rejection);
    return isNamed;
  });
}

export function compileFilters(
  filters: readonly FilterPlugin[],
  view: PodView,
  cluster: ClusterView,
): NodeFilter[] {
  return filters.flatMap((plugin) => plugin.compile(view, cluster) ?? []);
}

/**
 * Why the node can't take the pod: with the pods on it that others have made room for, then without these, on which an
 * affinity may not lean.
 * @param compiled the filters for this pod and cluster
 */
export function rejectionOn(
  node: NodeInfo,
  compiled: readonly NodeFilter[],
  filters: readonly FilterPlugin[],
  view: PodView,
  cluster: ClusterView,
): Rejection | undefined {
  const reserved = cluster.reserved?.(node, view) ?? node;
  if (reserved === node) return firstRejection(compiled, node);
  const withOthers: ClusterView = {
    namespaceLabels: cluster.namespaceLabels,
    nodes: () =>
      cluster.nodes().map((other) => (other === node ? reserved : other)),
  };
  return (
    firstRejection(compileFilters(filters, view, withOthers), reserved) ??
    firstRejection(compiled, node)
  );
}

function firstRejection(
  filters: readonly NodeFilter[],
  node: NodeInfo,
): Rejection | undefined {
  for (const filter of filters) {
    const rejection = filter(node);
    if (rejection) return rejection;
  }
  return undefined;
}

/**
 * `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.`; where no node can take the pod whatever it
 * is like: `0/3 nodes are available: persistentvolumeclaim "data" not found.`
 */
export function unavailableMessage(
  nodeCount: number,
  rejections: ReadonlyMap<NodeInfo, Pick<Rejection, "reasons" | "everywhere">>,
): string {
  if (nodeCount === 0) return "no nodes available to schedule pods";
  const everywhere = [...rejections.values()].find((each) => each.everywhere);
  if (everywhere)
    return `0/${nodeCount} nodes are available: ${everywhere.reasons.join(", ")}.`;
  const counts = new Map<string, number>();
  for (const { reasons } of rejections.values())
    for (const reason of reasons)
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const texts = [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort();
  return `0/${nodeCount} nodes are available: ${texts.join(", ")}.`;
}
