// The store that forgets: everything in one map, commits take effect in the same turn. For tests and throw-away
// clusters; it has every promise of storage/store.ts but durability.
import type { Clock } from "../../api/clock.ts";
import {
  LocalStore,
  type Medium,
  type MediumWrite,
} from "../local/local-store.ts";
import type { Store } from "../store.ts";

class MemoryMedium implements Medium {
  readonly #values = new Map<string, Uint8Array>();

  open(): Promise<{ revision: number; entries: [] }> {
    return Promise.resolve({ revision: 0, entries: [] });
  }

  read(key: string): Uint8Array | undefined {
    return this.#values.get(key);
  }

  commit(writes: readonly MediumWrite[]): Promise<void> {
    for (const { key, value } of writes) {
      if (value) this.#values.set(key, value);
      else this.#values.delete(key);
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#values.clear();
    return Promise.resolve();
  }
}

export interface MemoryStoreOptions {
  clock?: Clock;
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new LocalStore(new MemoryMedium(), options.clock);
}
