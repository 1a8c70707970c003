// The places of a resource – its collections, its objects and their subresources – and what each takes and gives: the
// methods of its verbs, and media types. Made once per place.
import { methodOf, placeOf, verbsAt } from "../dispatch/places.ts";
import type { Verb } from "../dispatch/request.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { acceptedTypes } from "./negotiation.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { Route } from "../request/route.ts";

/** By method. */
type Place = Readonly<Record<string, Route>>;

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
    const { verb, subresource, rest } = info;
    if (rest !== "" && rest !== "/" && subresource !== "proxy")
      return undefined;
    const at = placeOf(endpoint, info);
    if (at === undefined) return undefined;
    const key = verb === "watch" && info.watchPath ? "watch" : at;
    let places = this.#places.get(endpoint);
    if (!places) this.#places.set(endpoint, (places = new Map()));
    let place = places.get(key);
    if (place === undefined) {
      place = this.#make(endpoint, key) ?? null;
      // Missing resources have too many names to remember.
      if (place) places.set(key, place);
    }
    return place ?? undefined;
  }

  #make(endpoint: Endpoint, key: string): Place | undefined {
    const { info } = endpoint;
    const protobuf = this.encodings.protobuf && endpoint.protobuf;
    const { cbor } = this.encodings;
    const offer = { protobuf, cbor, table: true, partial: true };
    const single = acceptedTypes(offer);
    const several = [...single, ...acceptedTypes({ ...offer, stream: true })];
    if (key === "watch")
      return info.verbs.includes("watch")
        ? { GET: { produces: several } }
        : undefined;
    const verbs = verbsAt(endpoint, key);
    if (!verbs) return undefined;
    return key.startsWith("/")
      ? this.#subresource(key.slice(1), verbs, single)
      : this.#routes(verbs, single, several);
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
        methodOf[verb as Verb],
        {
          produces: verb === "list" ? several : single,
          ...(verb === "patch" ? { consumes } : {}),
        },
      ]),
    );
  }
}
