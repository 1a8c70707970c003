// The NUMA nodes of the machine with their distances: which of two sets of nodes is the better one.
import {
  isNarrower,
  nodeCount,
  nodeIds,
  nodeMask,
  type NodeMask,
} from "./numa-nodes.ts";

export interface NumaNode {
  readonly id: number;
  /** To the nodes of the machine, in the order of their ids; undefined: not known. */
  readonly distances: readonly number[] | undefined;
}

export class NumaDistances {
  /** Every node of the machine. */
  readonly all: NodeMask;
  readonly #distances: ReadonlyMap<number, ReadonlyMap<number, number>>;

  constructor(nodes: readonly NumaNode[]) {
    const ids = nodes.map(({ id }) => id).sort((a, b) => a - b);
    this.all = nodeMask(ids);
    this.#distances = new Map(
      nodes.map(({ id, distances = [] }) => [
        id,
        new Map(ids.map((other, index) => [other, distances[index] ?? 0])),
      ]),
    );
  }

  /** The set with fewer nodes; of equally many the one whose nodes are closer to each other, then the lower one. */
  isCloser(a: NodeMask, b: NodeMask): boolean {
    if (nodeCount(a) !== nodeCount(b)) return isNarrower(a, b);
    const difference = this.#average(a) - this.#average(b);
    return difference === 0 ? a < b : difference < 0;
  }

  #average(mask: NodeMask): number {
    const ids = nodeIds(mask);
    let sum = 0;
    for (const from of ids)
      for (const to of ids) sum += this.#distances.get(from)?.get(to) ?? 0;
    return ids.length === 0 ? 0 : sum / ids.length ** 2;
  }
}
