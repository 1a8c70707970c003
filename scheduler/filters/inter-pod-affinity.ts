// Required pod affinity and anti-affinity, in both directions: what the pod asks of others, and what pods already placed
// ask of it. Counts are kept by topology (`key=value`), found in one pass over the nodes that matter.
import type { NodeInfo } from "../node-info.ts";
import type { ClusterView, FilterPlugin, NodeFilter } from "../plugin.ts";
import type { AffinityTerm, PodView } from "../pod-view.ts";
import { ownValue } from "../../api/objects/own-value.ts";

const name = "InterPodAffinity";

export const interPodAffinity: FilterPlugin = {
  name,
  hints: [
    "node-added",
    "node-labels",
    "pod-added",
    "pod-labels",
    "pod-removed",
  ],
  compile(view, cluster) {
    const { requiredAffinity, requiredAntiAffinity } = view;
    const against = existingAntiAffinity(view, cluster);
    if (
      requiredAffinity.length === 0 &&
      requiredAntiAffinity.length === 0 &&
      against.size === 0
    )
      return undefined;
    const affinity = placesOf(requiredAffinity, cluster);
    const anti = requiredAntiAffinity.map((term) => placesOf([term], cluster));
    // The first pod of a group that wants to be together may go anywhere it matches its own terms.
    const first =
      affinity.size === 0 &&
      requiredAffinity.every((term) =>
        term.matches(view.pod, cluster.namespaceLabels),
      );
    return filterOf(view, affinity, anti, against, first);
  },
};

function filterOf(
  { requiredAffinity, requiredAntiAffinity }: PodView,
  affinity: ReadonlySet<string>,
  anti: readonly ReadonlySet<string>[],
  against: ReadonlySet<string>,
  first: boolean,
): NodeFilter {
  return (node) => {
    const places = requiredAffinity.map(({ topologyKey }) =>
      place(node, topologyKey),
    );
    const together = places.every(
      (at) => at !== undefined && (first || affinity.has(at)),
    );
    if (!together)
      return {
        plugin: name,
        reasons: ["node(s) didn't match pod affinity rules"],
        unresolvable: true,
      };
    const tooNear = requiredAntiAffinity.some(({ topologyKey }, index) => {
      const at = place(node, topologyKey);
      return at !== undefined && anti[index]!.has(at);
    });
    if (tooNear)
      return {
        plugin: name,
        reasons: ["node(s) didn't match pod anti-affinity rules"],
      };
    for (const [key, value] of Object.entries(node.node?.metadata.labels ?? {}))
      if (against.has(`${key}=${value}`))
        return {
          plugin: name,
          reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
        };
    return undefined;
  };
}

export function place(node: NodeInfo, topologyKey: string): string | undefined {
  const value = ownValue(node.node?.metadata.labels, topologyKey);
  return value === undefined ? undefined : `${topologyKey}=${value}`;
}

/** Topologies with a pod that matches all the terms; one that is being deleted is still there. */
function placesOf(
  terms: readonly AffinityTerm[],
  cluster: ClusterView,
): Set<string> {
  const places = new Set<string>();
  if (terms.length === 0) return places;
  for (const node of cluster.nodes()) {
    for (const { pod } of node.pods.values()) {
      if (!terms.every((term) => term.matches(pod, cluster.namespaceLabels)))
        continue;
      for (const { topologyKey } of terms) {
        const at = place(node, topologyKey);
        if (at !== undefined) places.add(at);
      }
    }
  }
  return places;
}

/** Topologies where a placed pod does not want this one. */
function existingAntiAffinity(
  view: PodView,
  cluster: ClusterView,
): Set<string> {
  const places = new Set<string>();
  for (const node of cluster.nodes())
    for (const other of node.withRequiredAntiAffinity)
      for (const term of other.requiredAntiAffinity)
        if (term.matches(view.pod, cluster.namespaceLabels)) {
          const at = place(node, term.topologyKey);
          if (at !== undefined) places.add(at);
        }
  return places;
}
