// Merges the hints of all resources into the best one, by the reference's order. The reference tries every combination
// of hints; here combinations that come to the same set of nodes are counted once, so that eight nodes and many devices
// take some thousand steps instead of millions. Pure.
import type { TopologyHint, TopologyHints } from "./hint-provider.ts";
import { isNarrower, nodeCount, type NodeMask } from "./numa-nodes.ts";

/** The hints of one resource. */
export type ResourceHints = readonly TopologyHint[];

/** One list a resource; what has no preference goes anywhere, what has no place is never preferred. */
export function hintsByResource(
  providers: readonly TopologyHints[],
): ResourceHints[] {
  const anywhere: ResourceHints = [{ nodes: undefined, preferred: true }];
  const nowhere: ResourceHints = [{ nodes: undefined, preferred: false }];
  return providers.flatMap((provider) =>
    provider.size === 0
      ? [anywhere]
      : [...provider.values()].map((hints) => {
          if (hints === undefined) return anywhere;
          return hints.length === 0 ? nowhere : hints;
        }),
  );
}

type Better = (a: NodeMask, b: NodeMask) => boolean;

interface Merged {
  nodes: NodeMask;
  preferred: boolean;
}

/** @param all every node of the machine @param better which of two sets of nodes fits better */
export function mergeHints(
  resources: readonly ResourceHints[],
  all: NodeMask,
  better: Better = isNarrower,
): { nodes: NodeMask; preferred: boolean } {
  const wantedCount = Math.max(0, ...resources.map(narrowestCount));
  let best: Merged | undefined;
  for (const candidate of combinations(resources, all)) {
    if (candidate.nodes === 0) continue;
    if (!best || isBetter(candidate, best, wantedCount, better))
      best = candidate;
  }
  return best ?? { nodes: all, preferred: false };
}

function narrowestCount(hints: ResourceHints): number {
  const counts = hints.flatMap(({ nodes }) =>
    nodes === undefined ? [] : [nodeCount(nodes)],
  );
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/**
 * Every set of nodes that the hints can come to. It is preferred when all its hints are and name the same nodes (or
 * none).
 */
function combinations(
  resources: readonly ResourceHints[],
  all: NodeMask,
): Merged[] {
  // Preferred so far, by the nodes that all of its hints named; undefined: none did.
  let preferred = new Set<NodeMask | undefined>([undefined]);
  let others = new Set<NodeMask>();
  for (const hints of resources) {
    const before = { preferred, others };
    preferred = new Set();
    others = new Set();
    for (const { nodes, preferred: wanted } of hints) {
      for (const common of before.preferred)
        if (
          wanted &&
          (nodes === undefined || common === undefined || nodes === common)
        )
          preferred.add(nodes ?? common);
        else others.add((nodes ?? all) & (common ?? all));
      for (const rest of before.others) others.add((nodes ?? all) & rest);
    }
  }
  return [
    ...[...preferred].map((nodes) => ({
      nodes: (nodes ?? all) & all,
      preferred: true,
    })),
    ...[...others].map((nodes) => ({ nodes: nodes & all, preferred: false })),
  ];
}

/** A preferred one first; of others that with as many nodes as the neediest resource takes, or as near below as can be. */
function isBetter(
  a: Merged,
  b: Merged,
  wantedCount: number,
  better: Better,
): boolean {
  if (a.preferred !== b.preferred) return a.preferred;
  if (!a.preferred) {
    const counts = [nodeCount(a.nodes), nodeCount(b.nodes)] as const;
    const [fitsA, fitsB] = counts.map((count) => count <= wantedCount);
    if (fitsA !== fitsB) return fitsA === true;
    if (fitsA && counts[0] !== counts[1]) return counts[0] > counts[1];
  }
  return a.nodes !== b.nodes && better(a.nodes, b.nodes);
}
