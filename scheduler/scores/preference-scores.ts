// Scores by preference: taints that only prefer, preferred node affinity, preferred pod affinity, soft topology spread.
import { matchesTerm } from "../../api/objects/node-affinity.ts";
import { tolerates } from "../../api/objects/taints.ts";
import { place } from "../filters/inter-pod-affinity.ts";
import {
  countsFor,
  matchingPods,
  spreadConstraints,
} from "../filters/topology-spread.ts";
import type { NodeInfo } from "../node-info.ts";
import { maxScore, normalized } from "../plugin.ts";
import type { ScorePlugin } from "../plugin.ts";
import type { AffinityTerm } from "../pod-view.ts";

/** How much a pod's required affinity counts for others that match it. */
const hardAffinityWeight = 1;

export const taintPreference: ScorePlugin = {
  name: "TaintToleration",
  weight: 3,
  score({ pod }, nodes) {
    const tolerations = (pod.spec.tolerations ?? []).filter(
      ({ effect }) => !effect || effect === "PreferNoSchedule",
    );
    const counts = nodes.map(
      ({ node }) =>
        (node?.spec.taints ?? []).filter(
          (taint) =>
            taint.effect === "PreferNoSchedule" &&
            !tolerations.some((toleration) => tolerates(toleration, taint)),
        ).length,
    );
    return counts.some((count) => count > 0)
      ? normalized(counts, true)
      : undefined;
  },
};

export const preferredNodeAffinity: ScorePlugin = {
  name: "NodeAffinity",
  weight: 2,
  score({ pod }, nodes) {
    const terms =
      pod.spec.affinity?.nodeAffinity
        ?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0) return undefined;
    return normalized(
      nodes.map((info) =>
        terms.reduce(
          (sum, { weight, preference }) =>
            sum +
            (info.node && matchesTerm(preference, info.node) ? weight : 0),
          0,
        ),
      ),
    );
  },
};

export const preferredPodAffinity: ScorePlugin = {
  name: "InterPodAffinity",
  weight: 2,
  score(view, nodes, cluster) {
    const points = new Map<string, number>();
    const { namespaceLabels } = cluster;
    const own =
      view.preferredAffinity.length + view.preferredAntiAffinity.length;
    const add = (
      terms: readonly AffinityTerm[],
      sign: number,
      other: PodSubject,
      at: NodeInfo,
      weight?: number,
    ): void => {
      for (const term of terms) {
        if (!term.matches(other, namespaceLabels)) continue;
        const key = place(at, term.topologyKey);
        if (key !== undefined)
          points.set(
            key,
            (points.get(key) ?? 0) + sign * (weight ?? term.weight),
          );
      }
    };
    for (const node of cluster.nodes()) {
      // Only pods with affinity say something about one without.
      const others = own > 0 ? node.pods.values() : node.withAffinity.values();
      for (const other of others) {
        add(view.preferredAffinity, 1, other.pod, node);
        add(view.preferredAntiAffinity, -1, other.pod, node);
        add(other.preferredAffinity, 1, view.pod, node);
        add(other.preferredAntiAffinity, -1, view.pod, node);
        add(other.requiredAffinity, 1, view.pod, node, hardAffinityWeight);
      }
    }
    if (points.size === 0) return undefined;
    const sums = nodes.map((node) => {
      let sum = 0;
      for (const [key, value] of Object.entries(
        node.node?.metadata.labels ?? {},
      ))
        sum += points.get(`${key}=${value}`) ?? 0;
      return sum;
    });
    const least = Math.min(...sums);
    const range = Math.max(...sums) - least;
    return range === 0
      ? undefined
      : sums.map((sum) => Math.floor((maxScore * (sum - least)) / range));
  },
};

type PodSubject = Parameters<AffinityTerm["matches"]>[0];

export const softTopologySpread: ScorePlugin = {
  name: "PodTopologySpread",
  weight: 2,
  score(view, nodes, cluster) {
    const constraints = spreadConstraints(view, "ScheduleAnyway");
    if (constraints.length === 0) return undefined;
    const costs = new Array<number>(nodes.length).fill(0);
    const ignored = new Set<number>();
    for (const spread of constraints) {
      const { topologyKey, maxSkew } = spread.constraint;
      const counts = new Map<string, number>();
      for (const node of cluster.nodes()) {
        const value = node.node?.metadata.labels?.[topologyKey];
        if (value === undefined || !countsFor(spread, view, node)) continue;
        const found = matchingPods(
          spread.selector,
          view.pod.metadata.namespace,
          node,
        );
        counts.set(value, (counts.get(value) ?? 0) + found);
      }
      // A constraint over many topologies weighs more, as its counts are smaller.
      const weight = Math.log(counts.size + 2);
      for (const [index, { node }] of nodes.entries()) {
        const value = node?.metadata.labels?.[topologyKey];
        if (value === undefined) ignored.add(index);
        else costs[index]! += (counts.get(value) ?? 0) * weight + maxSkew - 1;
      }
    }
    const counted = costs.filter((_, index) => !ignored.has(index));
    const most = Math.max(0, ...counted);
    const least = Math.min(most, ...counted);
    return costs.map((cost, index) => {
      if (ignored.has(index)) return 0;
      return most === 0
        ? maxScore
        : Math.floor((maxScore * (most + least - cost)) / most);
    });
  },
};
