// The objects of a kind: where they are kept, and in which form.
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Fields } from "../../cache/shared-fields.ts";
import type { ResourceCache } from "../../cache/resource-cache.ts";
import type { ResourceStrategy } from "../../resources/strategy.ts";
import type { KindForm } from "./kind-form.ts";

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
