// Finds the rule for a request. Of each socket: rules by host, of each host rules by path. The host that says the most is
// looked at first (the name itself, then wildcards from the longest, then every host), and the next one when it has no
// rule that matches; inside of a host an exact path, then patterns from the longest, then prefixes from the longest; of
// one path by method, number of headers, number of query parameters, and rank. A change costs what the object's own rules
// are, whatever the size of the table.
// Source: Ingress v1 and Gateway API v1 (HTTPRouteRule.matches), which order alike.
import { RE2JS } from "re2js";
import { trimEnd } from "../../../api/patterns/trim.ts";
import type {
  RouteMatch,
  RouteOwner,
  RouteRule,
  RouteSet,
  ValueMatch,
} from "./route.ts";

/** What rules look at beside host and path. */
export interface MatchedRequest {
  readonly method: string;
  /** All values of a header, joined by commas; the name is in lower case. */
  header(name: string): string | undefined;
  /** The first value of a parameter. */
  query(name: string): string | undefined;
}

export interface FoundRoute {
  readonly owner: RouteOwner;
  readonly rule: RouteRule;
  /** The prefix that matched; undefined: it was none. */
  readonly prefix: string | undefined;
}

interface Candidate extends FoundRoute {
  readonly key: string;
  readonly weight: readonly [number, number, number];
  readonly rank: string;
  readonly order: number;
  readonly match: RouteMatch | undefined;
  readonly pattern?: RE2JS;
  readonly conditions: readonly ((request: MatchedRequest) => boolean)[];
  readonly listener: string | undefined;
}

class HostRoutes {
  readonly exact = new Map<string, Candidate[]>();
  readonly prefixes = new Map<string, Candidate[]>();
  patterns: Candidate[] = [];
  /** For what matches nothing else. */
  fallbacks: Candidate[] = [];

  get empty(): boolean {
    return (
      this.exact.size + this.prefixes.size === 0 &&
      this.patterns.length + this.fallbacks.length === 0
    );
  }

  /** @param listener of the request */
  find(
    path: string,
    request: MatchedRequest,
    listener: string | undefined,
  ): Candidate | undefined {
    return (
      first(this.exact.get(path), request, listener) ??
      this.patterns.find(
        (each) =>
          belongs(each, listener) &&
          each.pattern!.matches(path) &&
          holds(each, request),
      ) ??
      this.#byPrefix(path, request, listener)
    );
  }

  #byPrefix(
    path: string,
    request: MatchedRequest,
    listener: string | undefined,
  ): Candidate | undefined {
    if (this.prefixes.size === 0) return undefined;
    // "/a/b" is a prefix of "/a/b" and "/a/b/c"; "" is one of all.
    for (let end = path.length; end >= 0;) {
      const found = first(
        this.prefixes.get(path.slice(0, end)),
        request,
        listener,
      );
      if (found) return found;
      end = end === 0 ? -1 : path.lastIndexOf("/", end - 1);
    }
    return undefined;
  }
}

interface SocketRoutes {
  readonly names: Map<string, HostRoutes>;
  /** By what follows the star. */
  readonly oneLabel: Map<string, HostRoutes>;
  readonly deep: Map<string, HostRoutes>;
  readonly any: HostRoutes;
  /** Host names of listeners, and how many sets have each. */
  readonly listeners: Map<string, number>;
}

export class RouteTable {
  readonly #sockets = new Map<string, SocketRoutes>();
  readonly #sets = new Map<string, readonly RouteSet[]>();

  get size(): number {
    return this.#sets.size;
  }

