// The places of a resource – its collections, its objects and their subresources – and what each takes and gives: the
// methods of its verbs, and media types. Made once per place.
import type { Endpoint } from "../registry/endpoint.ts";
import { acceptedTypes } from "./negotiation.ts";
import type { RequestInfo } from "./request-info.ts";
import type { Route } from "./route.ts";

/** By method. */
export type Place = Readonly<Record<string, Route>>;

const methodOf: Readonly<Record<string, string>> = {
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
const anyMethods = "GET PUT PATCH POST DELETE HEAD OPTIONS".split(" ");
const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

export class ResourceRoutes {
  readonly #places = new WeakMap<Endpoint, Map<string, Place | null>>();

  constructor(
    private readonly encodings: { protobuf: boolean; cbor: boolean },
  ) {}

  /** Undefined: nothing is there. */
  place(endpoint: Endpoint, info: RequestInfo): Place | undefined {
    const { verb, name, namespace, subresource, rest } = info;
    const { namespaced } = endpoint.info;
    if (namespaced ? namespace === "" && name !== "" : strayNamespace(info))
      return undefined;
    if (rest !== "" && rest !== "/" && subresource !== "proxy")
      return undefined;
    const key =
      verb === "watch" && info.watchPath
        ? "watch"
        : subresource !== ""
          ? `/${subresource}`
          : name !== ""
            ? "object"
            : namespaced && namespace === ""
              ? "everywhere"
              : "collection";
    let places = this.#places.get(endpoint);
    if (!places) this.#places.set(endpoint, (places = new Map()));
    let place = places.get(key);
    if (place === undefined) {
      place = this.#make(endpoint, key) ?? null;
      // What is not there has too many names to remember.
      if (place) places.set(key, place);
    }
    return place ?? undefined;
  }

  #make({ info, schema }: Endpoint, key: string): Place | undefined {
    const protobuf = this.encodings.protobuf && schema !== undefined;
    const { cbor } = this.encodings;
    const offer = { protobuf, cbor, table: true, partial: true };
    const single = acceptedTypes(offer);
    const several = [...single, ...acceptedTypes({ ...offer, stream: true })];
    const { verbs } = info;
    const having = (...some: string[]): string[] =>
      some.filter((verb) => verbs.includes(verb));
    if (key === "watch")
      return verbs.includes("watch")
        ? { GET: { produces: several } }
        : undefined;
    if (key === "everywhere" && verbs.includes("list"))
      return { GET: { produces: several } };
    if (key.startsWith("/")) {
      const sub = info.subresources.find(({ name }) => `/${name}` === key);
      return sub && this.#subresource(sub.name, sub.verbs, single);
    }
    const found =
      key === "object" ? having(...objectVerbs) : having(...collectionVerbs);
    if (found.length === 0 || key === "everywhere") return undefined;
    return this.#routes(found, single, several);
  }

  #subresource(
    name: string,
    verbs: readonly string[],
    single: readonly string[],
  ): Place {
    if (name === "proxy")
      return Object.fromEntries(anyMethods.map((method) => [method, {}]));
    if (name === "exec" || name === "attach" || name === "portforward")
      return { GET: {}, POST: {} };
    if (name === "log") return { GET: { produces: ["text/plain", ...single] } };
    return this.#routes(verbs, single, single);
  }

  #routes(
    verbs: readonly string[],
    single: readonly string[],
    several: readonly string[],
  ): Place {
    const consumes = this.encodings.cbor
      ? [...patchTypes, "application/apply-patch+cbor"]
      : patchTypes;
    return Object.fromEntries(
      verbs.map((verb) => [
        methodOf[verb]!,
        {
          produces: verb === "list" ? several : single,
          ...(verb === "patch" ? { consumes } : {}),
        },
      ]),
    );
  }
}

function strayNamespace({ namespace, resource }: RequestInfo): boolean {
  return namespace !== "" && resource !== "namespaces";
}
