// The places of a resource – its collections, its objects and their subresources – and the verbs each place serves. What
// a transport asks of any other place is refused here, with 404 and 405 as the reference's router does.
import type { Endpoint } from "../registry/endpoint.ts";
import { methodNotAllowed, pathNotFound } from "../request/refusals.ts";
import type { Verb } from "./request.ts";

interface Target {
  /** Of a namespace itself it may be the name. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** "object", "collection", "everywhere" (a collection across namespaces), or "/" and the name of a subresource. */
type Place = string;

export const methodOf: Readonly<Record<Verb, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};
const collectionVerbs = ["list", "create", "deletecollection"];
const objectVerbs = ["get", "update", "patch", "delete"];

/** Undefined: nothing can be there. */
export function placeOf(
  { info }: Endpoint,
  { namespace, name, subresource }: Target,
): Place | undefined {
  const stray = info.namespaced
    ? namespace === "" && name !== ""
    : namespace !== "" && info.resource !== "namespaces";
  if (stray) return undefined;
  if (subresource !== "") return name === "" ? undefined : `/${subresource}`;
  if (name !== "") return "object";
  return info.namespaced && namespace === "" ? "everywhere" : "collection";
}

/** Undefined: nothing is there. */
export function verbsAt(
  { info }: Endpoint,
  place: Place,
): readonly string[] | undefined {
  if (place.startsWith("/"))
    return info.subresources.find(({ name }) => `/${name}` === place)?.verbs;
  const possible =
    place === "object"
      ? objectVerbs
      : place === "collection"
        ? collectionVerbs
        : ["list"];
  const found = possible.filter((verb) => info.verbs.includes(verb));
  return found.length > 0 ? found : undefined;
}

/** By endpoint and place; bounded, as only places that are there are remembered. */
const methodsAt = new WeakMap<Endpoint, Map<Place, ReadonlySet<string>>>();

/**
 * Throws ApiError 404, 405. A verb passes where another one of its HTTP method is served; what a resource says about a
 * verb it does not have is the verb's own refusal.
 */
export function checkVerb(
  endpoint: Endpoint,
  target: Target,
  verb: Verb,
): void {
  const place = placeOf(endpoint, target);
  if (place === undefined) throw pathNotFound();
  let places = methodsAt.get(endpoint);
  if (!places) methodsAt.set(endpoint, (places = new Map()));
  let methods = places.get(place);
  if (!methods) {
    const verbs = verbsAt(endpoint, place);
    if (!verbs) throw pathNotFound();
    methods = new Set(verbs.map((one) => methodOf[one as Verb]));
    places.set(place, methods);
  }
  if (!methods.has(methodOf[verb])) throw methodNotAllowed();
}
