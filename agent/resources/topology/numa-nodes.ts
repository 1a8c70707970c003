// Sets of NUMA nodes as bit masks: bit i is the node with id i. Pure.
// Worked example: nodes 0 and 2 are 0b101 = 5; it is narrower than {1, 2} (the same count, lower bits) and wider than {3}.

/** Bit i: the node with id i. Ids are at most `largestNodeId`. */
export type NodeMask = number;

/** Masks are 32-bit integers whose sign bit stays clear. */
export const largestNodeId = 30;

export function nodeMask(ids: Iterable<number>): NodeMask {
  let mask = 0;
  for (const id of ids) mask |= 1 << id;
  return mask;
}

export function nodeIds(mask: NodeMask): number[] {
  const ids: number[] = [];
  for (let id = 0; mask >>> id !== 0; id++) if (mask & (1 << id)) ids.push(id);
  return ids;
}

export function nodeCount(mask: NodeMask): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Every set of the nodes that is not empty, smaller ones first, then by rising ids. */
export function nodeSubsets(ids: readonly number[]): NodeMask[] {
  const rising = [...ids].sort((a, b) => a - b);
  const masks: NodeMask[] = [];
  // Each set with the place after its last node: what may still be added to it.
  let level: { mask: NodeMask; next: number }[] = [{ mask: 0, next: 0 }];
  while (level.length > 0) {
    level = level.flatMap(({ mask, next }) =>
      rising.slice(next).map((id, offset) => ({
        mask: mask | (1 << id),
        next: next + offset + 1,
      })),
    );
    masks.push(...level.map(({ mask }) => mask));
  }
  return masks;
}

/** Fewer nodes, or as many and lower ones. */
export function isNarrower(a: NodeMask, b: NodeMask): boolean {
  const difference = nodeCount(a) - nodeCount(b);
  return difference === 0 ? a < b : difference < 0;
}
