// The kinds a registry owns: which there are, under which names, and who follows their objects. Kinds are added, replaced
// and removed while requests run; a request that has begun goes on with the kind it found.
// Invariants: a served version is in the catalogue exactly as long as its kind is here; changes of one kind follow each
// other; a follower sees every change of the objects of its resource once and in order, and after a time without the
// kind what differs from before.
import type { Clock } from "../../../api/clock.ts";
import type { Catalogue, ResourceInfo } from "../../../api/catalogue.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { ResourceCache } from "../../cache/resource-cache.ts";
import type { WatchCache } from "../../cache/watch-cache.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ValueCodec } from "../value-codec.ts";
import type { SealLookup } from "../value-seal.ts";
import { DeferredConverter } from "./deferred-converter.ts";
import type { KindDefinition } from "./kind-definition.ts";
import { KindForm, type StoredDefinition } from "./kind-form.ts";
import { Kind } from "./kind.ts";
import { StoredKind } from "./stored-kind.ts";

interface KindSetOptions {
  readonly catalogue: Catalogue;
  readonly cache: WatchCache;
  readonly clock: Clock;
  readonly codec: ValueCodec;
  readonly maxObjectBytes: number | undefined;
  readonly sealOf: SealLookup | undefined;
}

/** A change of an object: `previous` is undefined for a new one, `entry` for one that is gone. */
interface ObjectChange {
  readonly entry: CacheEntry | undefined;
  readonly previous: CacheEntry | undefined;
}

export class KindSet {
  readonly #kinds = new Set<Kind>();
  /** By group and resource of every version. */
  readonly #byResource = new Map<string, Kind>();
  /** By where its objects are stored. */
  readonly #byPrefix = new Map<string, Kind>();
  /** By group, version and resource. */
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #listeners = new Set<KindListener>();
  /** The last change of each kind that has not ended. */
  readonly #changing = new Map<string, Promise<unknown>>();
  #made = 0;

  constructor(private readonly options: KindSetOptions) {}

  /** The kinds that are there from the beginning; the catalogue has them already. Loads the whole state. */
  async start(definitions: readonly KindDefinition[]): Promise<void> {
    const { cache } = this.options;
    const forms = definitions.map((definition) => this.#formOf(definition));
    await cache.start(
      forms.filter((form) => form !== undefined),
      true,
    );
    for (const [index, definition] of definitions.entries()) {
      const form = forms[index];
      this.#add(
        this.#kindOf(definition, form, form && cache.resource(form.prefix)),
      );
    }
  }

  endpoint(
    group: string,
    version: string,
    resource: string,
  ): Endpoint | undefined {
    return this.#endpoints.get(`${group}/${version}/${resource}`);
  }

  /** Of any of its versions. */
  kind(group: string, resource: string): Kind | undefined {
    return this.#byResource.get(`${group}/${resource}`);
  }

  all(): Iterable<Kind> {
    return this.#kinds;
  }

