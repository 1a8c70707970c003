// The values of a local store by key, in shelves of keys that begin alike, so that those of one resource are found without
// looking at all others.
//
// Example: /registry/pods/a/b lies in the shelf "/registry/pods/", /registry/example.com/widgets/a/b in
// "/registry/example.com/widgets/" (the second part of the key is a group), /x in the shelf "".
//
// Invariants: a key lies in the shelf whose name is its beginning of `shelfLength`; no shelf is empty. An iteration sees every
// key that is there from its beginning to its end, also while others come and go.
import type { StoredVersion } from "./live-version.ts";

interface Shelf {
  readonly name: string;
  readonly versions: Map<string, StoredVersion>;
}

/** Shelves that are found without their names being cut out of keys: more than are written to at one time. */
const slots = 64;

export class LiveValues {
  readonly #shelves = new Map<string, Shelf>();
  /** The last shelf that was found for each slot. */
  readonly #found = new Array<Shelf | undefined>(slots).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): StoredVersion | undefined {
    return this.#find(key)?.versions.get(key);
  }

  set(key: string, version: StoredVersion): void {
    const { versions } = this.#find(key) ?? this.#add(key);
    const before = versions.size;
    versions.set(key, version);
    this.#size += versions.size - before;
  }

  delete(key: string): void {
    const shelf = this.#find(key);
    if (!shelf?.versions.delete(key)) return;
    this.#size--;
    if (shelf.versions.size > 0) return;
    this.#shelves.delete(shelf.name);
    this.#found[slotOf(key, shelf.name.length)] = undefined;
  }

  clear(): void {
    this.#shelves.clear();
    this.#found.fill(undefined);
    this.#size = 0;
  }

  *values(): Generator<StoredVersion, void> {
    for (const { versions } of this.#shelves.values()) yield* versions.values();
  }

  /** Those whose keys begin with `prefix`, in the order of their keys. */
  withPrefix(prefix: string): StoredVersion[] {
    const found: StoredVersion[] = [];
    for (const { name, versions } of this.#shelves.values()) {
      if (name.startsWith(prefix)) {
        for (const version of versions.values()) found.push(version);
      } else if (prefix.startsWith(name)) {
        for (const version of versions.values())
          if (version.key.startsWith(prefix)) found.push(version);
      }
    }
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #find(key: string): Shelf | undefined {
    const length = shelfLength(key);
    const slot = slotOf(key, length);
    const last = this.#found[slot];
    if (last?.name.length === length && key.startsWith(last.name)) return last;
    const shelf = this.#shelves.get(key.slice(0, length));
    if (shelf) this.#found[slot] = shelf;
    return shelf;
  }

  #add(key: string): Shelf {
    const name = key.slice(0, shelfLength(key));
    const shelf = { name, versions: new Map<string, StoredVersion>() };
    this.#shelves.set(name, shelf);
    return shelf;
  }
}

/** Of the name of a key's shelf. */
function shelfLength(key: string): number {
  const root = key.indexOf("/", 1);
  const second = root < 0 ? -1 : key.indexOf("/", root + 1);
  if (second < 0) return 0;
  const dot = key.indexOf(".", root);
  const third = dot < 0 || dot > second ? -1 : key.indexOf("/", second + 1);
  return (third < 0 ? second : third) + 1;
}

/** By the length of the shelf's name and its last letter. */
const slotOf = (key: string, length: number): number =>
  length < 2 ? 0 : (length * 5 + key.charCodeAt(length - 3)) % slots;
