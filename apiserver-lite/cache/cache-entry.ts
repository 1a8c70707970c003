// One version of one object as the watch cache keeps it: its JSON bytes, and what readers ask of it without parsing.
// Everything else (the parsed object, other encodings) is made on first demand and kept.
//
// Invariants: never changes after it was made; `json` is the object in the storage version with its resourceVersion,
// begins with `{"kind":…,"apiVersion":…,` (so that list items can leave these out) and ends with a newline.
import type { AnyObject } from "../../api/object.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import { deepFreeze } from "./deep-freeze.ts";

export type Fields = Readonly<Record<string, string>>;

export class CacheEntry {
  #object: AnyObject | undefined;
  /** The object once it is cool: whoever still holds it (informers) shares it, else it is parsed again. */
  #cooled: WeakRef<AnyObject> | undefined;
  #frozen = false;
  /** Other encodings by the representation's id. */
  #made: Map<string, Buffer> | undefined;

  constructor(
    /** namespace/name or name: the key within the resource. */
    readonly key: string,
    readonly namespace: string,
    readonly name: string,
    readonly revision: number,
    readonly json: Buffer,
    readonly labels: Fields,
    /** Selectable fields besides metadata.name and metadata.namespace. */
    readonly fields: Fields,
    object?: AnyObject,
  ) {
    this.#object = object;
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
    return (this.#object ??= this.#found());
  }

  #found(): AnyObject {
    const kept = this.#cooled?.deref();
    this.#cooled = undefined;
    if (kept) return kept;
    this.#frozen = false;
    return JSON.parse(this.json.toString("utf8")) as AnyObject;
  }

  /** Lets go of the object it was written from, which takes several times the bytes' memory. */
  cool(): void {
    // Only what was shown outside may still be held. A WeakRef keeps its object through every small collection, so one
    // for each entry would move all objects to the old generation.
    if (this.#object && this.#frozen) this.#cooled = new WeakRef(this.#object);
    this.#object = undefined;
  }

  /** A private copy to change. */
  copy(): AnyObject {
    return this.#object
      ? copyJson(this.#object)
      : (JSON.parse(this.json.toString("utf8")) as AnyObject);
  }

  field(name: string): string {
    if (name === "metadata.name") return this.name;
    if (name === "metadata.namespace") return this.namespace;
    return this.fields[name] ?? "";
  }

  encoding(id: string, make: (entry: CacheEntry) => Buffer): Buffer {
    let bytes = this.#made?.get(id);
    if (!bytes) {
      bytes = make(this);
      (this.#made ??= new Map()).set(id, bytes);
    }
    return bytes;
  }

  /** History keeps the bytes only. */
  shrink(): void {
    this.#object = undefined;
    this.#cooled = undefined;
    this.#frozen = false;
    this.#made = undefined;
  }
}
