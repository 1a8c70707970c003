// The parameters of a binding: objects of any kind that is served, found for each request in the state of that moment.
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import { selectorFromObject } from "../../../api/selectors.ts";
import type {
  ParamKind,
  ParamRef,
} from "../../../api/types/admissionregistration-v1.ts";

type Params = readonly (Readonly<AnyObject> | undefined)[];
type MaybePromise<T> = T | Promise<T>;

/** The objects of one kind, in the version that the policy names. */
export interface ParamObjects {
  readonly namespaced: boolean;
  get(
    namespace: string,
    name: string,
  ): MaybePromise<Readonly<AnyObject> | undefined>;
  list(namespace: string): MaybePromise<readonly Readonly<AnyObject>[]>;
}

/** Undefined: no such kind is served. */
export type ParamLookup = (
  group: string,
  version: string,
  kind: string,
) => ParamObjects | undefined;

/** The policy or the binding can't be used for the request; its failure policy decides. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** Undefined: the policy has none. Throws ConfigurationError for a kind that is not served. */
export function paramObjects(
  kind: ParamKind | undefined,
  lookup: ParamLookup,
): ParamObjects | undefined {
  if (!kind) return undefined;
  const { group, version } = parseApiVersion(kind.apiVersion ?? "");
  const found = lookup(group, version, kind.kind ?? "");
  if (!found)
    throw new ConfigurationError(
      `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind.kind ?? ""}'`,
    );
  return found;
}

/**
 * With which parameters the policy is evaluated for a request in `namespace` ("": in none); [undefined]: once, without;
 * an empty list: not at all. Throws ConfigurationError.
 */
export async function collectParams(
  objects: ParamObjects | undefined,
  reference: ParamRef | undefined,
  namespace: string,
): Promise<Params> {
  if (!objects || !reference) return [undefined];
  const at = placeOf(objects, reference, namespace);
  const found = reference.name
    ? [await objects.get(at, reference.name)].filter(
        (object) => object !== undefined,
      )
    : await selected(objects, reference, at);
  if (found.length === 0 && reference.parameterNotFoundAction === "Deny")
    throw new ConfigurationError(
      "no params found for policy binding with `Deny` parameterNotFoundAction",
    );
  return found;
}

function placeOf(
  { namespaced }: ParamObjects,
  reference: ParamRef,
  namespace: string,
): string {
  if (!namespaced) {
    if (reference.namespace)
      throw new ConfigurationError(
        "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
      );
    return "";
  }
  const at = reference.namespace || namespace;
  if (at === "")
    throw new ConfigurationError(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    );
  return at;
}

async function selected(
  objects: ParamObjects,
  { selector }: ParamRef,
  namespace: string,
): Promise<Readonly<AnyObject>[]> {
  const wanted = selectorFromObject(selector ?? {});
  const all = await objects.list(namespace);
  return all.filter(({ metadata }) => wanted.matches(metadata.labels));
}
