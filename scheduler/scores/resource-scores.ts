// Scores by resources: least allocated, balanced use, and images that are there already.
import type { NodeInfo } from "../node-info.ts";
import { maxScore } from "../plugin.ts";
import type { ScorePlugin } from "../plugin.ts";

const scored = ["cpu", "memory"] as const;

/** Share of each scored resource that would be used with the pod on the node; absent where the node has none of it. */
function fractions(
  node: NodeInfo,
  requests: ReadonlyMap<string, number>,
  used: ReadonlyMap<string, number>,
): number[] {
  return scored.flatMap((name) => {
    const capacity = node.allocatable.get(name) ?? 0;
    if (capacity === 0) return [];
    return [((used.get(name) ?? 0) + (requests.get(name) ?? 0)) / capacity];
  });
}

export const leastAllocated: ScorePlugin = {
  name: "NodeResourcesFit",
  weight: 1,
  score: ({ scoredRequests }, nodes) =>
    nodes.map((node) => {
      const used = fractions(node, scoredRequests, node.scored);
      if (used.length === 0) return 0;
      const free = used.map((share) =>
        share > 1 ? 0 : Math.floor((1 - share) * maxScore),
      );
      return Math.floor(free.reduce((sum, one) => sum + one, 0) / free.length);
    }),
};

export const balancedAllocation: ScorePlugin = {
  name: "NodeResourcesBalancedAllocation",
  weight: 1,
  score({ requests }, nodes) {
    // A pod that asks for nothing can't unbalance anything.
    if (!scored.some((name) => (requests.get(name) ?? 0) > 0)) return undefined;
    return nodes.map((node) => {
      const used = fractions(node, requests, node.requested).map((share) =>
        Math.min(1, share),
      );
      const mean = used.reduce((sum, one) => sum + one, 0) / used.length;
      const variance =
        used.reduce((sum, one) => sum + (one - mean) ** 2, 0) / used.length;
      return Math.floor((1 - Math.sqrt(variance)) * maxScore) || 0;
    });
  },
};

const mebibyte = 1024 * 1024;
const smallImages = 23 * mebibyte;
const largeImagesPerContainer = 1000 * mebibyte;

export const imageLocality: ScorePlugin = {
  name: "ImageLocality",
  weight: 1,
  score({ pod }, nodes, cluster) {
    const { containers, initContainers = [] } = pod.spec;
    const images = [...containers, ...initContainers].map((container) =>
      withTag(container.image ?? ""),
    );
    const all = cluster.nodes();
    // An image many nodes have is weighed more: it is less of a reason to crowd on one node.
    const spread = new Map(
      [...new Set(images)].map((image) => [
        image,
        all.filter((node) => node.images.has(image)).length / all.length,
      ]),
    );
    if ([...spread.values()].every((share) => share === 0)) return undefined;
    const most = largeImagesPerContainer * images.length;
    return nodes.map((node) => {
      const present = images.reduce(
        (sum, image) =>
          sum + (node.images.get(image) ?? 0) * (spread.get(image) ?? 0),
        0,
      );
      const bounded = Math.min(Math.max(present, smallImages), most);
      return Math.floor(
        (maxScore * (bounded - smallImages)) / (most - smallImages),
      );
    });
  },
};

function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/")
    ? `${image}:latest`
    : image;
}
