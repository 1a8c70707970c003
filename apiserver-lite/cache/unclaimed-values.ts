// Values that no resource has claimed when the state is loaded: those of custom resources, whose kinds are registered after
// it. Kept up to date until the start is over, so that each of a thousand kinds need not read the store.
// Example: /registry/example.com/widgets/default/a is found under /registry/example.com/widgets.
import type { StoredValue, StoreEvent } from "../../storage/store.ts";

export class UnclaimedValues {
  readonly #byPrefix = new Map<string, Map<string, StoredValue>>();

  add(value: StoredValue): void {
    const prefix = prefixOf(value.key);
    const known = this.#byPrefix.get(prefix);
    if (known) known.set(value.key, value);
    else this.#byPrefix.set(prefix, new Map([[value.key, value]]));
  }

  apply(event: StoreEvent): void {
    if (event.type === "put") this.add(event as StoredValue);
    else this.#byPrefix.get(prefixOf(event.key))?.delete(event.key);
  }

  /** Those of a resource, by key; they are its own from now on. */
  take(prefix: string): StoredValue[] {
    const found = [...(this.#byPrefix.get(prefix)?.values() ?? [])];
    this.#byPrefix.delete(prefix);
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

/** The root and two more parts. */
function prefixOf(key: string): string {
  let end = 0;
  for (let slashes = 0; slashes < 3 && end >= 0; slashes++)
    end = key.indexOf("/", end + 1);
  return end < 0 ? key : key.slice(0, end);
}
