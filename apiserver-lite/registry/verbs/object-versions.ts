// The versions of a call's objects, for admission: where they are served, and conversion to those places and back. What is
// created or connected through a subresource (Binding, Eviction, PodExecOptions …) has one version.
import { conform, TypeMismatch } from "../../../api/codec/conform.ts";
import { problemText, strictDecodingError } from "../../../api/codec/json.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import {
  apiVersionOf,
  parseApiVersion,
  type AnyObject,
  type GroupVersionKind,
} from "../../../api/object.ts";
import { copyJson } from "../../../api/patch/json-value.ts";
import type { PatchSchema } from "../../../api/patch/patch-schema.ts";
import type { ObjectSchema } from "../../../api/schema.ts";
import type { ObjectVersions, ServedResource } from "../../admission/plugin.ts";
import type { Call } from "../call.ts";
import type { MaybePromise } from "../kinds/when-ready.ts";

export class CallVersions implements ObjectVersions {
  #equivalents: readonly ServedResource[] | undefined;

  constructor(private readonly call: Call) {}

  get equivalents(): readonly ServedResource[] {
    return (this.#equivalents ??= this.#findEquivalents());
  }

  to(
    object: Readonly<AnyObject>,
    kind: GroupVersionKind,
  ): MaybePromise<Readonly<AnyObject>> {
    return this.#convert(object, kind, apiVersionOf(kind));
  }

  schemaOf(kind: GroupVersionKind): PatchSchema | undefined {
    return this.#schemaOf(kind, apiVersionOf(kind)) as PatchSchema | undefined;
  }

  async from(
    object: AnyObject,
    kind: GroupVersionKind,
    strict = false,
  ): Promise<AnyObject> {
    const { endpoint } = this.call;
    const { definition } = endpoint;
    const apiVersion = apiVersionOf(kind);
    if (this.#schemaOf(kind, apiVersion)?.conform)
      checkCustomKind(object, kind);
    this.#checkKind(object, kind, apiVersion);
    const read = this.#read(object, kind, apiVersion, strict);
    read.kind = kind.kind;
    read.apiVersion = apiVersion;
    if (!this.#isKind(kind)) return read;
    (read as { metadata?: object }).metadata ??= {};
    definition.setDefaults(read, apiVersion);
    const stored = endpoint.stored?.apiVersion ?? endpoint.apiVersion;
    const converted = await this.#convert(read, kind, stored);
    definition.setDefaults(converted as AnyObject, stored);
    endpoint.strategy.setDefaults?.(converted as AnyObject);
    return converted as AnyObject;
  }

  /** Is it the kind of the objects themselves? */
  #isKind({ kind }: GroupVersionKind): boolean {
    return kind === this.call.endpoint.info.kind;
  }

  #schemaOf(
    { kind }: GroupVersionKind,
    apiVersion: string,
  ): ObjectSchema | undefined {
    const { definition, types } = this.call.endpoint;
    const version = definition.versions.find(
      ({ info }) => apiVersionOf(info) === apiVersion && info.kind === kind,
    );
    return version ? version.schema : types.schemaOf(apiVersion, kind);
  }

  #read(
    object: AnyObject,
    kind: GroupVersionKind,
    apiVersion: string,
    strict: boolean,
  ): AnyObject {
    const schema = this.#schemaOf(kind, apiVersion);
    if (!schema) return object;
    // What a custom resource does not have is pruned, but for nulls: the rules see these.
    const refusing = strict && !schema.conform;
    try {
      if (schema.conform) {
        this.call.hasNulls = true;
        return schema.conform(object, false, "kept").object as AnyObject;
      }
      const read = conform(object, schema, refusing);
      if (refusing && read.problems.length > 0)
        throw errors.internal(
          strictDecodingError(read.problems.map(problemText)),
        );
      return read.object as AnyObject;
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error;
      throw errors.internal(mismatchText(error));
    }
  }

  /** Throws ApiError 500 where the object says that it is of another kind. */
  #checkKind(
    { apiVersion, kind }: Partial<AnyObject>,
    wanted: GroupVersionKind,
    wantedVersion: string,
  ): void {
    const given = apiVersion || wantedVersion;
    const givenKind = kind || wanted.kind;
    if (given === wantedVersion && givenKind === wanted.kind) return;
    if (!this.call.endpoint.types.schemaOf(given, givenKind))
      throw errors.internal(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      );
    const [packageName = ""] = wanted.group.split(".");
    throw new ApiError({
      code: 500,
      message: `converting (${parseApiVersion(given).version}.${givenKind}) to (${packageName || "core"}.${wanted.kind}): unknown conversion`,
    });
  }

  #convert(
    object: Readonly<AnyObject>,
    kind: GroupVersionKind,
    apiVersion: string,
  ): MaybePromise<Readonly<AnyObject>> {
    if (object.apiVersion === apiVersion || !this.#isKind(kind)) return object;
    const { definition, stored } = this.call.endpoint;
    const { conversion } = definition;
    return conversion.mode === "immediate"
      ? conversion.convert(object as AnyObject, apiVersion)
      : stored!.converter!.object(object as AnyObject, apiVersion);
  }

  #findEquivalents(): readonly ServedResource[] {
    const { endpoint, subresource, registry } = this.call;
    const own = endpoint.placeOf(subresource);
    const others = endpoint.definition.versions.flatMap(({ info }) => {
      if (apiVersionOf(info) === endpoint.apiVersion) return [];
      const { group, version, resource } = info;
      const other = registry.endpoint(group, version, resource);
      return other?.has(subresource) ? [other.placeOf(subresource)] : [];
    });
    return [own, ...others];
  }
}

/** A custom resource says itself what it is. Throws ApiError 500 and 422. */
function checkCustomKind(
  object: Partial<AnyObject>,
  wanted: GroupVersionKind,
): void {
  const { kind = "", metadata } = object;
  if (kind === "")
    throw errors.internal(
      `Object 'Kind' is missing in '${JSON.stringify(object)}'`,
    );
  if (kind === wanted.kind) return;
  throw errors.invalid({ group: wanted.group, kind }, metadata?.name ?? "", [
    fieldErrors.invalid("kind", kind, `must be ${wanted.kind}`),
  ]);
}

/** As the reference's decoder reports it. */
const mismatchText = ({ message }: TypeMismatch): string =>
  message.startsWith("cannot unmarshal") ? `json: ${message}` : message;

/** The object as it is stored: without the nulls that admission gave it and its schema has no room for. */
export function withoutNulls(call: Call, object: AnyObject): AnyObject {
  if (!call.hasNulls) return object;
  const { endpoint } = call;
  const stored = endpoint.stored?.apiVersion ?? endpoint.apiVersion;
  const schema = endpoint.types.schemaOf(stored, endpoint.info.kind);
  return schema ? (conform(object, schema, false).object as AnyObject) : object;
}

type Checked = readonly [Readonly<AnyObject>, Readonly<AnyObject> | undefined];

/**
 * An object and what it was before as rules check them: those of a kind whose versions a webhook converts in the version
 * that was spoken, whose schema need not be the stored one's. Other kinds' rules find their version themselves.
 */
export function asChecked(
  { endpoint }: Call,
  object: Readonly<AnyObject>,
  old: Readonly<AnyObject> | undefined,
): MaybePromise<Checked> {
  if (endpoint.native || endpoint.definition.conversion.mode !== "deferred")
    return [object, old];
  const view = (one: Readonly<AnyObject>): MaybePromise<AnyObject> =>
    endpoint.toServed(copyJson(one) as AnyObject);
  return Promise.all([view(object), old && view(old)]);
}
