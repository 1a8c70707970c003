// The versions of a call's objects, for admission: where they are served, and conversion to those places and back. What is
// created or connected through a subresource (Binding, Eviction, PodExecOptions …) has one version.
import { conform, TypeMismatch } from "../../../api/codec/conform.ts";
import { errors } from "../../../api/errors.ts";
import {
  apiVersionOf,
  type AnyObject,
  type GroupVersionKind,
} from "../../../api/object.ts";
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

  async from(object: AnyObject, kind: GroupVersionKind): Promise<AnyObject> {
    const { endpoint } = this.call;
    const { definition } = endpoint;
    const apiVersion = apiVersionOf(kind);
    checkKind(object, kind, apiVersion);
    const read = this.#read(object, kind, apiVersion);
    read.kind = kind.kind;
    read.apiVersion = apiVersion;
    if (!this.#isKind(kind)) return read;
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

  #read(
    object: AnyObject,
    { kind }: GroupVersionKind,
    apiVersion: string,
  ): AnyObject {
    const { definition, types } = this.call.endpoint;
    const version = definition.versions.find(
      ({ info }) => apiVersionOf(info) === apiVersion && info.kind === kind,
    );
    const schema = version ? version.schema : types.schemaOf(apiVersion, kind);
    if (!schema) return object;
    try {
      return conform(object, schema, false).object as AnyObject;
    } catch (error) {
      if (error instanceof TypeMismatch) throw errors.internal(error.message);
      throw error;
    }
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

/** Throws ApiError 500 where the object says that it is of another kind. */
function checkKind(
  { apiVersion, kind }: Partial<AnyObject>,
  wanted: GroupVersionKind,
  wantedVersion: string,
): void {
  if (
    (apiVersion || wantedVersion) === wantedVersion &&
    (kind || wanted.kind) === wanted.kind
  )
    return;
  throw errors.internal(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
  );
}
