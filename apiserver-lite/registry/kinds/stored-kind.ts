// The objects of a kind: where they are kept, and in which form.
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Fields } from "../../cache/shared-fields.ts";
import type { ResourceCache } from "../../cache/resource-cache.ts";
import type { ResourceStrategy } from "../../resources/strategy.ts";
import type { DeferredConverter } from "./deferred-converter.ts";
import type { KindForm } from "./kind-form.ts";
import type { MaybePromise } from "./when-ready.ts";

export class StoredKind {
  readonly prefix: string;
  readonly namespaced: boolean;
  /** Of the stored form. */
  readonly apiVersion: string;
  readonly strategy: ResourceStrategy;
  readonly ttlSeconds: number | undefined;

  constructor(
    readonly form: KindForm,
    readonly cache: ResourceCache,
    /** Of a kind whose entries stay in the version they were stored in. */
    readonly converter: DeferredConverter | undefined,
  ) {
    const { definition } = form;
    this.prefix = form.prefix;
    this.namespaced = form.namespaced;
    this.apiVersion = form.apiVersion;
    this.strategy = definition.strategy;
    this.ttlSeconds = definition.storage.ttlSeconds;
  }

  get group(): string {
    return this.form.definition.group;
  }

  get resource(): string {
    return this.form.definition.resource;
  }

  get version(): string {
    return parseApiVersion(this.apiVersion).version;
  }

  encode(
    key: string,
    object: AnyObject,
    revision: number,
  ): { entry: CacheEntry; value: Uint8Array } {
    return this.form.encode(key, object, revision);
  }

  /** The entry with the object in the stored version; the same one, unless it was stored before that was the version. */
  inStoredVersion(entry: CacheEntry): MaybePromise<CacheEntry> {
    return this.converter?.entry(entry, this.apiVersion) ?? entry;
  }

  fieldsOf(object: Readonly<AnyObject>): Fields {
    return this.form.fieldsOf(object);
  }

  keyOf(namespace: string, name: string): string {
    return this.namespaced ? `${namespace}/${name}` : name;
  }

  storeKey(key: string): string {
    return `${this.prefix}/${key}`;
  }
}
