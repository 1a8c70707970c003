// One version of one object as the watch cache keeps it: its JSON bytes, and what readers ask of it without parsing.
// The parsed object is made on first demand and kept; other encodings are made on demand too, and kept among the derived
// bytes as long as these have room.
//
// Invariants: never changes after it was made; `json` is the object in the storage version with its resourceVersion,
// begins with `{"kind":…,"apiVersion":…,` (so that list items can leave these out) and ends with a newline.
import type { AnyObject } from "../../api/object.ts";
import type { JsonProjection } from "../printing/json-projection.ts";
import { copyObject } from "./object-copy.ts";
import { deepFreeze } from "../../api/objects/deep-freeze.ts";
import type { Derived, DerivedBytes } from "./derived-bytes.ts";
import { endOfMetadata, parseWithout } from "./lean-object.ts";
import type { Fields } from "./shared-fields.ts";

const metadataKeyLength = '"metadata":'.length;

export class CacheEntry {
  // Where the JSON is, and a Buffer only when it is asked for: of many thousands of entries few are.
  readonly #memory: ArrayBufferLike;
  readonly #at: number;
  /** Of the JSON. */
  readonly bytes: number;
  /** Weak once the object is cool: while an informer still holds the object it is shared, else it is parsed again. */
  #held: AnyObject | WeakRef<AnyObject> | undefined;
  #frozen = false;
  #derived: Derived | undefined;
  /** See `metadataEnd`; 0: not looked for yet. */
  #metadataEnd = 0;

  constructor(
    /** namespace/name or name: the key within the resource. */
    readonly key: string,
    readonly revision: number,
    json: Buffer,
    readonly labels: Fields,
    /** Selectable fields besides metadata.name and metadata.namespace. */
    readonly fields: Fields,
    object?: AnyObject,
  ) {
    this.#memory = json.buffer;
    this.#at = json.byteOffset;
    this.bytes = json.length;
    this.#held = object;
  }

  get json(): Buffer {
    return Buffer.from(this.#memory, this.#at, this.bytes);
  }

  /** A part of `json`. */
  slice(start: number, end: number): Uint8Array {
    return new Uint8Array(this.#memory, this.#at + start, end - start);
  }

  get name(): string {
    return this.key.slice(this.key.indexOf("/") + 1);
  }

  /** "" for what is in none. */
  get namespace(): string {
    return this.key.slice(0, Math.max(0, this.key.indexOf("/")));
  }

  /** For readers outside the registry: deep-frozen, shared. */
  get object(): Readonly<AnyObject> {
    const object = this.raw;
    if (!this.#frozen) {
      deepFreeze(object);
      this.#frozen = true;
    }
    return object;
  }

  /** The same without the cost of freezing, for code that is known not to write. */
  get raw(): Readonly<AnyObject> {
    const held = this.#held;
    if (held && !(held instanceof WeakRef)) return held;
    let object = held?.deref();
    if (!object) {
      this.#frozen = false;
      object = this.#parsed();
    }
    this.#held = object;
    return object;
  }

  #parsed(): AnyObject {
    return JSON.parse(this.json.toString("utf8")) as AnyObject;
  }

  /** The object if it is still in memory. */
  #found(): AnyObject | undefined {
    const held = this.#held;
    return held instanceof WeakRef ? held.deref() : held;
  }

  /** Lets go of the object it was written from, which takes several times the bytes' memory. */
  cool(): void {
    const held = this.#held;
    if (!held || held instanceof WeakRef) return;
    // Only what was shown outside may still be held. A WeakRef keeps its object through every small collection, so one
    // for each entry would move all objects to the old generation.
    this.#held = this.#frozen ? new WeakRef(held) : undefined;
  }

  /** A private copy to change; only the documents of managed fields are shared. */
  copy(): AnyObject {
    const held = this.#held;
    return held && !(held instanceof WeakRef)
      ? copyObject(held)
      : this.#parsed();
  }

  field(name: string): string {
    if (name === "metadata.name") return this.name;
    if (name === "metadata.namespace") return this.namespace;
    return this.fields[name] ?? "";
  }

  /** For one use and not to be changed: it is not kept, so that reading many objects does not fill the heap. */
  get transient(): Readonly<AnyObject> {
    return this.#found() ?? this.#parsed();
  }

  /**
   * The same for those who read only what `projection` reads, or who do not look at the documents of its managed fields,
   * which may be empty.
   * @param start where the metadata begin, see `metadataEnd`
   */
  lean(start: number, projection?: JsonProjection): Readonly<AnyObject> {
    const found = this.#found();
    if (found) return found;
    const { json } = this;
    const projected = projection?.read(json);
    if (projection && projected) {
      // Readers of rows ask for this end next.
      if (projection.firstStart === start + metadataKeyLength)
        this.#metadataEnd = projection.firstEnd;
      return projected as AnyObject;
    }
    const documents: number[] = [];
    this.#metadataEnd = endOfMetadata(json, start, documents);
    return parseWithout(json, documents);
  }

  /** Another encoding. @param id of the representation @param make its result is copied */
  encoding(
    store: DerivedBytes,
    id: string,
    make: (entry: CacheEntry) => Buffer,
  ): Buffer {
    const known = this.#find(id);
    const kept = known && store.get(known);
    if (kept) return kept;
    const bytes = make(this);
    const others = known ? without(this.#derived, known) : this.#derived;
    const derived = store.keep(id, bytes, others);
    this.#derived = derived;
    return store.get(derived)!;
  }

  /** Of an encoding made before, also when it is no longer kept. */
  encodedLength(id: string): number | undefined {
    return this.#find(id)?.length;
  }

  #find(id: string): Derived | undefined {
    let derived = this.#derived;
    while (derived && derived.id !== id) derived = derived.next;
    return derived;
  }

  /**
   * Where the metadata end in `json`: they begin at `start` with `"metadata":{`, and are complete before this index.
   * -1 when they are not there.
   */
  metadataEnd(start: number): number {
    if (this.#metadataEnd === 0)
      this.#metadataEnd = endOfMetadata(this.json, start);
    return this.#metadataEnd;
  }

  /** History keeps the bytes only. */
  shrink(): void {
    this.#held = undefined;
    this.#frozen = false;
    this.#derived = undefined;
  }
}

function without(list: Derived | undefined, one: Derived): Derived | undefined {
  if (!list || list === one) return list?.next;
  return { ...list, next: without(list.next, one) };
}
