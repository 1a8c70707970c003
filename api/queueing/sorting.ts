// Sorting texts in steps: short runs are sorted at once and then merged.
import { Pace, type Steps } from "./steps.ts";

const runLength = 1000;

/** By their UTF-16 units. The list belongs to it. */
export function* sorting(texts: string[]): Steps<string[]> {
  if (texts.length <= runLength) return texts.sort();
  let from = texts;
  for (let at = 0; at < from.length; at += runLength) {
    const run = from.slice(at, at + runLength).sort();
    for (const [index, text] of run.entries()) from[at + index] = text;
    yield;
  }
  const pace = new Pace(4 * runLength);
  let to = new Array<string>(from.length);
  for (let size = runLength; size < from.length; size *= 2) {
    for (let start = 0; start < from.length; start += 2 * size) {
      const middle = Math.min(start + size, from.length);
      const end = Math.min(middle + size, from.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const takesLeft =
          left < middle && (right >= end || from[left]! <= from[right]!);
        to[at] = takesLeft ? from[left++]! : from[right++]!;
        if (pace.isOver()) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
