// Scores by preference: taints that only prefer, preferred node affinity, preferred pod affinity.
import { matchesTerm } from "../../api/objects/node-affinity.ts";
import { tolerates } from "../../api/objects/taints.ts";
import type {
  InterPodAffinityArgs,
  NodeAffinityArgs,
} from "../configuration/configuration-types.ts";
import { place } from "../filters/inter-pod-affinity.ts";
import type { NodeInfo } from "../node-info.ts";
import { maxScore, normalized } from "../plugin.ts";
import type { ScorePlugin } from "../plugin.ts";
import type { AffinityTerm } from "../pod-view.ts";

export const createTaintScore = (weight: number): ScorePlugin => ({
  name: "TaintToleration",
  weight,
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
});

export const createNodeAffinityScore = (
  { addedAffinity }: NodeAffinityArgs,
  weight: number,
): ScorePlugin => ({
  name: "NodeAffinity",
  weight,
  score({ pod }, nodes) {
    const terms = [
      ...(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(pod.spec.affinity?.nodeAffinity
        ?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ];
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
});

export const createPodAffinityScore = (
  {
    hardPodAffinityWeight = 1,
    ignorePreferredTermsOfExistingPods,
  }: InterPodAffinityArgs,
  weight: number,
): ScorePlugin => ({
  name: "InterPodAffinity",
  weight,
  score(view, nodes, cluster) {
    const points = new Map<string, number>();
    const { namespaceLabels } = cluster;
    const own =
      view.preferredAffinity.length + view.preferredAntiAffinity.length;
    if (ignorePreferredTermsOfExistingPods && own === 0) return undefined;
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
        if (hardPodAffinityWeight > 0)
          add(other.requiredAffinity, 1, view.pod, node, hardPodAffinityWeight);
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
});

type PodSubject = Parameters<AffinityTerm["matches"]>[0];
