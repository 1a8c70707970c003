// One served version of a kind, as requests for it need it: names, schema, rules, and the stored objects behind it, which
// several served versions may share (autoscaling v1 and v2; events of core and of events.k8s.io).
import type { ResourceInfo } from "../../api/catalogue.ts";
import { apiVersionOf, type AnyObject } from "../../api/object.ts";
import type { ObjectSchema } from "../../api/schema.ts";
import type { Printer } from "../printing/table.ts";
import type { PartStrategy, ResourceStrategy } from "../resources/strategy.ts";
import type {
  KindDefinition,
  Types,
  VersionDefinition,
} from "./kinds/kind-definition.ts";
import { headOf } from "./kinds/kind-form.ts";
import type { StoredKind } from "./kinds/stored-kind.ts";

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
  readonly schema: ObjectSchema | undefined;
  /** Bodies and answers may be in protobuf; custom resources have no such form. */
  readonly protobuf: boolean;
  readonly printer: Printer;
  readonly types: Types;
  readonly hasStatus: boolean;
  /** The constant beginning of its JSON that list items leave out: `{"kind":…,"apiVersion":…,`. */
  readonly itemSkip: number;
  constructor(
    version: VersionDefinition,
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
    this.schema = version.schema;
    this.protobuf = version.protobuf;
    this.printer = version.printer;
    this.types = definition.types;
    this.hasStatus = info.subresources.some(({ name }) => name === "status");
    this.itemSkip = headOf(info.kind, this.apiVersion).length;
  }

  /** Of a body sent to the resource itself ("") or to a subresource. */
  bodyType(subresource: string): BodyType {
    const sub = this.info.subresources.find(({ name }) => name === subresource);
    if (!sub)
      return {
        apiVersion: this.apiVersion,
        kind: this.info.kind,
        schema: this.schema,
        protobuf: this.protobuf,
      };
    const apiVersion = sub.apiVersion ?? this.apiVersion;
    const schema =
      apiVersion === this.apiVersion && sub.kind === this.info.kind
        ? this.schema
        : this.types.schemaOf(apiVersion, sub.kind);
    return { apiVersion, kind: sub.kind, schema, protobuf: this.protobuf };
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

  /** Is the served version the stored one? Then bytes are shared as they are. */
  get native(): boolean {
    return this.stored?.apiVersion === this.apiVersion;
  }

  /** From the stored form into the served one. May give back the same object. */
  toServed(object: AnyObject): AnyObject {
    return this.native ? object : this.#convert(object, this.apiVersion);
  }

  toStored(object: AnyObject): AnyObject {
    if (!this.stored || this.native) return object;
    return this.#convert(object, this.stored.apiVersion);
  }

  #convert(object: AnyObject, apiVersion: string): AnyObject {
    const { conversion } = this.definition;
    return conversion.mode === "immediate"
      ? conversion.convert(object, apiVersion)
      : object;
  }
}
