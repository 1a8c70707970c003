// The store that forgets: commits take effect in the same turn. For tests and throw-away clusters; it has every promise
// of storage/store.ts but durability.
import type { Clock } from "../../api/clock.ts";
import { LocalStore, type Medium } from "../local/local-store.ts";
import type { Store } from "../store.ts";

const nowhere: Medium = {
  open: () => Promise.resolve(0),
  commit: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

interface MemoryStoreOptions {
  clock?: Clock;
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new LocalStore(nowhere, { clock: options.clock });
}
