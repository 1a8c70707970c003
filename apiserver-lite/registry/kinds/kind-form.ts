// The stored form of one kind: from a value of the store to an object and an entry of the watch cache, and back.
//
// Values of local engines hold the JSON that readers get; those of stores shared with other servers are the reference's
// bytes, and may be of versions older than today's. A kind whose conversion is deferred keeps each object in the version it
// was stored in; every other kind brings it into the stored version here.
import { objectText } from "../../../api/codec/object-text.ts";
import { encodeProtobuf } from "../../../api/codec/protobuf.ts";
import { errors } from "../../../api/errors.ts";
import { sameJson } from "../../../api/objects/json-equality.ts";
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import { CacheEntry } from "../../cache/cache-entry.ts";
import type {
  CachedResource,
  StoredForm,
} from "../../cache/cached-resource.ts";
import { entryOf } from "../../cache/entries.ts";
import {
  noFields,
  SharedFields,
  type Fields,
} from "../../cache/shared-fields.ts";
import { decodeIndexed, encodeIndexed, withoutIndex } from "../indexed-json.ts";
import { TextBlocks } from "../text-blocks.ts";
import type { ValueCodec } from "../value-codec.ts";
import type { ValuePlace, ValueSeal } from "../value-seal.ts";
import type { KindDefinition, StorageRules } from "./kind-definition.ts";

/** A definition of a kind whose objects are stored. */
export type StoredDefinition = KindDefinition & {
  readonly storage: StorageRules;
};

/** Of one object, as etcd has it by default. */
const DEFAULT_MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;
/** JSON escapes a byte with six; no object is encoded to measure it whose JSON is longer than this many times the limit. */
const MAX_JSON_FACTOR = 8;

/** How the JSON of every object of a kind and version begins. */
export function headOf(kind: string, apiVersion: string): Buffer {
  return Buffer.from(`${JSON.stringify({ kind, apiVersion }).slice(0, -1)},`);
}

export class KindForm implements CachedResource {
  readonly prefix: string;
  readonly namespaced: boolean;
  /** Of the stored form. */
  readonly apiVersion: string;
  /** Only there when values are sealed. */
  readonly open?: CachedResource["open"];
  /** How the JSON of its stored objects begins. */
  readonly #head: Buffer;
  readonly #shared = new SharedFields();
  /** Of its own: objects of one kind live about as long. */
  readonly #blocks = new TextBlocks();
  /** Between `decode` and `decoded`. */
  readonly #converted = new WeakSet<AnyObject>();
  readonly #older = new WeakSet<CacheEntry>();

