// Scores nodes by the images of the pod that are there already.
import { maxScore } from "../plugin.ts";
import type { ScorePlugin } from "../plugin.ts";

const mebibyte = 1024 * 1024;
const smallImages = 23 * mebibyte;
const largeImagesPerContainer = 1000 * mebibyte;

export const createImageScore = (weight: number): ScorePlugin => ({
  name: "ImageLocality",
  weight,
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
});

function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/")
    ? `${image}:latest`
    : image;
}
