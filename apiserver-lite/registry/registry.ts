// The generic registry: knows every served resource, holds the watch cache, and carries what the verbs share. The verbs
// themselves are one file each (create.ts, get.ts …) and take a Call.
import type { Logger } from "pino";
import type { Catalogue, ResourceInfo } from "../../api/catalogue.ts";
import type { Clock } from "../../api/clock.ts";
import { apiVersionOf, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";
import type { Store } from "../../storage/store.ts";
import type { AdmissionPlugin } from "../admission/plugin.ts";
import type { ClusterState, StateChange } from "../resources/state.ts";
import { WatchCache } from "../cache/watch-cache.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import { TimeSlices } from "../loop/time-slices.ts";
import { Endpoint, StoredKind } from "./endpoint.ts";
import { jsonValueCodec, type ValueCodec } from "./value-codec.ts";
import type { ResourceStrategy } from "../resources/strategy.ts";

export interface RegistryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: Catalogue;
  readonly strategyFor: (
    group: string,
    resource: string,
  ) => ResourceStrategy | undefined;
  /** In order; the mutating phase runs all, then the validating phase. */
  readonly admission: readonly AdmissionPlugin[];
  /** Events are removed this long after their last write. Default 1 h. */
  readonly eventTtlSeconds?: number;
  readonly valueCodec?: ValueCodec;
  /** Of one stored object, encoded. Default 1.5 MiB. */
  readonly maxObjectBytes?: number;
  /** Those that are set; gates of resources are off when absent. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Of resources whose reads with resourceVersion 0 are as new and as limited as those without. Default: none. */
  readonly uncached?: (info: { group: string; resource: string }) => boolean;
  /** False: deletions leave the finalizers of propagation policies alone. Default true. */
  readonly garbageCollection?: boolean;
  /** Deletes of one collection in flight at once; they share commits of the store. Default 64. */
  readonly deleteCollectionWorkers?: number;
  readonly historyMs?: number;
  readonly historyBytes?: number;
  readonly loopWatch?: LoopWatch;
}

const plain: ResourceStrategy = {};

export class Registry implements ClusterState {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: Catalogue;
  readonly cache: WatchCache;
  readonly admission: readonly AdmissionPlugin[];
  readonly eventTtlSeconds: number;
  /** What the verbs that touch many objects share the event loop by. */
  readonly slices: TimeSlices;
  readonly #kinds = new Map<string, StoredKind>();
  readonly #byResource = new Map<string, StoredKind>();
  /** With the catalogue's entry each was made from. */
  readonly #endpoints = new Map<
    string,
    { endpoint: Endpoint; from: ResourceInfo }
  >();

  constructor(readonly options: RegistryOptions) {
    this.clock = options.clock;
    this.logger = options.logger;
    this.catalogue = options.catalogue;
    this.admission = options.admission;
    this.eventTtlSeconds = options.eventTtlSeconds ?? 3600;
    this.slices = new TimeSlices(options.loopWatch);
    this.cache = new WatchCache({
      slices: this.slices,
      store: options.store,
      clock: options.clock,
      logger: options.logger,
      ...(options.historyMs ? { historyMs: options.historyMs } : {}),
      ...(options.historyBytes ? { historyBytes: options.historyBytes } : {}),
    });
  }

  get store(): Store {
    return this.options.store;
  }

