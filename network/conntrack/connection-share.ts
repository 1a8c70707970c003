// Who has more than a fair share of the kernel's tracked connections. Pure.

/**
 * The most that each may have so that all together have `room`: those with less keep what they have, and what they leave
 * is shared by the others. Infinity: there is room for all.
 *
 * Of 10, 200 and 500 with room for 300: 10 + 145 + 145.
 */
export function fairShare(held: Iterable<number>, room: number): number {
  const ascending = [...held].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [at, count] of ascending.entries()) {
    const share = left / (ascending.length - at);
    if (count > share) return Math.floor(share);
    left -= count;
  }
  return Infinity;
}
