// The wire encodings: how an object, a list of encoded objects and a watch event become bytes. JSON is always there;
// YAML, protobuf and CBOR load when first asked for. Lists are made in parts, so that a list of any size neither holds
// the event loop nor is in memory as a whole.
import { stringified } from "../../api/escaped-json.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { FormatName } from "./negotiation.ts";

/**
 * The bytes of a list in chunks of up to 64 KiB of the pool, to be given back to it. `undefined` means no bytes: it comes
 * after some work, so that the caller can look at the clock.
 */
export type ListParts = Generator<Buffer | undefined, void>;

/** The items of a list. Callers use the returned bytes and objects once and do not change them. */
export interface ListItems {
  readonly count: number;
  /** As `encode` makes it. */
  bytes(index: number): Buffer;
  /** The same made for this list alone. Unset where nothing is kept. */
  fresh?(index: number): Buffer;
  /** How long `bytes` is, when it is known without making it. */
  length(index: number): number | undefined;
  /** As a list shows it: without kind and apiVersion where lists leave these out. */
  object(index: number): object;
}

export interface Format {
  readonly name: FormatName;
  /** Media type of a watch stream, given that of single answers. */
  streamType(contentType: string): string;
  encode(object: object): Buffer;
  /**
   * The same from the object's JSON, as the cache holds it, without parsing it. A view that is valid until the next
   * encoding. Undefined: the format can't.
   */
  readonly transcode?: (
    json: Buffer,
    apiVersion: string,
    kind: string,
  ) => Buffer;
  /** `head` has kind, apiVersion and metadata; the array of the items is called `field`. */
  list(
    head: { kind: string; apiVersion: string; metadata: object },
    field: "items" | "rows",
    items: ListItems,
    pool: ChunkPool,
  ): ListParts;
  frame(type: string, object: Buffer): Buffer;
  /** The bytes around an object in a frame, in place of its own last byte; undefined: a frame is made as a whole. */
  around?(type: string): readonly [before: Buffer, behind: Buffer];
}

const comma = 0x2c;
/** Items that are made between two looks at the clock. */
export const itemsPerLook = 8;
const jsonListEnd = Buffer.from("]}\n");
const frameEnd = Buffer.from("}\n");
const frameHeads = new Map<string, Buffer>(
  ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
);

export interface JsonPieces {
  readonly count: number;
  /** Before and behind each piece. */
  readonly before: Buffer;
  readonly behind: Buffer;
  /** Pieces are cut out of bytes that are there; others take time to be made. */
  readonly ready: boolean;
  /** The part of an entry's bytes that the list shows. */
  piece(index: number): Uint8Array;
}

/** A JSON list from pieces of bytes that are there already. */
export function* jsonListParts(
  head: object,
  pieces: JsonPieces,
  pool: ChunkPool,
): ListParts {
  const { count, before, behind, ready } = pieces;
  const around = 1 + before.length + behind.length;
  let chunk = pool.take();
  let used = chunk.write(stringified({ ...head, items: [] }).slice(0, -2));
  for (let index = 0; index < count; index++) {
    const piece = pieces.piece(index);
    const length = around + piece.length;
    if (used + length > chunk.length) {
      yield chunk.subarray(0, used);
      chunk = pool.take(length);
      used = 0;
    }
    if (index > 0) chunk[used++] = comma;
    used += before.copy(chunk, used);
    chunk.set(piece, used);
    used += piece.length;
    used += behind.copy(chunk, used);
    if (!ready && index % itemsPerLook === 0) yield undefined;
  }
  yield chunk.subarray(0, used);
  yield jsonListEnd;
}

/** Joins what `pieces` give to chunks. */
export function* joined(
  pieces: Iterable<Uint8Array | undefined>,
  pool: ChunkPool,
): Generator<Buffer | undefined, void> {
  let chunk: Buffer | undefined;
  let used = 0;
  let since = 0;
  for (const piece of pieces) {
    if (!piece) {
      yield undefined;
      continue;
    }
    if (chunk && used + piece.length > chunk.length) {
      yield chunk.subarray(0, used);
      chunk = undefined;
      used = 0;
    }
    chunk ??= pool.take(piece.length);
    chunk.set(piece, used);
    used += piece.length;
    if (++since % (4 * itemsPerLook) === 0) yield undefined;
  }
  if (chunk) yield chunk.subarray(0, used);
}

/** Of items that have none, as many are looked at between two looks at the clock. */
const emptyPerLook = 64;

/** The pieces of all items, for `joined`; undefined for an item: it has none. */
export function* piecesOf<T>(
  items: readonly T[],
  pieces: (item: T) => readonly Uint8Array[] | undefined,
): Iterable<Uint8Array | undefined> {
  let empty = 0;
  for (const item of items) {
    const found = pieces(item);
    if (found) yield* found;
    else if (++empty % emptyPerLook === 0) yield undefined;
  }
}

/** For people: as JSON.stringify(list, null, 2) writes it, item by item. */
export function* prettyListParts(
  head: object,
  field: string,
  count: number,
  object: (index: number) => object,
  pool: ChunkPool,
): ListParts {
  const empty = stringified({ ...head, [field]: [] }, 2);
  if (count === 0) return yield Buffer.from(empty);
  yield* joined(prettyPieces(empty, count, object), pool);
}

function* prettyPieces(
  empty: string,
  count: number,
  object: (index: number) => object,
): Iterable<Buffer> {
  yield Buffer.from(empty.slice(0, -"]\n}".length));
  for (let index = 0; index < count; index++) {
    const text = stringified(object(index), 2);
    yield Buffer.from(
      `${index === 0 ? "" : ","}\n    ${text.replaceAll("\n", "\n    ")}`,
    );
  }
  yield Buffer.from("\n  ]\n}");
}

function* jsonPieces(
  head: object,
  field: string,
  items: ListItems,
): Iterable<Buffer> {
  yield Buffer.from(
    stringified({ ...head, [field]: [] }).slice(0, -"]}".length),
  );
  for (let index = 0; index < items.count; index++)
    yield Buffer.from(
      `${index === 0 ? "" : ","}${stringified(items.object(index))}`,
    );
  yield jsonListEnd;
}

export const jsonFormat: Format = {
  name: "json",
  streamType: (contentType) => contentType,
  encode: (object) => Buffer.from(`${stringified(object)}\n`),
  list: (head, field, items, pool) =>
    joined(jsonPieces(head, field, items), pool),
  frame: (type, object) =>
    Buffer.concat([
      frameHeads.get(type)!,
      object.subarray(0, object.length - 1),
      frameEnd,
    ]),
  around: (type) => [frameHeads.get(type)!, frameEnd],
};

/** Encoders for the other formats, handed over by the composition or loaded on demand. */
export interface OtherFormats {
  yaml?: Format;
  protobuf?: Format;
  cbor?: Format;
}

export function formatNamed(name: FormatName, others: OtherFormats): Format {
  return name === "json" ? jsonFormat : (others[name] ?? jsonFormat);
}
