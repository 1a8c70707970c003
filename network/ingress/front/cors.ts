// Cross-origin requests by the filter CORS of a route: the proxy answers the browser's question (preflight) itself, and says
// in the answers of others which origins may read them. What a backend says about it is replaced. Origins and, for
// wildcards, methods and headers are repeated as they were asked for: browsers take no wildcard with credentials.
// Source: Gateway API, HTTPCORSFilter (GEP-1767); the Fetch standard.
import type { CorsPolicy, HeaderChanges } from "../routing/route.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface CorsRequest {
  readonly method: string;
  /** In lower case. */
  readonly headers: Headers;
}

const usualPorts: Readonly<Record<string, string>> = {
  http: "80",
  https: "443",
};

/** Scheme, host and port; undefined: it is no origin. */
function partsOf(
  origin: string,
): readonly [scheme: string, host: string, port: string] | undefined {
  const found =
    /^(https?):\/\/(\[[0-9a-f:.]+\]|[^:/\s]+)(?::(\d{1,5}|\*))?$/i.exec(origin);
  if (!found) return undefined;
  const scheme = found[1]!.toLowerCase();
  return [scheme, found[2]!.toLowerCase(), found[3] ?? usualPorts[scheme]!];
}

/** @param allowed an origin, whose host may begin with a wildcard of any number of labels, or `*` */
export function originMatches(allowed: string, origin: string): boolean {
  if (allowed === "*") return true;
  const pattern = partsOf(allowed);
  const given = partsOf(origin);
  if (!pattern || !given || pattern[0] !== given[0]) return false;
  if (pattern[2] !== "*" && pattern[2] !== given[2]) return false;
  const [, host] = pattern;
  if (!host.startsWith("*")) return host === given[1];
  const end = host.slice(1);
  return given[1].endsWith(end) && given[1].length > end.length;
}

const text = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
};

export function isPreflight({ method, headers }: CorsRequest): boolean {
  return (
    method === "OPTIONS" &&
    headers["origin"] !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

/** A list of the policy, or what was asked for where the list is a wildcard. */
function listed(
  list: readonly string[],
  asked: string | undefined,
): string | undefined {
  if (list.length === 0) return undefined;
  return list.includes("*") ? asked : list.join(", ");
}

type Pair = readonly [name: string, value: string];

const pair = (name: string, value: string | undefined): Pair[] =>
  value === undefined ? [] : [[name, value]];

/** What the answer to a request says; none: the origin may not read it. */
function allowance(policy: CorsPolicy, { headers }: CorsRequest): Pair[] {
  const origin = text(headers, "origin");
  if (origin === undefined) return [];
  if (!policy.origins.some((each) => originMatches(each, origin))) return [];
  const credentialed =
    headers["cookie"] !== undefined || headers["authorization"] !== undefined;
  if (credentialed && !policy.credentials) return [];
  const exposed = policy.exposedHeaders.includes("*")
    ? credentialed
      ? undefined
      : "*"
    : listed(policy.exposedHeaders, undefined);
  return [
    ["access-control-allow-origin", origin],
    ...pair(
      "access-control-allow-credentials",
      policy.credentials ? "true" : undefined,
    ),
    ...pair("access-control-expose-headers", exposed),
  ];
}

/** Headers of the proxy's own answer to a preflight. */
export function preflightHeaders(
  policy: CorsPolicy,
  request: CorsRequest,
): Record<string, string> {
  const allowed = allowance(policy, request);
  const { headers } = request;
  return Object.fromEntries([
    ...allowed,
    ...(allowed.length === 0
      ? []
      : [
          ...pair(
            "access-control-allow-methods",
            listed(
              policy.methods,
              text(headers, "access-control-request-method"),
            ),
          ),
          ...pair(
            "access-control-allow-headers",
            listed(
              policy.headers,
              text(headers, "access-control-request-headers"),
            ),
          ),
          ...pair("access-control-max-age", String(policy.maxAgeSeconds)),
        ]),
    ["vary", "Origin"],
  ]);
}

/** Of the answer of a backend. */
export function corsChanges(
  policy: CorsPolicy,
  request: CorsRequest,
): HeaderChanges {
  return {
    remove: [
      "access-control-allow-origin",
      "access-control-allow-credentials",
      "access-control-allow-methods",
      "access-control-allow-headers",
      "access-control-expose-headers",
      "access-control-max-age",
    ],
    add: [...allowance(policy, request), ["vary", "Origin"]],
  };
}
