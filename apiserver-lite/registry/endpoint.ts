// What the registry knows of one served resource (a version of it), and of the stored kind behind it, which several
// served versions may share (autoscaling v1 and v2; events of core and of events.k8s.io).
import { encodeProtobuf, hasProtobuf } from "../../api/codec/protobuf.ts";
import { applyDefaults } from "../../api/defaults.ts";
import { ApiError } from "../../api/errors.ts";
import { apiVersionOf, type AnyObject } from "../../api/object.ts";
import type { ResourceInfo } from "../../api/catalogue.ts";
import { parseApiVersion } from "../../api/object.ts";
import { schemaFor, type ObjectSchema } from "../../api/schema.ts";
import {
  entryOf,
  type CachedResource,
  type StoredForm,
} from "../cache/watch-cache.ts";
import { CacheEntry } from "../cache/cache-entry.ts";
import { noFields, SharedFields, type Fields } from "../cache/shared-fields.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { PartStrategy, ResourceStrategy } from "../resources/strategy.ts";
import { upgradeLegacy } from "./legacy-versions.ts";
import { convertObject } from "./conversion.ts";
import { decodeIndexed, encodeIndexed, withoutIndex } from "./indexed-json.ts";
import type { ValueCodec } from "./value-codec.ts";

/** Where objects of one kind are kept. */
export class StoredKind implements CachedResource {
  /** Set when the watch cache has loaded it. */
  cache!: ResourceCache;
  /** How the JSON of its stored objects begins. */
  readonly #head: Buffer;
  readonly #shared = new SharedFields();

  constructor(
    readonly prefix: string,
    readonly namespaced: boolean,
    readonly group: string,
    readonly resource: string,
    readonly kind: string,
    /** Of the stored form. */
    readonly apiVersion: string,
    readonly strategy: ResourceStrategy,
    private readonly codec: ValueCodec,
    private readonly maxBytes = DEFAULT_MAX_OBJECT_BYTES,
  ) {
    this.#head = Buffer.from(
      `${JSON.stringify({ kind, apiVersion }).slice(0, -1)},`,
    );
  }

  get version(): string {
    return parseApiVersion(this.apiVersion).version;
  }

  /** What other servers wrote may be older than a default. */
  decode(value: Uint8Array): AnyObject {
    let object = this.codec.decode(value);
    const { foreign } = this.codec;
    if (foreign) this.#checkKind(object);
    object.kind = this.kind;
    if (foreign) {
      upgradeLegacy(object);
      this.#setDefaults(object);
    }
    if (object.apiVersion !== this.apiVersion) {
      object = convertObject(object, this.apiVersion);
      if (foreign) this.#setDefaults(object);
    }
    if (foreign) this.strategy.setDefaults?.(object);
    return object;
  }

  /** What lies under the wrong key is not taken for an object of this kind. */
  #checkKind({ kind = "", apiVersion = "" }: AnyObject): void {
    const { group, version } = parseApiVersion(apiVersion);
    if (!schemaFor(group, version, kind) && this.#isTyped())
      throw new TypeError(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
      );
    if (kind !== this.kind)
      throw new TypeError(
        `converting (${version}.${kind}) to (${this.kind}): unknown conversion`,
      );
  }

  /** Not a custom resource. */
  #isTyped(): boolean {
    const { group, version } = parseApiVersion(this.apiVersion);
    return schemaFor(group, version, this.kind) !== undefined;
  }

  #setDefaults(object: AnyObject): void {
    const { kind } = this;
    applyDefaults(object, { ...parseApiVersion(object.apiVersion!), kind });
  }

  /**
   * The version of an object that gets `revision`, and what the store keeps of it. The object is changed and kept. Throws
   * ApiError 500 when it is larger than the store takes.
   */
  encode(
    key: string,
    object: AnyObject,
    revision: number,
  ): { entry: CacheEntry; value: Uint8Array } {
    if (this.codec.foreign) {
      const entry = entryOf(this, key, object, revision);
      const value = this.codec.encode(object);
      if (value.length > this.maxBytes) throw tooLarge();
      return { entry, value };
    }
    object.metadata.resourceVersion = String(revision);
    const { value, json, labels, fields } = encodeIndexed(
      object,
      revision,
      this.fieldsOf(object),
      this.#shared,
    );
    this.#refuseTooLarge(object, json.length);
    const entry = new CacheEntry(key, revision, json, labels, fields, object);
    return { entry, value };
  }

  /** The reference counts the bytes of its own encoding, which is shorter than JSON. */
  #refuseTooLarge(object: AnyObject, jsonBytes: number): void {
    if (jsonBytes <= this.maxBytes) return;
    if (
      jsonBytes > MAX_JSON_FACTOR * this.maxBytes ||
      !hasProtobuf(this.apiVersion, this.kind) ||
      encodeProtobuf(object).length > this.maxBytes
    )
      throw tooLarge();
  }

  readStored(value: Uint8Array, revision: number): StoredForm | undefined {
    if (this.codec.foreign) return undefined;
    // Written in the stored version of this kind?
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    if (this.#head.compare(bytes, 0, this.#head.length) !== 0) return undefined;
    return (
      decodeIndexed(bytes, revision, this.#shared) ??
      this.#readPlain(bytes, revision)
    );
  }

  /** Without an index: earlier versions wrote none. */
  #readPlain(bytes: Buffer, revision: number): StoredForm | undefined {
    const json = withoutIndex(bytes);
    const oneLine = json.indexOf(0x0a) === json.length - 1;
    const object = this.codec.decode(json);
    const { resourceVersion, labels = noFields } = object.metadata;
    return oneLine && resourceVersion === String(revision)
      ? { json, labels, fields: this.fieldsOf(object) }
      : undefined;
  }

  fieldsOf(object: Readonly<AnyObject>): Fields {
    return this.strategy.selectableFields?.(object) ?? noFields;
  }

  keyOf(namespace: string, name: string): string {
    return this.namespaced ? `${namespace}/${name}` : name;
  }

  storeKey(key: string): string {
    return `${this.prefix}/${key}`;
  }
}

