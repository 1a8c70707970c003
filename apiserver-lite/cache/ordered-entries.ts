// Entries in key order: a list of sorted chunks, so that an insert moves at most one chunk and a scan is linear.
//
// Example, chunk size 4: [a c e g] + f → [a c] [e f g]; range("d") starts at e.
// Invariants: no chunk is empty; the last key of a chunk is below the first of the next.
import type { CacheEntry } from "./cache-entry.ts";

const maxChunk = 512;
/** Chunks that are joined by one call. */
const maxJoined = 4096;

export class OrderedEntries {
  #chunks: CacheEntry[][] = [];
  #size = 0;
  /** All of them, as last asked for, until one changes. */
  #all: readonly CacheEntry[] | undefined;

  get size(): number {
    return this.#size;
  }

  /** Replaces all; the entries must be in key order. */
  load(entries: readonly CacheEntry[]): void {
    this.#chunks = [];
    this.#all = undefined;
    for (let at = 0; at < entries.length; at += maxChunk / 2)
      this.#chunks.push(entries.slice(at, at + maxChunk / 2));
    this.#size = entries.length;
  }

  /** Inserts, or replaces the entry with the same key. */
  set(entry: CacheEntry): void {
    this.#all = undefined;
    const at = this.#chunkFor(entry.key);
    const chunk = this.#chunks[at];
    if (!chunk) {
      this.#chunks.push([entry]);
      this.#size++;
      return;
    }
    const index = lowerBound(chunk, entry.key);
    if (chunk[index]?.key === entry.key) {
      chunk[index] = entry;
      return;
    }
    chunk.splice(index, 0, entry);
    this.#size++;
    if (chunk.length > maxChunk)
      this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1));
  }

  delete(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    const index = lowerBound(chunk, key);
    if (chunk[index]?.key !== key) return;
    this.#all = undefined;
    chunk.splice(index, 1);
    this.#size--;
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** Entries with from ≤ key < to ("" means no end), in order. */
  slice(from: string, to = ""): readonly CacheEntry[] {
    if (from === "" && to === "") return (this.#all ??= joined(this.#chunks));
    const parts: (readonly CacheEntry[])[] = [];
    let at = this.#chunkFor(from);
    let index = lowerBound(this.#chunks[at] ?? [], from);
    for (; at < this.#chunks.length; at++, index = 0) {
      const chunk = this.#chunks[at]!;
      if (to === "" || chunk[chunk.length - 1]!.key < to) {
        parts.push(index === 0 ? chunk : chunk.slice(index));
        continue;
      }
      parts.push(chunk.slice(index, Math.max(index, lowerBound(chunk, to))));
      break;
    }
    return joined(parts);
  }

  /** How many there are from ≤ key < to; without looking at each. */
  count(from: string, to = ""): number {
    const end = to === "" ? this.#size : this.#before(to);
    return end - this.#before(from);
  }

  /** Entries with a key below `key`. */
  #before(key: string): number {
    if (key === "") return 0;
    const at = this.#chunkFor(key);
    let before = lowerBound(this.#chunks[at] ?? [], key);
    for (let index = 0; index < at; index++)
      before += this.#chunks[index]!.length;
    return before;
  }

  /** The last chunk whose first key is ≤ key, or the first. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]![0]!.key <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A new array of exactly their length: one that grows would leave twice as much behind. */
function joined(parts: readonly (readonly CacheEntry[])[]): CacheEntry[] {
  let all: CacheEntry[] = [];
  for (let at = 0; at < parts.length; at += maxJoined)
    all = all.concat(...parts.slice(at, at + maxJoined));
  return all;
}

function lowerBound(chunk: readonly CacheEntry[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