  constructor(
    readonly definition: StoredDefinition,
    private readonly codec: ValueCodec,
    private readonly maxBytes = DEFAULT_MAX_OBJECT_BYTES,
    private readonly seal?: ValueSeal,
  ) {
    const { kind, namespaced, storage } = definition;
    this.prefix = storage.prefix;
    this.namespaced = namespaced;
    this.apiVersion = storage.apiVersion;
    this.#head = headOf(kind, storage.apiVersion);
    if (seal) this.open = (value, key) => seal.open(value, this.#placeOf(key));
  }

  /** Values that other servers wrote may be older than a default. */
  decode(value: Uint8Array): AnyObject {
    const { definition, codec } = this;
    const { kind, conversion } = definition;
    let object = codec.decode(value, definition.types);
    const { foreign } = codec;
    if (foreign) this.#checkKind(object);
    object.kind = kind;
    if (foreign) {
      definition.upgrade?.(object);
      definition.setDefaults(object, object.apiVersion!);
    } else if (definition.adapt) object = definition.adapt(object);
    if (conversion.mode === "deferred") return object;
    if (object.apiVersion !== this.apiVersion) {
      object = conversion.convert(object, this.apiVersion);
      if (foreign) definition.setDefaults(object, this.apiVersion);
      this.#converted.add(object);
    }
    if (foreign) definition.strategy.setDefaults?.(object);
    return object;
  }

  decoded(entry: CacheEntry, object: AnyObject): void {
    if (this.#converted.delete(object)) this.#older.add(entry);
  }

  /** Does the store hold it in an older version? A write that changes nothing else brings it into today's. */
  isOlder(entry: CacheEntry): boolean {
    return this.#older.has(entry);
  }

  /** A value under the wrong key is not accepted as an object of this kind. */
  #checkKind({ kind = "", apiVersion = "" }: AnyObject): void {
    const { types, kind: own } = this.definition;
    const typed = types.schemaOf(this.apiVersion, own) !== undefined;
    if (typed && !types.schemaOf(apiVersion, kind))
      throw new TypeError(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
      );
    if (kind !== own)
      throw new TypeError(
        `converting (${parseApiVersion(apiVersion).version}.${kind}) to (${own}): unknown conversion`,
      );
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
    const { entry, value } = this.#encodePlain(key, object, revision);
    const { seal } = this;
    return seal
      ? {
          entry,
          value: seal.seal(value, this.#placeOf(`${this.prefix}/${key}`)),
        }
      : { entry, value };
  }

  /** What has to be waited for before `encode`. Rejects when the value can't be sealed. */
  prepare(key: string): Promise<void> | undefined {
    return this.seal?.prepare?.(this.#placeOf(`${this.prefix}/${key}`));
  }

  get mayBeStale(): boolean {
    return this.seal?.mayBeStale?.() ?? false;
  }

  /** Would a value of the store be sealed otherwise today? Throws or rejects for one that does not open. */
  isStale(key: string, value: Uint8Array): boolean | Promise<boolean> {
    const place = this.#placeOf(`${this.prefix}/${key}`);
    return this.seal?.isStale?.(value, place) ?? false;
  }

  #placeOf(key: string): ValuePlace {
    const { group, resource } = this.definition;
    return { key, group, resource };
  }

  #encodePlain(
    key: string,
    object: AnyObject,
    revision: number,
  ): { entry: CacheEntry; value: Uint8Array } {
    if (this.codec.foreign) {
      const entry = entryOf(this, key, object, revision);
      const value = this.codec.encode(object, this.definition.storage.protobuf);
      if (value.length > this.maxBytes) throw errors.tooLargeToStore();
      return { entry, value };
    }
    object.metadata.resourceVersion = String(revision);
    const { value, json, labels, fields } = encodeIndexed(
      object,
      revision,
      this.fieldsOf(object),
      this.#shared,
      this.#blocks,
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
      !this.definition.storage.protobuf ||
      encodeProtobuf(object).length > this.maxBytes
    )
      throw errors.tooLargeToStore();
  }

  readStored(value: Uint8Array, revision: number): StoredForm | undefined {
    if (this.codec.foreign) return undefined;
    // Written in the stored version of this kind?
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    const head = this.#head;
    if (bytes.length < head.length || head.compare(bytes, 0, head.length) !== 0)
      return undefined;
    const stored =
      decodeIndexed(bytes, revision, this.#shared) ??
      this.#readPlain(bytes, revision);
    return stored && this.#isOfToday(stored) ? stored : undefined;
  }

  /** Would today's schema leave the object as it is? */
  #isOfToday({ json, fields }: StoredForm): boolean {
    const { adapt } = this.definition;
    if (!adapt) return true;
    const text = json.toString("utf8");
    const adapted = adapt(JSON.parse(text) as AnyObject);
    return (
      objectText(adapted) === text && sameJson(this.fieldsOf(adapted), fields)
    );
  }

  /** Without an index: earlier versions wrote none. */
  #readPlain(bytes: Buffer, revision: number): StoredForm | undefined {
    const json = withoutIndex(bytes);
    const oneLine = json.indexOf(0x0a) === json.length - 1;
    const object = this.codec.decode(json, this.definition.types);
    const { resourceVersion, labels = noFields } = object.metadata;
    return oneLine && resourceVersion === String(revision)
      ? { json, labels, fields: this.fieldsOf(object) }
      : undefined;
  }

  fieldsOf(object: Readonly<AnyObject>): Fields {
    return this.definition.strategy.selectableFields?.(object) ?? noFields;
  }
}