  /** @param sets of the object `key`; undefined: it is gone */
  set(key: string, sets: readonly RouteSet[] | undefined): void {
    for (const set of this.#sets.get(key) ?? []) this.#remove(key, set);
    this.#sets.delete(key);
    if (!sets) return;
    this.#sets.set(key, sets);
    for (const set of sets) this.#add(key, set);
  }

  /** @param host in lower case */
  find(
    socket: string,
    host: string,
    path: string,
    request: MatchedRequest,
  ): FoundRoute | undefined {
    const routes = this.#sockets.get(socket);
    if (!routes) return undefined;
    const listener = closestListener(routes.listeners, host);
    let fallback: Candidate | undefined;
    for (const hosts of hostsOf(routes, host)) {
      const found = hosts.find(path, request, listener);
      if (found) return found;
      fallback ??= hosts.fallbacks.find((each) => belongs(each, listener));
    }
    return fallback;
  }

  #add(key: string, set: RouteSet): void {
    for (const socket of set.sockets) {
      const routes = this.#routesOf(socket);
      countListener(routes, set, 1);
      let order = 0;
      for (const rule of set.rules) {
        const candidates = candidatesOf(key, set, rule, order);
        order += candidates.length;
        for (const host of rule.hosts) {
          const place = hostPlace(routes, rule, host);
          let entry =
            place.map?.get(place.key) ?? (place.map ? undefined : routes.any);
          if (!entry) place.map!.set(place.key, (entry = new HostRoutes()));
          for (const candidate of candidates) insert(entry, candidate);
        }
      }
    }
  }

  #remove(key: string, set: RouteSet): void {
    for (const socket of set.sockets) {
      const routes = this.#sockets.get(socket);
      if (!routes) continue;
      countListener(routes, set, -1);
      for (const rule of set.rules)
        for (const host of rule.hosts) {
          const place = hostPlace(routes, rule, host);
          const entry = place.map ? place.map.get(place.key) : routes.any;
          if (!entry) continue;
          withdraw(entry, key, rule);
          if (entry.empty) place.map?.delete(place.key);
        }
    }
  }

  #routesOf(socket: string): SocketRoutes {
    let routes = this.#sockets.get(socket);
    if (!routes) {
      routes = {
        names: new Map(),
        oneLabel: new Map(),
        deep: new Map(),
        any: new HostRoutes(),
        listeners: new Map(),
      };
      this.#sockets.set(socket, routes);
    }
    return routes;
  }
}

function countListener(
  { listeners }: SocketRoutes,
  { listener }: RouteSet,
  change: number,
): void {
  if (listener === undefined) return;
  const name = listener.toLowerCase();
  const count = (listeners.get(name) ?? 0) + change;
  if (count > 0) listeners.set(name, count);
  else listeners.delete(name);
}

/** The name itself, or else the longest wildcard, or else the listener of every host; undefined: there is none of these. */
function closestListener(
  listeners: ReadonlyMap<string, number>,
  host: string,
): string | undefined {
  if (listeners.size === 0) return undefined;
  if (listeners.has(host)) return host;
  for (
    let dot = host.indexOf(".");
    dot >= 0;
    dot = host.indexOf(".", dot + 1)
  ) {
    const wildcard = `*${host.slice(dot)}`;
    if (listeners.has(wildcard)) return wildcard;
  }
  return listeners.has("") ? "" : undefined;
}

function belongs({ listener }: Candidate, asked: string | undefined): boolean {
  return listener === undefined || listener === asked;
}

function* hostsOf(routes: SocketRoutes, host: string): Generator<HostRoutes> {
  const named = routes.names.get(host);
  if (named) yield named;
  let dot = host.indexOf(".");
  const direct = dot < 0 ? undefined : routes.oneLabel.get(host.slice(dot));
  if (direct) yield direct;
  if (routes.deep.size > 0)
    for (; dot >= 0; dot = host.indexOf(".", dot + 1)) {
      const found = routes.deep.get(host.slice(dot));
      if (found) yield found;
    }
  yield routes.any;
}

function hostPlace(
  routes: SocketRoutes,
  rule: RouteRule,
  host: string,
): { map: Map<string, HostRoutes> | undefined; key: string } {
  const name = host.toLowerCase();
  if (name === "" || name === "*") return { map: undefined, key: "" };
  if (!name.startsWith("*.")) return { map: routes.names, key: name };
  return {
    map: rule.deep ? routes.deep : routes.oneLabel,
    key: name.slice(1),
  };
}

/** "/a/b/" and "/a/b" are the same prefix. */
function prefixKey(value: string): string {
  return trimEnd(value, "/");
}

