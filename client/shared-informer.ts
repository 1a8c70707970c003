// What several readers of one set of objects share: handlers, index tables and the synced state. The two sources of
// events (list-reflector.ts over a transport, cache-source.ts on a cache of this process) call deliver(); readers get an
// InformerView each, with its own index names.
//
// Invariants: handlers are called in order of revision, synchronously, after the index tables are up to date. A handler
// that throws is logged and does not keep the others from being called.
import type { Logger } from "pino";
import type { KubeObject } from "../api/object.ts";
import { objectKey } from "../api/object.ts";
import type {
  Informer,
  InformerOptions,
  Lister,
  ResourceHandler,
} from "./informer.ts";
import { IndexTable } from "./object-store.ts";
import type { IndexFunction } from "./object-store.ts";

/** Where the objects are. */
export interface ObjectReader<T extends KubeObject> {
  get(key: string): T | undefined;
  list(namespace?: string): readonly T[];
}

export class SharedInformer<T extends KubeObject> {
  readonly #handlers = new Set<ResourceHandler<T>>();
  readonly #indexes = new Map<IndexFunction<T>, IndexTable<T>>();
  #wasHeard = false;
  #synced = false;
  readonly #whenSynced: Promise<void>;
  #resolveSynced: () => void = () => {};

  constructor(
    readonly reader: ObjectReader<T>,
    private readonly logger: Logger,
  ) {
    this.#whenSynced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  /** old undefined: added; object undefined: deleted. */
  deliver(old: T | undefined, object: T | undefined): void {
    for (const table of this.#indexes.values()) table.replace(old, object);
    for (const handler of this.#handlers) this.#call(handler, old, object);
  }

  /** All its handlers have been removed; false of one that is only read. */
  get isForsaken(): boolean {
    return this.#wasHeard && this.#handlers.size === 0;
  }

  markSynced(): void {
    this.#synced = true;
    this.#resolveSynced();
  }

  view(options: InformerOptions<T>): Informer<T> {
    const tables = new Map<string, IndexTable<T>>();
    for (const [name, valuesOf] of Object.entries(options.indexes ?? {}))
      tables.set(name, this.#index(valuesOf));
    const lister: Lister<T> = {
      get: (name, namespace) =>
        this.reader.get(objectKey({ metadata: { name, namespace } })),
      list: (namespace) => this.reader.list(namespace),
      byIndex(index, value) {
        const table = tables.get(index);
        if (!table) throw new Error(`informer has no index "${index}"`);
        return table.get(value);
      },
    };
    return {
      lister,
      addHandler: (handler) => this.#addHandler(handler),
      hasSynced: () => this.#synced,
      synced: () => this.#whenSynced,
    };
  }

  #index(valuesOf: IndexFunction<T>): IndexTable<T> {
    let table = this.#indexes.get(valuesOf);
    if (!table) {
      table = new IndexTable(valuesOf);
      for (const object of this.reader.list()) table.replace(undefined, object);
      this.#indexes.set(valuesOf, table);
    }
    return table;
  }

  #addHandler(handler: ResourceHandler<T>): () => void {
    // A copy, so that one handler object added twice counts twice.
    const own: ResourceHandler<T> = {
      onAdd: (object) => handler.onAdd?.(object),
      onUpdate: (old, object) => handler.onUpdate?.(old, object),
      onDelete: (object) => handler.onDelete?.(object),
    };
    for (const object of this.reader.list()) this.#call(own, undefined, object);
    this.#handlers.add(own);
    this.#wasHeard = true;
    return () => this.#handlers.delete(own);
  }

  #call(
    handler: ResourceHandler<T>,
    old: T | undefined,
    object: T | undefined,
  ): void {
    try {
      if (object && old) handler.onUpdate?.(old, object);
      else if (object) handler.onAdd?.(object);
      else if (old) handler.onDelete?.(old);
    } catch (error) {
      this.logger.error({ err: error }, "informer handler failed");
    }
  }
}
