// In place of the map in which Node keeps the streams of an HTTP/2 session. A Map that changes often gets a new table every
// few entries, and the engine links each old table to the next: once one of them is in the old generation, all later
// ones outlive every small collection, with all streams that were ever open in them and what each of those holds. Here
// the tables hold cells, which are emptied when their stream is closed.
//
// Relies on fields that are Node's own (20): where they are not as expected, the session keeps its map.
import type { Http2Session } from "node:http2";

interface Cell<T> {
  stream: T | undefined;
}

/** What Node asks of its map. */
export class StreamTable<T> {
  readonly #cells = new Map<number, Cell<T>>();

  get size(): number {
    return this.#cells.size;
  }

  get(id: number): T | undefined {
    return this.#cells.get(id)?.stream;
  }

  has(id: number): boolean {
    return this.#cells.has(id);
  }

  set(id: number, stream: T): this {
    const cell = this.#cells.get(id);
    if (cell) cell.stream = stream;
    else this.#cells.set(id, { stream });
    return this;
  }

  delete(id: number): boolean {
    const cell = this.#cells.get(id);
    if (cell) cell.stream = undefined;
    return this.#cells.delete(id);
  }

  /** Also where the callback removes streams. */
  forEach(callback: (stream: T, id: number) => void): void {
    for (const [id, { stream }] of this.#cells)
      if (stream !== undefined) callback(stream, id);
  }
}

const used = ["get", "set", "delete", "forEach"] as const;

/** To be called before its first stream. False: it keeps its map. */
export function replaceStreamTable(session: Http2Session): boolean {
  const key = Object.getOwnPropertySymbols(session).find(
    ({ description }) => description === "state",
  );
  const state = key && (session as unknown as Record<symbol, unknown>)[key];
  const streams = (state as { streams?: Partial<Map<number, unknown>> } | null)
    ?.streams;
  if (!streams || streams.size !== 0) return false;
  if (!used.every((name) => typeof streams[name] === "function")) return false;
  (state as { streams: unknown }).streams = new StreamTable();
  return true;
}
