// The objects of one informer in memory: by key, by namespace and by any number of indexes.
//
// Worked example, index byNode: pod a/x on node n1 → objects {"a/x"}, namespaces {a: {"a/x"}}, byNode {n1: {"a/x"}}.
// An update that moves it to n2 takes it out of n1's bucket before it is filed under n2; empty buckets are dropped.
import { objectKey } from "../api/object.ts";
import type { KubeObject } from "../api/object.ts";

export type IndexFunction<T> = (object: T) => readonly string[];
type Bucket<T> = Map<string, T>;

/** Files objects under the values an index function gives them. */
export class IndexTable<T extends KubeObject> {
  readonly #buckets = new Map<string, Bucket<T>>();

  constructor(private readonly valuesOf: IndexFunction<T>) {}

  replace(old: T | undefined, object: T | undefined): void {
    if (old) {
      const key = objectKey(old);
      for (const value of this.valuesOf(old)) {
        const bucket = this.#buckets.get(value);
        if (bucket?.delete(key) && bucket.size === 0)
          this.#buckets.delete(value);
      }
    }
    if (object) {
      const key = objectKey(object);
      for (const value of this.valuesOf(object)) {
        let bucket = this.#buckets.get(value);
        if (!bucket) this.#buckets.set(value, (bucket = new Map()));
        bucket.set(key, object);
      }
    }
  }

  get(value: string): readonly T[] {
    const bucket = this.#buckets.get(value);
    return bucket ? [...bucket.values()] : [];
  }
}

export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new IndexTable<T>((object) => [
    object.metadata.namespace ?? "",
  ]);

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  list(namespace?: string): readonly T[] {
    return namespace
      ? this.#byNamespace.get(namespace)
      : [...this.#objects.values()];
  }

  /** Returns what was there before. */
  set(object: T): T | undefined {
    const key = objectKey(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#byNamespace.replace(old, object);
    return old;
  }

  delete(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (old) {
      this.#objects.delete(key);
      this.#byNamespace.replace(old, undefined);
    }
    return old;
  }
}