function candidatesOf(
  key: string,
  { owner, rank, listener }: RouteSet,
  rule: RouteRule,
  firstOrder: number,
): Candidate[] {
  const matches = rule.matches.length > 0 ? rule.matches : [undefined];
  return matches.map((match, n) => ({
    key,
    owner,
    rule,
    rank,
    order: firstOrder + n,
    match,
    weight: [
      match?.method === undefined ? 0 : 1,
      match?.headers?.length ?? 0,
      match?.query?.length ?? 0,
    ],
    prefix:
      match?.path.type === "Prefix" ? prefixKey(match.path.value) : undefined,
    conditions: match ? conditionsOf(match) : [],
    listener: listener?.toLowerCase(),
    ...(match?.path.type === "Regex"
      ? { pattern: RE2JS.compile(match.path.value) }
      : {}),
  }));
}

function conditionsOf({
  method,
  headers = [],
  query = [],
}: RouteMatch): ((request: MatchedRequest) => boolean)[] {
  const value = (
    { name, value, pattern }: ValueMatch,
    read: (request: MatchedRequest, name: string) => string | undefined,
  ): ((request: MatchedRequest) => boolean) => {
    if (!pattern) return (request) => read(request, name) === value;
    const compiled = RE2JS.compile(value);
    return (request) => {
      const text = read(request, name);
      return text !== undefined && compiled.matches(text);
    };
  };
  return [
    ...(method === undefined
      ? []
      : [(request: MatchedRequest) => request.method === method]),
    ...headers.map((each) =>
      value({ ...each, name: each.name.toLowerCase() }, (request, name) =>
        request.header(name),
      ),
    ),
    ...query.map((each) => value(each, (request, name) => request.query(name))),
  ];
}

function listOf(entry: HostRoutes, { match }: Candidate): Candidate[] {
  if (!match) return entry.fallbacks;
  const { type, value } = match.path;
  if (type === "Regex") return entry.patterns;
  const map = type === "Exact" ? entry.exact : entry.prefixes;
  const key = type === "Exact" ? value : prefixKey(value);
  let list = map.get(key);
  if (!list) map.set(key, (list = []));
  return list;
}

function insert(entry: HostRoutes, candidate: Candidate): void {
  const list = listOf(entry, candidate);
  const at = list.findIndex((each) => before(candidate, each));
  if (at < 0) list.push(candidate);
  else list.splice(at, 0, candidate);
}

function withdraw(entry: HostRoutes, key: string, rule: RouteRule): void {
  const others = (list: readonly Candidate[]): Candidate[] =>
    list.filter((each) => each.key !== key || each.rule !== rule);
  const shrink = (map: Map<string, Candidate[]>, path: string): void => {
    const left = others(map.get(path) ?? []);
    if (left.length > 0) map.set(path, left);
    else map.delete(path);
  };
  if (rule.matches.length === 0) entry.fallbacks = others(entry.fallbacks);
  for (const { path } of rule.matches)
    if (path.type === "Exact") shrink(entry.exact, path.value);
    else if (path.type === "Prefix")
      shrink(entry.prefixes, prefixKey(path.value));
    else entry.patterns = others(entry.patterns);
}

function before(a: Candidate, b: Candidate): boolean {
  if (a.pattern && b.pattern) {
    const [longA, longB] = [a, b].map((each) => each.match!.path.value.length);
    if (longA !== longB) return longA! > longB!;
  }
  for (let n = 0; n < 3; n++)
    if (a.weight[n] !== b.weight[n]) return a.weight[n]! > b.weight[n]!;
  if (a.rank !== b.rank) return a.rank < b.rank;
  return a.order < b.order;
}

function holds({ conditions }: Candidate, request: MatchedRequest): boolean {
  return conditions.every((condition) => condition(request));
}

function first(
  list: readonly Candidate[] | undefined,
  request: MatchedRequest,
  listener: string | undefined,
): Candidate | undefined {
  return list?.find((each) => belongs(each, listener) && holds(each, request));
}
