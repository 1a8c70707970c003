// Damage to a file as disks and people make it: flipped bits, garbage, zeroed sectors and pages, sectors exchanged.
import type { Random } from "./random.ts";

export interface Damage {
  readonly kind: string;
  readonly content: Buffer;
  /** First and last byte that changed. */
  readonly from: number;
  readonly to: number;
}

const kinds = ["bit", "garbage", "sector", "page", "swap"] as const;

/** Undefined when the damage drawn would change nothing. */
export function damaged(content: Buffer, random: Random): Damage | undefined {
  const copy = Buffer.from(content);
  const at = random.integer(content.length);
  const kind = random.pick(kinds);
  if (kind === "bit") copy[at]! ^= 1 << random.integer(8);
  else if (kind === "garbage")
    for (let index = 0; index < 1 + random.integer(64); index++) {
      if (at + index < copy.length) copy[at + index] = random.integer(256);
    }
  else if (kind === "swap") {
    const other = random.integer(content.length);
    const [a, b] = [at - (at % 512), other - (other % 512)];
    const length = Math.min(512, content.length - Math.max(a, b));
    content.copy(copy, a, b, b + length);
    content.copy(copy, b, a, a + length);
  } else {
    const size = kind === "sector" ? 512 : 4096;
    const start = at - (at % size);
    copy.fill(0, start, Math.min(start + size, copy.length));
  }
  const from = copy.findIndex((byte, index) => byte !== content[index]);
  if (from < 0) return undefined;
  let to = copy.length - 1;
  while (copy[to] === content[to]) to--;
  return { kind, content: copy, from, to };
}