  *stored(): Iterable<StoredKind> {
    for (const { stored } of this.#kinds) if (stored) yield stored;
  }

  /**
   * Serves a kind, or serves it from now on as this definition says: the one it takes the place of is served until the new
   * one has been read, then its watches end. Rejects when the store can't be read, or when another kind has one of its
   * names or its prefix.
   */
  register(definition: KindDefinition): Promise<Kind> {
    return this.#inTurn(definition, () => this.#replace(definition));
  }

  /** Reads the objects of a kind again, as if it were registered as it is. */
  readAgain(name: { group: string; resource: string }): Promise<void> {
    return this.#inTurn(name, async () => {
      const known = this.kind(name.group, name.resource);
      if (known) await this.#replace(known.definition);
    });
  }

  async #replace(definition: KindDefinition): Promise<Kind> {
    const { cache, catalogue } = this.options;
    const known = this.kind(definition.group, definition.resource);
    this.#refuseTaken(definition, known);
    const form = this.#formOf(definition);
    let kind: Kind | undefined;
    const takePlace = (objects?: ResourceCache): void => {
      if (known) this.#remove(known);
      const prefix = known?.stored?.prefix;
      if (prefix !== undefined && prefix !== form?.prefix)
        cache.unregister(prefix);
      const infos = definition.versions.map(({ info }) => info);
      catalogue.addVersionsOf(infos);
      for (const info of infos) catalogue.add(info);
      this.#add((kind = this.#kindOf(definition, form, objects)));
      this.#changed(infosOf(known, kind));
    };
    if (form) await cache.register(form, takePlace);
    else takePlace();
    return kind!;
  }

  /** No longer serves it: requests find nothing, watches end, the memory is given back. The objects stay in the store. */
  unregister(name: { group: string; resource: string }): Promise<void> {
    return this.#inTurn(name, () => {
      const known = this.kind(name.group, name.resource);
      if (known) {
        this.#remove(known);
        if (known.stored) this.options.cache.unregister(known.stored.prefix);
        this.#changed(infosOf(known));
      }
      return Promise.resolve();
    });
  }

  /** Changes what discovery says of versions that are served, and nothing else of them. */
  describe(infos: readonly ResourceInfo[]): void {
    for (const info of infos) {
      const { group, version, resource } = info;
      if (this.endpoint(group, version, resource))
        this.options.catalogue.add(info);
    }
    this.#changed(infos);
  }

  /** Calls back after a kind was added, replaced or removed. Returns a disposer. */
  onChange(listener: KindListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The changes of the objects of a resource, also of one that is registered later. @param replay begins with the
   * objects that are there. Returns a disposer.
   */
  follow(
    group: string,
    resource: string,
    listener: (change: ObjectChange) => void,
    replay = false,
  ): () => void {
    const key = `${group}/${resource}`;
    const follower = new Follower(listener);
    const cache = this.#byResource.get(key)?.stored?.cache;
    if (cache) follower.attach(cache, replay);
    let all = this.#followers.get(key);
    if (!all) this.#followers.set(key, (all = new Set()));
    all.add(follower);
    return () => {
      follower.stop();
      all.delete(follower);
      if (all.size === 0 && this.#followers.get(key) === all)
        this.#followers.delete(key);
    };
  }

  #formOf(definition: KindDefinition): KindForm | undefined {
    const { codec, maxObjectBytes, sealOf } = this.options;
    return definition.storage
      ? new KindForm(
          definition as StoredDefinition,
          codec,
          maxObjectBytes,
          sealOf?.(definition.group, definition.resource),
        )
      : undefined;
  }

  #kindOf(
    definition: KindDefinition,
    form: KindForm | undefined,
    cache: ResourceCache | undefined,
  ): Kind {
    const { kind, conversion } = definition;
    const converter =
      conversion.mode === "deferred"
        ? new DeferredConverter(kind, conversion, this.options.clock)
        : undefined;
    const stored = form && cache && new StoredKind(form, cache, converter);
    return new Kind(definition, stored, ++this.#made);
  }

  #refuseTaken(definition: KindDefinition, known: Kind | undefined): void {
    const refuse = (what: string): never => {
      throw new Error(`${what} belongs to another kind`);
    };
    const prefix = definition.storage?.prefix;
    const holder = prefix ? this.#byPrefix.get(prefix) : undefined;
    if (holder && holder !== known) refuse(prefix!);
    for (const { info } of definition.versions) {
      const { group, version, resource } = info;
      const name = `${group}/${version}/${resource}`;
      const endpoint = this.#endpoints.get(name);
      if (endpoint && !known?.endpoints.includes(endpoint)) refuse(name);
    }
  }

  #add(kind: Kind): void {
    this.#kinds.add(kind);
    if (kind.stored) this.#byPrefix.set(kind.stored.prefix, kind);
    for (const name of namesOf(kind)) {
      this.#byResource.set(name, kind);
      if (!kind.stored) continue;
      for (const follower of this.#followers.get(name) ?? [])
        follower.attach(kind.stored.cache, true);
    }
    for (const endpoint of kind.endpoints) {
      const { group, version, resource } = endpoint.info;
      this.#endpoints.set(`${group}/${version}/${resource}`, endpoint);
    }
  }

  #remove(kind: Kind): void {
    this.#kinds.delete(kind);
    if (kind.stored) this.#byPrefix.delete(kind.stored.prefix);
    for (const name of namesOf(kind)) {
      this.#byResource.delete(name);
      for (const follower of this.#followers.get(name) ?? []) follower.detach();
    }
    for (const { info } of kind.endpoints) {
      const { group, version, resource } = info;
      this.#endpoints.delete(`${group}/${version}/${resource}`);
      this.options.catalogue.remove(info);
    }
  }

  #changed(infos: readonly ResourceInfo[]): void {
    for (const listener of this.#listeners) listener(infos);
  }

  async #inTurn<T>(
    { group, resource }: { group: string; resource: string },
    change: () => Promise<T>,
  ): Promise<T> {
    const key = `${group}/${resource}`;
    const before = this.#changing.get(key);
    const running = before ? before.then(change, change) : change();
    this.#changing.set(key, running);
    try {
      return await running;
    } finally {
      if (this.#changing.get(key) === running) this.#changing.delete(key);
    }
  }
}

/** Is given the versions that were added, changed or removed. */
type KindListener = (changed: readonly ResourceInfo[]) => void;

const infosOf = (...kinds: (Kind | undefined)[]): ResourceInfo[] =>
  kinds.flatMap((kind) => kind?.endpoints.map(({ info }) => info) ?? []);

/** Every group and resource a kind is known by. */
function namesOf({ definition }: Kind): Set<string> {
  const { group, resource, versions } = definition;
  return new Set([
    `${group}/${resource}`,
    ...versions.map(({ info }) => `${info.group}/${info.resource}`),
  ]);
}

/** One who follows a resource, through times in which its kind is not there. */
class Follower {
  #cache: ResourceCache | undefined;
  #stop: (() => void) | undefined;
  /** What was there when the kind went. */
  #left: Map<string, CacheEntry> | undefined;

  constructor(private readonly listener: (change: ObjectChange) => void) {}

  /** @param replay begins with what is there */
  attach(cache: ResourceCache, replay: boolean): void {
    const left = this.#left;
    this.#left = undefined;
    this.#cache = cache;
    // First: a listener's work may lead to further changes.
    this.#stop = cache.listen(this.listener);
    if (!left && !replay) return;
    for (const entry of cache.entries()) {
      const previous = left?.get(entry.key);
      left?.delete(entry.key);
      if (previous?.revision !== entry.revision)
        this.listener({ entry, previous });
    }
    for (const previous of left?.values() ?? [])
      this.listener({ entry: undefined, previous });
  }

  /** The kind goes. Its objects are remembered as bytes, as the reader of a watch remembers the objects it has seen. */
  detach(): void {
    this.#stop?.();
    const entries = this.#cache?.entries() ?? [];
    for (const entry of entries) entry.cool();
    this.#left = new Map(entries.map((entry) => [entry.key, entry]));
    this.#cache = undefined;
  }

  stop(): void {
    this.#stop?.();
    this.#cache = undefined;
    this.#left = undefined;
  }
}
