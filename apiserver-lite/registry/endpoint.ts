// One served version of a kind, as requests for it need it: names, schema, rules, and the stored objects behind it, which
// several served versions may share (autoscaling v1 and v2; events of core and of events.k8s.io).
import type { ResourceInfo } from "../../api/catalogue.ts";
import {
  apiVersionOf,
  parseApiVersion,
  type AnyObject,
} from "../../api/object.ts";
import type { ObjectSchema } from "../../api/schema.ts";
import type { ServedResource } from "../admission/plugin.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Printer } from "../printing/table.ts";
import type { PartStrategy, ResourceStrategy } from "../resources/strategy.ts";
import type {
  KindDefinition,
  Types,
  VersionDefinition,
} from "./kinds/kind-definition.ts";
import { headOf } from "./kinds/kind-form.ts";
import type { StoredKind } from "./kinds/stored-kind.ts";
import type { MaybePromise } from "./kinds/when-ready.ts";

const noRules: PartStrategy = Object.freeze({});

/** What bodies at a place are decoded as. */
interface BodyType {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: ObjectSchema | undefined;
  readonly protobuf: boolean;
}

export class Endpoint {
  readonly info: ResourceInfo;
  readonly apiVersion: string;
  readonly strategy: ResourceStrategy;
  /** Of a definition: there are no strategic patches, and the items of lists say what they are. */
  readonly custom: boolean;
  /** Bodies and answers may be in protobuf; custom resources have no such form. */
  readonly protobuf: boolean;
  readonly printer: Printer;
  readonly types: Types;
  readonly hasStatus: boolean;
  /** The constant beginning of its JSON that list items leave out: `{"kind":…,"apiVersion":…,`. */
  readonly itemSkip: number;
  #ownBody: BodyType | undefined;
  readonly #alike = new Map<string, boolean>();
  readonly #places = new Map<string, ServedResource>();

  constructor(
    private readonly version: VersionDefinition,
    readonly definition: KindDefinition,
    /** Undefined for computed resources (reviews, bindings, componentstatuses). */
    readonly stored: StoredKind | undefined,
    /** Names its kind for ever: one that is registered later under the same name has another. */
    readonly kindNumber: number,
  ) {
    const { info } = version;
    this.info = info;
    this.apiVersion = apiVersionOf(info);
    this.strategy = version.strategy;
    this.custom = info.custom ?? false;
    this.protobuf = version.protobuf;
    this.printer = version.printer;
    this.types = definition.types;
    this.hasStatus = info.subresources.some(({ name }) => name === "status");
    this.itemSkip = headOf(info.kind, this.apiVersion).length;
  }

  /** Of a kind whose schema is data it is made when it is first asked for. */
  get schema(): ObjectSchema | undefined {
    return this.version.schema;
  }

  /** Of every answer. */
  get warnings(): readonly string[] {
    return this.version.warnings ?? [];
  }

  /** Where in its JSON an item of a list begins behind its brace, which has to be `apiVersion`'s. */
  itemStart(apiVersion: string): number {
    return this.custom
      ? 1
      : this.itemSkip + apiVersion.length - this.apiVersion.length;
  }

  get listKind(): string {
    return this.info.listKind ?? `${this.info.kind}List`;
  }

