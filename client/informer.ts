// What a reader of cached state sees. Over HTTP an informer lists and watches into its own map; in process it reads the
// API server's watch cache itself, with no second copy. Objects are deep-frozen and shared.
import type { KubeObject } from "../api/object.ts";

export interface Lister<T extends KubeObject> {
  get(name: string, namespace?: string): T | undefined;
  /** All objects, or those of one namespace; the order is not defined. */
  list(namespace?: string): readonly T[];
  /** Objects filed under `value` by the index named `index` in InformerOptions.indexes. */
  byIndex(index: string, value: string): readonly T[];
}

/** Called in order of revision, synchronously; must not throw and must not block: put a key into a work queue. */
export interface ResourceHandler<T extends KubeObject> {
  onAdd?(object: T): void;
  onUpdate?(oldObject: T, newObject: T): void;
  /** The last known state. */
  onDelete?(object: T): void;
}

export interface InformerOptions<T extends KubeObject> {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** index name → the values an object is filed under. */
  indexes?: Record<string, (object: T) => readonly string[]>;
}

export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  /** Existing objects are replayed as onAdd. Returns a disposer that removes the handler. */
  addHandler(handler: ResourceHandler<T>): () => void;
  hasSynced(): boolean;
  /** Resolves when the first full list has been handed to all handlers. */
  synced(): Promise<void>;
}
