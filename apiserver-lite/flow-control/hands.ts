// Shuffle sharding: a flow has a hand of a few queues of its level, dealt from a deck of all of them by the flow's hash,
// so that a flow that fills its queues shares only some of them with any other.
import { createHash } from "node:crypto";

/** The queues of one flow, all different, each below `deck`. `size` is at most `deck`. */
export function handOf(
  schema: string,
  distinguisher: string,
  deck: number,
  size: number,
): readonly number[] {
  if (deck === 1) return [0];
  let entropy = createHash("sha256")
    .update(schema)
    .update("\0")
    .update(distinguisher)
    .digest()
    .readBigUInt64LE();
  const dealt: number[] = [];
  for (let left = deck; dealt.length < size; left--) {
    const place = Number(entropy % BigInt(left));
    entropy /= BigInt(left);
    dealt.push(cardAt(place, dealt));
  }
  return dealt;
}

/** The card at a place of the deck from which some were dealt. */
function cardAt(place: number, dealt: readonly number[]): number {
  let card = place;
  for (const gone of [...dealt].sort((a, b) => a - b)) if (gone <= card) card++;
  return card;
}