/** Of one object, as etcd has it by default. */
const DEFAULT_MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;
/** JSON escapes a byte with six; no object is encoded to measure it whose JSON is longer than this many times the limit. */
const MAX_JSON_FACTOR = 8;

/** In the words of the reference, whose store refuses it: it gives no reason. */
function tooLarge(): ApiError {
  return new ApiError({
    code: 500,
    message: "etcdserver: request is too large",
  });
}

const noRules: PartStrategy = Object.freeze({});

/** One served resource. */
export class Endpoint {
  readonly apiVersion: string;
  readonly hasStatus: boolean;
  /** The constant beginning of its JSON that list items leave out: `{"kind":…,"apiVersion":…,`. */
  readonly itemSkip: number;

  constructor(
    readonly info: ResourceInfo,
    /** Undefined for computed resources (reviews, bindings, componentstatuses). */
    readonly stored: StoredKind | undefined,
    readonly strategy: ResourceStrategy,
    readonly schema: ObjectSchema | undefined,
  ) {
    this.apiVersion = apiVersionOf(info);
    this.hasStatus = info.subresources.some(({ name }) => name === "status");
    this.itemSkip = Buffer.byteLength(
      `${JSON.stringify({ kind: info.kind, apiVersion: this.apiVersion }).slice(0, -1)},`,
    );
  }

  /** The rules of a subresource that writes a part of the object itself. */
  part(subresource: string): PartStrategy | undefined {
    const { status, parts } = this.strategy;
    return subresource === "status"
      ? (status ?? noRules)
      : parts?.[subresource];
  }

  /** Is it the object itself that is read and written under this subresource ("": its own path)? */
  isObject(subresource: string): boolean {
    return subresource === "" || this.part(subresource) !== undefined;
  }

  /** Is the served version the stored one? Then bytes are shared as they are. */
  get native(): boolean {
    return this.stored?.apiVersion === this.apiVersion;
  }

  /** From the stored form into the served one. May give back the same object. */
  toServed(object: AnyObject): AnyObject {
    return this.native ? object : convertObject(object, this.apiVersion);
  }

  toStored(object: AnyObject): AnyObject {
    if (!this.stored || this.native) return object;
    return convertObject(object, this.stored.apiVersion);
  }
}