  /** Loads the whole state. The store has been started. */
  async start(): Promise<void> {
    for (const { group, version } of this.catalogue.groupVersions())
      for (const info of this.catalogue.resources(group, version))
        this.#storedKind(info);
    await this.cache.start([...this.#kinds.values()]);
    for (const kind of this.#kinds.values())
      kind.cache = this.cache.resource(kind.prefix)!;
  }

  stop(): void {
    this.cache.stop();
  }

  /** Is an alpha gate, off by default, on? */
  gate(name: string): boolean {
    return this.options.featureGates?.[name] ?? false;
  }

  /** Is the resource read as if there were no watch cache? */
  readsNewest(info: { group: string; resource: string }): boolean {
    return this.options.uncached?.(info) ?? false;
  }

  /** Is any version of the group served? */
  servesGroup(group: string): boolean {
    return (
      group === "" ||
      this.catalogue.groupVersions().some((one) => one.group === group)
    );
  }

  /** The served resource, or undefined. What its gate hides is not there. */
  endpoint(
    group: string,
    version: string,
    resource: string,
  ): Endpoint | undefined {
    const key = `${group}/${version}/${resource}`;
    const known = this.#endpoints.get(key);
    const from = this.catalogue.resource(group, version, resource);
    if (known && known.from === from) return known.endpoint;
    if (!from || this.#hidden(from)) {
      this.#endpoints.delete(key);
      return undefined;
    }
    const info = {
      ...from,
      subresources: from.subresources.filter((sub) => !this.#hidden(sub)),
    };
    const stored = this.#storedKind(info);
    if (stored && !stored.cache) return undefined;
    const own = this.options.strategyFor(group, resource);
    const strategy = stored?.strategy ?? own ?? plain;
    const endpoint = new Endpoint(
      info,
      stored,
      own?.fieldNames ? { ...strategy, fieldNames: own.fieldNames } : strategy,
      schemaFor(group, version, info.kind),
    );
    this.#endpoints.set(key, { endpoint, from });
    return endpoint;
  }

  #hidden({ featureGate }: { featureGate?: string }): boolean {
    return featureGate !== undefined && !this.gate(featureGate);
  }

  /** Serves a resource added to the catalogue while running. */
  async addResource(info: ResourceInfo): Promise<void> {
    this.catalogue.add(info);
    const kind = this.#storedKind(info);
    if (kind) kind.cache ??= await this.cache.register(kind);
  }

  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined {
    const kind = this.#byResource.get(`${group}/${resource}`);
    return kind?.cache?.get(kind.keyOf(namespace, name))?.object;
  }

  list(
    group: string,
    resource: string,
    namespace = "",
  ): readonly Readonly<AnyObject>[] {
    const cache = this.#byResource.get(`${group}/${resource}`)?.cache;
    return cache ? cache.entries(namespace).map((entry) => entry.object) : [];
  }

  scan(
    group: string,
    resource: string,
    field: string,
  ): Iterable<Readonly<AnyObject>> {
    const cache = this.#byResource.get(`${group}/${resource}`)?.cache;
    const entries = cache?.entries() ?? [];
    return (function* () {
      for (const entry of entries)
        if (entry.field(field) !== "") yield entry.transient;
    })();
  }

  /** ClusterState of authorization: called synchronously after each change. Returns the way to stop. */
  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void {
    const cache = this.#byResource.get(`${group}/${resource}`)?.cache;
    if (!cache) return () => undefined;
    return cache.listen(({ entry, previous }) =>
      // The parts that listen do not write: freezing every version of every Pod would cost more than they do.
      listener({ object: entry?.raw, previous: previous?.raw }),
    );
  }

  storedKind(group: string, resource: string): StoredKind | undefined {
    return this.#byResource.get(`${group}/${resource}`);
  }

  storedKinds(): Iterable<StoredKind> {
    return this.#kinds.values();
  }

  #storedKind(info: ResourceInfo): StoredKind | undefined {
    const { etcdPrefix, group, resource } = info;
    if (!etcdPrefix) return undefined;
    let kind = this.#kinds.get(etcdPrefix);
    if (!kind) {
      const { apiVersion, home } = this.#storage(info);
      kind = new StoredKind(
        etcdPrefix,
        info.namespaced,
        home.group,
        home.resource,
        info.kind,
        apiVersion,
        this.options.strategyFor(home.group, home.resource) ??
          this.options.strategyFor(group, resource) ??
          plain,
        this.options.valueCodec ?? jsonValueCodec,
        this.options.maxObjectBytes,
      );
      this.#kinds.set(etcdPrefix, kind);
    }
    this.#byResource.set(`${group}/${resource}`, kind);
    return kind;
  }

  /** The stored version, when it is one we know; else the served one (v1beta1 of definitions, which only etcd holds). */
  #storage(info: ResourceInfo): { apiVersion: string; home: ResourceInfo } {
    const { storageVersion } = info;
    const own = apiVersionOf(info);
    if (!storageVersion || storageVersion === own)
      return { apiVersion: own, home: info };
    const slash = storageVersion.indexOf("/");
    const home = this.catalogue.resource(
      slash < 0 ? "" : storageVersion.slice(0, slash),
      storageVersion.slice(slash + 1),
      info.resource,
    );
    return home
      ? { apiVersion: storageVersion, home }
      : { apiVersion: own, home: info };
  }
}
