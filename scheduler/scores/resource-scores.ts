// Scores by what nodes have and pods ask for: how much or how little of a node is in use, by one of three strategies, and
// how evenly.
import type {
  NodeResourcesBalancedAllocationArgs,
  NodeResourcesFitArgs,
  ResourceSpec,
  ShapePoint,
} from "../configuration/configuration-types.ts";
import type { NodeInfo } from "../node-info.ts";
import { maxScore } from "../plugin.ts";
import type { ScorePlugin } from "../plugin.ts";

type Amounts = ReadonlyMap<string, number>;

const isCountedForAll = (name: string): boolean =>
  ["cpu", "memory", "ephemeral-storage"].includes(name);

/** A resource as it would be with the pod on the node; a node without any has none of these. */
interface Use {
  readonly used: number;
  readonly capacity: number;
  readonly weight: number;
}

function usesOf(
  node: NodeInfo,
  resources: readonly ResourceSpec[],
  asked: Amounts,
  requested: Amounts,
): Use[] {
  const uses: Use[] = [];
  for (const { name, weight = 1 } of resources) {
    const capacity = node.allocatable.get(name) ?? 0;
    const own = asked.get(name) ?? 0;
    // Devices and the like only matter to those who ask for them.
    if (capacity === 0 || (own === 0 && !isCountedForAll(name))) continue;
    const used = (requested.get(name) ?? 0) + own;
    uses.push({ used, capacity, weight });
  }
  return uses;
}

type ResourceScore = (use: Use) => number;

const leastAllocated: ResourceScore = ({ used, capacity }) =>
  used > capacity ? 0 : Math.floor(((capacity - used) * maxScore) / capacity);

const mostAllocated: ResourceScore = ({ used, capacity }) =>
  Math.floor((Math.min(used, capacity) * maxScore) / capacity);

/** The score at a utilization in percent: straight lines between the points, level before the first and after the last. */
function scoreByShape(shape: readonly ShapePoint[]): ResourceScore {
  const points = shape.map(({ utilization, score }) => ({
    utilization,
    // A shape's scores go to 10.
    score: (score * maxScore) / 10,
  }));
  return ({ used, capacity }) => {
    const at = used > capacity ? 100 : Math.floor((used * 100) / capacity);
    const next = points.findIndex(({ utilization }) => at <= utilization);
    if (next < 0) return points.at(-1)!.score;
    const [from, to] = [points[next - 1], points[next]!];
    if (!from) return to.score;
    return (
      from.score +
      Math.trunc(
        ((to.score - from.score) * (at - from.utilization)) /
          (to.utilization - from.utilization),
      )
    );
  };
}

function weightedMean(
  uses: readonly Use[],
  scoreOf: ResourceScore,
): { sum: number; weights: number } {
  let [sum, weights] = [0, 0];
  for (const use of uses) {
    sum += scoreOf(use) * use.weight;
    weights += use.weight;
  }
  return { sum, weights };
}

/** By ratio a resource that scores nothing does not count, and the mean is rounded. */
function ratioMean(uses: readonly Use[], scoreOf: ResourceScore): number {
  const { sum, weights } = weightedMean(
    uses.filter((use) => scoreOf(use) > 0),
    scoreOf,
  );
  return weights === 0 ? 0 : Math.round(sum / weights);
}

function wholeMean(uses: readonly Use[], scoreOf: ResourceScore): number {
  const { sum, weights } = weightedMean(uses, scoreOf);
  return weights === 0 ? 0 : Math.floor(sum / weights);
}

export function createAllocationScore(
  { scoringStrategy }: NodeResourcesFitArgs,
  weight: number,
): ScorePlugin {
  const {
    type,
    resources = [],
    requestedToCapacityRatio,
  } = scoringStrategy ?? {};
  const shape = requestedToCapacityRatio?.shape ?? [];
  const [mean, scoreOf] =
    type === "RequestedToCapacityRatio"
      ? [ratioMean, scoreByShape(shape)]
      : [wholeMean, type === "MostAllocated" ? mostAllocated : leastAllocated];
  return {
    name: "NodeResourcesFit",
    weight,
    score: ({ scoredRequests }, nodes) =>
      nodes.map((node) =>
        mean(usesOf(node, resources, scoredRequests, node.scored), scoreOf),
      ),
  };
}

export function createBalanceScore(
  { resources = [] }: NodeResourcesBalancedAllocationArgs,
  weight: number,
): ScorePlugin {
  return {
    name: "NodeResourcesBalancedAllocation",
    weight,
    score: ({ requests }, nodes) =>
      nodes.map((node) => {
        const shares = usesOf(node, resources, requests, node.requested).map(
          ({ used, capacity }) => Math.min(1, used / capacity),
        );
        return Math.floor((1 - deviation(shares)) * maxScore);
      }),
  };
}

function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  // Exact, where the square root of squares is not.
  if (shares.length === 2) return Math.abs(shares[0]! - shares[1]!) / 2;
  const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  return Math.sqrt(
    // Not by a power, whose last digit may differ.
    shares.reduce((sum, one) => sum + (one - mean) * (one - mean), 0) /
      shares.length,
  );
}
