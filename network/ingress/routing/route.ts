// What the proxy is to do with requests, in the form both feeds (Ingress and Gateway API) give it: plain data, sent to
// the proxy's thread. A route set is what one object says; it is replaced as a whole.

export interface PathMatch {
  /** Exact and Prefix by elements, as Ingress and HTTPRoute define them; Regex in the syntax of RE2, of the whole path. */
  readonly type: "Exact" | "Prefix" | "Regex";
  readonly value: string;
}

/** `pattern`: the value is an expression in the syntax of RE2, of the whole value. */
export interface ValueMatch {
  readonly name: string;
  readonly value: string;
  readonly pattern?: boolean;
}

export interface RouteMatch {
  readonly path: PathMatch;
  readonly method?: string;
  readonly headers?: readonly ValueMatch[];
  readonly query?: readonly ValueMatch[];
}

export interface HeaderChanges {
  readonly set?: readonly (readonly [string, string])[];
  readonly add?: readonly (readonly [string, string])[];
  readonly remove?: readonly string[];
}

/** `prefix` takes the place of the prefix that matched. */
export type PathChange =
  | { readonly type: "full"; readonly value: string }
  | { readonly type: "prefix"; readonly value: string };

export interface WeightedBackend {
  /** Of a backend; undefined: this part of the requests is answered with 500, as there is none. */
  readonly backend: string | undefined;
  readonly weight: number;
  readonly filters?: RouteFilters;
}

export interface RouteFilters {
  readonly requestHeaders?: HeaderChanges;
  readonly responseHeaders?: HeaderChanges;
  readonly rewriteHost?: string;
  readonly rewritePath?: PathChange;
  /** Backends that get a copy of the request, whose answers are dropped. */
  readonly mirrors?: readonly Mirror[];
  readonly cors?: CorsPolicy;
}

/** Who may read answers from pages of other origins. In each list `*` is all. */
export interface CorsPolicy {
  /** `https://example.com:8443`, `https://*.example.com`. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly credentials: boolean;
  readonly maxAgeSeconds: number;
}

interface Mirror {
  readonly backend: string;
  /** Of 0 to 1. */
  readonly fraction: number;
}

export interface Redirect {
  readonly kind: "redirect";
  readonly status: number;
  readonly scheme?: "http" | "https";
  readonly host?: string;
  readonly port?: number;
  readonly path?: PathChange;
}

export interface Forward {
  readonly kind: "forward";
  readonly backends: readonly WeightedBackend[];
}

/** Answered by the proxy itself. */
export interface FixedAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly text: string;
}

export interface RouteLimits {
  /** Until the backend's answer begins. */
  readonly responseTimeoutMs?: number;
  /** Between two pieces of a body or of an upgraded connection. */
  readonly idleTimeoutMs?: number;
  /** From the request to the end of its answer; attempts included. */
  readonly requestTimeoutMs?: number;
  /** Of one attempt. */
  readonly attemptTimeoutMs?: number;
  readonly maxBodyBytes?: number;
}

export interface RouteRule {
  /** "": every host; `*.example.com`: of one label, or with `deep` of any number. */
  readonly hosts: readonly string[];
  /** A wildcard is any number of labels, as in HTTPRoute. */
  readonly deep?: boolean;
  /** None: for what matches no rule (a default backend), of its hosts. */
  readonly matches: readonly RouteMatch[];
  readonly action: Forward | Redirect | FixedAnswer;
  readonly filters?: RouteFilters;
  readonly limits?: RouteLimits;
}

/** The object a request is counted for. */
export interface RouteOwner {
  readonly kind: "Ingress" | "HTTPRoute" | "Gateway";
  readonly namespace: string;
  readonly name: string;
}

export interface RouteSet {
  readonly owner: RouteOwner;
  /** Of two rules that match alike the one with the lower rank wins: creation time, then namespace and name. */
  readonly rank: string;
  /** Ids of the sockets whose requests it is for. */
  readonly sockets: readonly string[];
  /**
   * Host name of the listener that the rules belong to ("": every host). Of a socket's listeners the one whose name says the
   * most about a request's host has the request: rules of others are not looked at. A set without rules keeps its listener
   * known. Undefined: the rules belong to no listener, and are looked at beside those of any.
   */
  readonly listener?: string;
  readonly rules: readonly RouteRule[];
}

export type BackendProtocol = "http" | "https" | "h2c" | "h2";

export interface BackendAddress {
  readonly address: string;
  readonly port: number;
}

/** The endpoints of a Service's port. */
export interface BackendState {
  readonly protocol: BackendProtocol;
  readonly endpoints: readonly BackendAddress[];
  readonly tls?: {
    /** Of the certificate; the handshake asks for it. */
    readonly serverName: string;
    /** PEM; undefined: the system's authorities. */
    readonly authority?: string;
    /** False: any certificate will do, because its user said so. */
    readonly verify: boolean;
  };
}