  /** Of a body sent to the resource itself ("") or to a subresource. */
  bodyType(subresource: string): BodyType {
    const own = (this.#ownBody ??= {
      apiVersion: this.apiVersion,
      kind: this.info.kind,
      schema: this.schema,
      protobuf: this.protobuf,
    });
    if (subresource === "") return own;
    const sub = this.info.subresources.find(({ name }) => name === subresource);
    if (!sub) return own;
    const apiVersion = sub.apiVersion ?? this.apiVersion;
    const schema =
      apiVersion === this.apiVersion && sub.kind === this.info.kind
        ? this.schema
        : this.types.schemaOf(apiVersion, sub.kind);
    return { apiVersion, kind: sub.kind, schema, protobuf: this.protobuf };
  }

  /** The resource with the kind of the bodies that are sent to it ("") or to a subresource it has. */
  placeOf(subresource: string): ServedResource {
    let place = this.#places.get(subresource);
    if (!place) {
      const { group, version, resource } = this.info;
      const { apiVersion, kind } = this.bodyType(subresource);
      place = {
        resource: { group, version, resource },
        kind: { ...parseApiVersion(apiVersion), kind },
      };
      if (this.has(subresource)) this.#places.set(subresource, place);
    }
    return place;
  }

  has(subresource: string): boolean {
    return (
      subresource === "" ||
      this.info.subresources.some(({ name }) => name === subresource)
    );
  }

  /** Is there such a version of this kind, served or not? */
  knowsVersion(apiVersion: string): boolean {
    return (
      apiVersion === this.apiVersion ||
      this.types.schemaOf(apiVersion, this.info.kind) !== undefined
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

  /** Is the served version the stored one? */
  get native(): boolean {
    return this.stored?.apiVersion === this.apiVersion;
  }

  /** From the stored version into the served one. May give back the same object. */
  toServed(object: AnyObject): MaybePromise<AnyObject> {
    return this.native ? object : this.#convert(object, this.apiVersion);
  }

  toStored(object: AnyObject): MaybePromise<AnyObject> {
    return !this.stored || this.native
      ? object
      : this.#convert(object, this.stored.apiVersion);
  }

  /** Objects of any version in another, in order, by as few calls as can be. May give back the same objects. */
  convertAll(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
  ): MaybePromise<readonly AnyObject[]> {
    const { conversion } = this.definition;
    return conversion.mode === "immediate"
      ? objects.map((object) =>
          conversion.convert(object as AnyObject, apiVersion),
        )
      : this.stored!.converter!.objects(objects, apiVersion);
  }

  /** Is there a version of the kind that may have another form than this one? */
  get hasOtherForms(): boolean {
    const { conversion } = this.definition;
    return conversion.mode === "deferred" || conversion.isAlike !== undefined;
  }

  /** Has a version the form of this one, or is it none of the kind's? */
  isAlike(apiVersion: string): boolean {
    if (apiVersion === this.apiVersion) return true;
    let alike = this.#alike.get(apiVersion);
    if (alike === undefined) {
      const { conversion } = this.definition;
      alike =
        !this.knowsVersion(apiVersion) ||
        (conversion.mode === "immediate" &&
          (conversion.isAlike?.(this.apiVersion, apiVersion) ?? true));
      if (this.knowsVersion(apiVersion)) this.#alike.set(apiVersion, alike);
    }
    return alike;
  }

  #convert(object: AnyObject, apiVersion: string): MaybePromise<AnyObject> {
    const { conversion } = this.definition;
    return conversion.mode === "immediate"
      ? conversion.convert(object, apiVersion)
      : this.stored!.converter!.object(object, apiVersion);
  }

  /** Must entries be `shown` before they are represented? */
  get converts(): boolean {
    return this.stored?.converter !== undefined;
  }

  /** The entry that is represented. Rejects with ApiError 500 when it can't be converted. */
  shown(entry: CacheEntry): MaybePromise<CacheEntry> {
    return this.stored?.converter?.entry(entry, this.apiVersion) ?? entry;
  }

  /** In batches. @param pause called between them; may wait */
  allShown(
    entries: readonly CacheEntry[],
    pause: () => Promise<void> | undefined,
  ): Promise<readonly CacheEntry[]> {
    const converter = this.stored?.converter;
    return converter
      ? converter.entries(entries, this.apiVersion, pause)
      : Promise.resolve(entries);
  }

  /** Are the bytes of what is represented those of the answer? */
  get asIs(): boolean {
    return this.native || this.converts;
  }

  /** An object of what is represented, as this version has it. May give back the same object. */
  show(object: AnyObject): AnyObject {
    const { conversion } = this.definition;
    return this.asIs || conversion.mode === "deferred"
      ? object
      : conversion.convert(object, this.apiVersion);
  }
}
