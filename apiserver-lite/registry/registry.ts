// The generic registry: knows every served resource, holds the watch cache, and carries what the verbs share. The verbs
// themselves are one file each (create.ts, get.ts …) and take a Call.
import { applyDefaults, createDefaulter } from "../../api/defaults.ts";
import type { Logger } from "pino";
import type { Catalogue } from "../../api/catalogue.ts";
import type { Clock } from "../../api/clock.ts";
import type { AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Store } from "../../storage/store.ts";
import { RuleTimes } from "../../api/structural/rule-times.ts";
import { AdmissionMetrics } from "../admission/admission-metrics.ts";
import type { AdmissionPlugin } from "../admission/plugin.ts";
import type { ClusterState, StateChange } from "../resources/state.ts";
import { WatchCache } from "../cache/watch-cache.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import { TimeSlices } from "../loop/time-slices.ts";
import type { Endpoint } from "./endpoint.ts";
import { builtinKinds } from "./kinds/builtin-kinds.ts";
import { KindSet } from "./kinds/kind-set.ts";
import type { StoredKind } from "./kinds/stored-kind.ts";
import { BodySizes } from "./body-sizes.ts";
import { ListStreams } from "./list-streams.ts";
import { StoreTimes } from "./store-times.ts";
import { jsonValueCodec, type ValueCodec } from "./value-codec.ts";
import { SealedRetries } from "./sealed-retries.ts";
import type { Tracer } from "../../api/tracing/tracer.ts";
import type { SealLookup } from "./value-seal.ts";
import type { ResourceStrategy } from "../resources/strategy.ts";

export interface RegistryOptions {
  readonly store: Store;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
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
  /** Default: no value is sealed. */
  readonly sealOf?: SealLookup | undefined;
  /** Of one stored object, encoded. Default 1.5 MiB. */
  readonly maxObjectBytes?: number;
  /** Those that are set; gates of resources are off when absent. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Of resources whose reads with resourceVersion 0 are as new and as limited as those without. Default: none. */
  readonly uncached?:
    ((info: { group: string; resource: string }) => boolean) | undefined;
  /** False: deletions leave the finalizers of propagation policies alone. Default true. */
  readonly garbageCollection?: boolean;
  /** Deletes of one collection in flight at once; they share commits of the store. Default 64. */
  readonly deleteCollectionWorkers?: number;
  readonly historyMs?: number;
  readonly historyBytes?: number;
  readonly loopWatch?: LoopWatch;
}

export class Registry implements ClusterState {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: Catalogue;
  readonly cache: WatchCache;
  readonly admission: readonly AdmissionPlugin[];
  readonly admissionMetrics = new AdmissionMetrics();
  readonly ruleTimes = new RuleTimes();
  readonly storeTimes = new StoreTimes();
  readonly listStreams = new ListStreams();
  readonly bodySizes = new BodySizes();
  /** What the verbs that touch many objects share the event loop by. */
  readonly slices: TimeSlices;
  readonly kinds: KindSet;
  /** Where values are sealed. */
  readonly #retries: SealedRetries | undefined;

  constructor(readonly options: RegistryOptions) {
    this.clock = options.clock;
    this.logger = options.logger;
    this.catalogue = options.catalogue;
    this.admission = options.admission;
    this.slices = new TimeSlices(options.loopWatch);
    this.cache = new WatchCache({
      slices: this.slices,
      store: options.store,
      clock: options.clock,
      logger: options.logger,
      ...(options.historyMs ? { historyMs: options.historyMs } : {}),
      ...(options.historyBytes ? { historyBytes: options.historyBytes } : {}),
    });
    this.kinds = new KindSet({
      catalogue: this.catalogue,
      cache: this.cache,
      clock: this.clock,
      codec: options.valueCodec ?? jsonValueCodec,
      maxObjectBytes: options.maxObjectBytes,
      sealOf: options.sealOf,
    });
    const { store, clock, logger } = options;
    if (options.sealOf)
      this.#retries = new SealedRetries({
        ...{ store, clock, logger, kinds: this.kinds },
      });
  }

  get store(): Store {
    return this.options.store;
  }

  /** Loads the whole state of the built-in kinds. The store has been started. */
  async start(): Promise<void> {
    const { catalogue, options } = this;
    await this.kinds.start(
      builtinKinds({
        catalogue,
        strategyFor: options.strategyFor,
        setDefaults: options.featureGates
          ? createDefaulter(options.featureGates)
          : applyDefaults,
        gate: (name) => this.gate(name),
        eventTtlSeconds: options.eventTtlSeconds ?? 3600,
      }),
    );
    this.#retries?.start();
  }

  stop(): void {
    this.#retries?.stop();
    this.cache.stop();
  }

  /** Is an alpha gate, off by default, on? */
  gate(name: string): boolean {
    return this.options.featureGates?.[name] ?? false;
  }

  /** The gate WatchList, on by default: a watch may begin with the state. */
  get streamsLists(): boolean {
    return this.options.featureGates?.["WatchList"] ?? true;
  }

  /** Is the resource read as if there were no watch cache? */
  readsNewest(info: { group: string; resource: string }): boolean {
    return this.options.uncached?.(info) ?? false;
  }

  /** Is any version of the group, a built-in one, served? */
  servesGroup(group: string): boolean {
    return (
      group === "" ||
      this.catalogue
        .groupVersions()
        .some((one) => one.group === group && !one.custom)
    );
  }

  /** The served resource, or undefined. A resource that its gate hides is not there. */
  endpoint(
    group: string,
    version: string,
    resource: string,
  ): Endpoint | undefined {
    return this.kinds.endpoint(group, version, resource);
  }

  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined {
    const kind = this.storedKind(group, resource);
    return kind?.cache.get(kind.keyOf(namespace, name))?.object;
  }

  list(
    group: string,
    resource: string,
    namespace = "",
  ): readonly Readonly<AnyObject>[] {
    const cache = this.storedKind(group, resource)?.cache;
    return cache ? cache.entries(namespace).map((entry) => entry.object) : [];
  }

  scan(
    group: string,
    resource: string,
    field: string,
  ): Iterable<Readonly<AnyObject>> {
    const cache = this.storedKind(group, resource)?.cache;
    return objectsWith(field, cache?.entries() ?? []);
  }

  /** ClusterState: calls back synchronously after each change, also of a resource that is registered later. */
  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void {
    return this.kinds.follow(group, resource, ({ entry, previous }) =>
      // The parts that listen do not write: freezing every version of every Pod would cost more than they do.
      listener({ object: entry?.raw, previous: previous?.raw }),
    );
  }

  storedKind(group: string, resource: string): StoredKind | undefined {
    return this.kinds.kind(group, resource)?.stored;
  }

  storedKinds(): Iterable<StoredKind> {
    return this.kinds.stored();
  }
}

function* objectsWith(
  field: string,
  entries: readonly CacheEntry[],
): Generator<Readonly<AnyObject>> {
  for (const entry of entries)
    if (entry.field(field) !== "") yield entry.transient;
}
