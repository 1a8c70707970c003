// In place of the map and the set in which Node keeps the streams of an HTTP/2 session. A Map or Set that changes often gets
// a new table every few entries, and that of one in the old generation is made there as well: 50 to 130 bytes a change,
// which wait for a full collection. The engine also links each old table to the next: all later ones outlive every small
// collection then, with all streams that were ever open in them and what each of those holds. Here a stream has a place
// in an array that stays the same, and its place is emptied when it is closed.
//
//   8 places, streams 1, 3 and 5:     [1 3 5 . . . . .]    a stream's place is half its number, where that is free
//   1 stays open, 17 comes:           [1 17 . . . . . .]   else the next free one
//   1 closes:                         [17 . . . . . . .]   those behind it move up, so that none is behind a free place
//
// Invariants: at most half of the places are taken; no free place is between a stream and where it belongs.
// Relies on fields that are Node's own (20): where they are not as expected, the session keeps its own.
import type { Http2Session } from "node:http2";

const fewest = 16;

/** What Node asks of its map. */
export class StreamTable<T> {
  #ids: number[] = new Array<number>(fewest).fill(-1);
  #streams: (T | undefined)[] = new Array<T | undefined>(fewest).fill(
    undefined,
  );
  size = 0;

  get(id: number): T | undefined {
    return this.#streams[this.#find(id)];
  }

  has(id: number): boolean {
    return this.#ids[this.#find(id)] === id;
  }

  set(id: number, stream: T): this {
    let at = this.#find(id);
    if (this.#ids[at] !== id) {
      if (2 * (this.size + 1) > this.#ids.length) {
        this.#grow();
        at = this.#find(id);
      }
      this.#ids[at] = id;
      this.size++;
    }
    this.#streams[at] = stream;
    return this;
  }

  delete(id: number): boolean {
    let free = this.#find(id);
    const ids = this.#ids;
    if (ids[free] !== id) return false;
    const streams = this.#streams;
    const last = ids.length - 1;
    for (let at = (free + 1) & last; ids[at] !== -1; at = (at + 1) & last) {
      // It may not be before the place where it belongs.
      if (((at - (ids[at]! >> 1)) & last) < ((at - free) & last)) continue;
      ids[free] = ids[at]!;
      streams[free] = streams[at];
      free = at;
    }
    ids[free] = -1;
    streams[free] = undefined;
    this.size--;
    return true;
  }

  /** Also where the callback removes streams. */
  forEach(callback: (stream: T, id: number) => void): void {
    for (const id of this.#ids.filter((each) => each !== -1)) {
      const stream = this.get(id);
      if (stream !== undefined) callback(stream, id);
    }
  }

  /** Where it is, or the free place where it would be. */
  #find(id: number): number {
    const ids = this.#ids;
    const last = ids.length - 1;
    let at = (id >> 1) & last;
    while (ids[at] !== id && ids[at] !== -1) at = (at + 1) & last;
    return at;
  }

  #grow(): void {
    const ids = this.#ids;
    const streams = this.#streams;
    this.#ids = new Array<number>(2 * ids.length).fill(-1);
    this.#streams = new Array<T | undefined>(2 * ids.length).fill(undefined);
    for (const [at, id] of ids.entries()) {
      if (id === -1) continue;
      const place = this.#find(id);
      this.#ids[place] = id;
      this.#streams[place] = streams[at];
    }
  }
}

/** What Node asks of its set of streams without a number: a client's stream has one at once, so there is one at most for long. */
export class UnnumberedStreams<T> {
  readonly #streams: (T | undefined)[] = [];
  size = 0;

  add(stream: T): this {
    this.#streams[this.size++] = stream;
    return this;
  }

  delete(stream: T): boolean {
    const streams = this.#streams;
    const at = streams.lastIndexOf(stream);
    if (at < 0) return false;
    streams[at] = streams[--this.size];
    streams[this.size] = undefined;
    return true;
  }

  /** Also where the callback removes streams. */
  forEach(callback: (stream: T) => void): void {
    for (const stream of this.#streams.slice(0, this.size))
      if (stream !== undefined) callback(stream);
  }
}

type Own<T extends string> = Partial<Record<T, unknown>> & { size?: number };

/** To be called before its first stream. False: it keeps its own. */
export function replaceStreamTable(session: Http2Session): boolean {
  const key = Object.getOwnPropertySymbols(session).find(
    ({ description }) => description === "state",
  );
  const state = key && (session as unknown as Record<symbol, unknown>)[key];
  const { streams, pendingStreams } = (state ?? {}) as {
    streams?: Own<"get" | "set" | "delete" | "forEach">;
    pendingStreams?: Own<"add" | "delete" | "forEach">;
  };
  if (streams?.size !== 0 || pendingStreams?.size !== 0) return false;
  const has = (one: object, names: readonly string[]): boolean =>
    names.every(
      (name) => typeof (one as Record<string, unknown>)[name] === "function",
    );
  if (!has(streams, ["get", "set", "delete", "forEach"])) return false;
  if (!has(pendingStreams, ["add", "delete", "forEach"])) return false;
  Object.assign(state as object, {
    streams: new StreamTable(),
    pendingStreams: new UnnumberedStreams(),
  });
  return true;
}
