// The rules of an HTTPRoute as the proxy takes them. What is not supported is refused by name: its rule answers 500, as the
// specification has it for rules that can't be served.
import { RE2JS } from "re2js";
import { parseDurationMs } from "../../../api/duration.ts";
import type { BackendSpec } from "../feed/service-backend.ts";
import { backendKey } from "../feed/service-backend.ts";
import type {
  CorsPolicy,
  FixedAnswer,
  Forward,
  PathChange,
  Redirect,
  RouteFilters,
  RouteLimits,
  RouteMatch,
  RouteRule,
  ValueMatch,
  WeightedBackend,
} from "../routing/route.ts";
import type { MayRefer } from "./grants.ts";
import {
  gatewayGroup,
  type BackendRef,
  type HttpRoute,
  type HttpRouteRule,
  type PathModifier,
  type RouteFilter,
  type ValueMatchSpec,
} from "./objects.ts";

export interface RulesContext {
  readonly mayRefer: MayRefer;
  readonly serviceHasPort: (
    namespace: string,
    name: string,
    port: number,
  ) => boolean;
}

interface PlannedRules {
  /** Without their hosts. */
  readonly rules: readonly Omit<RouteRule, "hosts">[];
  readonly backends: readonly BackendSpec[];
  /** What is not supported, of the rules it is in. */
  readonly unsupported: readonly string[];
  readonly allUnsupported: boolean;
  /** Of references to backends: reason and message. */
  readonly unresolved: readonly (readonly [string, string])[];
}

class UnsupportedError extends Error {}

export function planRules(
  route: HttpRoute,
  context: RulesContext,
): PlannedRules {
  const backends = new Map<string, BackendSpec>();
  const unresolved: (readonly [string, string])[] = [];
  const unsupported: string[] = [];
  const resolve = (ref: BackendRef): string | undefined => {
    const spec = resolveBackend(route, ref, context);
    if ("problem" in spec) {
      unresolved.push(spec.problem);
      return undefined;
    }
    const key = backendKey(spec);
    backends.set(key, spec);
    return key;
  };
  const given = route.spec.rules ?? [{}];
  const rules = given.flatMap((rule): Omit<RouteRule, "hosts">[] => {
    try {
      return [planRule(rule, resolve)];
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      unsupported.push(error.message);
      const matches = safeMatches(rule);
      // Without a match it would have all requests that no other rule has.
      return matches.length > 0
        ? [{ deep: true, matches, action: failure }]
        : [];
    }
  });
  return {
    rules,
    backends: [...backends.values()],
    unsupported,
    allUnsupported:
      unsupported.length > 0 && unsupported.length === given.length,
    unresolved,
  };
}

const failure: FixedAnswer = {
  kind: "answer",
  status: 500,
  text: "the rule of the route is not supported",
};

function planRule(
  rule: HttpRouteRule,
  resolve: (ref: BackendRef) => string | undefined,
): Omit<RouteRule, "hosts"> {
  for (const field of ["retry", "sessionPersistence"] as const)
    if (rule[field]) throw new UnsupportedError(`${field} is not supported`);
  const { filters, redirect } = planFilters(rule.filters ?? [], resolve, true);
  return {
    deep: true,
    matches: matchesOf(rule),
    action: redirect ?? forward(rule, resolve),
    ...(filters ? { filters } : {}),
    limits: limitsOf(rule),
  };
}

function forward(
  { backendRefs = [] }: HttpRouteRule,
  resolve: (ref: BackendRef) => string | undefined,
): Forward | FixedAnswer {
  if (backendRefs.length === 0)
    return { kind: "answer", status: 500, text: "the rule has no backend" };
  const backends = backendRefs.map((ref): WeightedBackend => {
    const { filters } = planFilters(ref.filters ?? [], resolve, false);
    return {
      backend: resolve(ref),
      weight: ref.weight ?? 1,
      ...(filters ? { filters } : {}),
    };
  });
  return { kind: "forward", backends };
}

function resolveBackend(
  { metadata }: HttpRoute,
  { group = "", kind = "Service", name, namespace: given, port }: BackendRef,
  { mayRefer, serviceHasPort }: RulesContext,
): BackendSpec | { problem: readonly [string, string] } {
  const own = metadata.namespace ?? "";
  const namespace = given ?? own;
  if (group !== "" || kind !== "Service")
    return {
      problem: [
        "InvalidKind",
        `${kind} ${name} is no Service; others are not supported`,
      ],
    };
  if (
    !mayRefer({
      from: { group: gatewayGroup, kind: "HTTPRoute", namespace: own },
      to: { group, kind, namespace, name },
    })
  )
    return {
      problem: [
        "RefNotPermitted",
        `no ReferenceGrant allows the Service ${namespace}/${name}`,
      ],
    };
  if (port === undefined || !serviceHasPort(namespace, name, port))
    return {
      problem: [
        "BackendNotFound",
        port === undefined
          ? `the reference to ${name} has no port`
          : `there is no Service ${namespace}/${name} with port ${port}`,
      ],
    };
  return { namespace, service: name, port };
}

function matchesOf({ matches }: HttpRouteRule): RouteMatch[] {
  const given = matches?.length ? matches : [{}];
  return given.map(({ path, method, headers, queryParams }) => ({
    path: pathOf(path),
    ...(method === undefined ? {} : { method }),
    ...(headers?.length ? { headers: valuesOf(headers) } : {}),
    ...(queryParams?.length ? { query: valuesOf(queryParams) } : {}),
  }));
}

/** Of a rule that is refused: as far as they can be read. */
function safeMatches(rule: HttpRouteRule): RouteMatch[] {
  try {
    return matchesOf(rule);
  } catch {
    return (rule.matches ?? []).flatMap(({ path }) =>
      path?.type === "Exact" || path?.type === "PathPrefix"
        ? [{ path: pathOf(path) }]
        : [],
    );
  }
}

function pathOf({
  type = "PathPrefix",
  value = "/",
}: {
  readonly type?: string;
  readonly value?: string;
} = {}): RouteMatch["path"] {
  if (type === "PathPrefix") return { type: "Prefix", value };
  if (type === "Exact") return { type: "Exact", value };
  if (type === "RegularExpression")
    return { type: "Regex", value: checkedPattern(value) };
  throw new UnsupportedError(`the path match ${type} is not supported`);
}

/** Of several for one name the first counts. */
function valuesOf(specs: readonly ValueMatchSpec[]): ValueMatch[] {
  const values = new Map<string, ValueMatch>();
  for (const { type = "Exact", name, value } of specs) {
    if (type !== "Exact" && type !== "RegularExpression")
      throw new UnsupportedError(`the match type ${type} is not supported`);
    if (values.has(name.toLowerCase())) continue;
    values.set(name.toLowerCase(), {
      name,
      value: type === "Exact" ? value : checkedPattern(value),
      ...(type === "Exact" ? {} : { pattern: true }),
    });
  }
  return [...values.values()];
}

function checkedPattern(text: string): string {
  try {
    RE2JS.compile(text);
    return text;
  } catch {
    throw new UnsupportedError(
      `${JSON.stringify(text)} is no expression of RE2`,
    );
  }
}

function changed(values: readonly { name: string; value: string }[] = []) {
  return values.map(({ name, value }) => [name, value] as const);
}

function planFilters(
  filters: readonly RouteFilter[],
  resolve: (ref: BackendRef) => string | undefined,
  ofRule: boolean,
): { filters: RouteFilters | undefined; redirect: Redirect | undefined } {
  let plan: RouteFilters = {};
  let redirect: Redirect | undefined;
  for (const filter of filters) {
    const header =
      filter.requestHeaderModifier ?? filter.responseHeaderModifier ?? {};
    const changes = {
      set: changed(header.set),
      add: changed(header.add),
      remove: header.remove ?? [],
    };
    if (filter.type === "RequestHeaderModifier")
      plan = { ...plan, requestHeaders: changes };
    else if (filter.type === "ResponseHeaderModifier")
      plan = { ...plan, responseHeaders: changes };
    else if (filter.type === "RequestMirror" && filter.requestMirror)
      plan = withMirror(plan, filter.requestMirror, resolve);
    else if (ofRule && filter.type === "CORS")
      plan = { ...plan, cors: corsPolicy(filter.cors) };
    else if (ofRule && filter.type === "URLRewrite" && filter.urlRewrite) {
      const { hostname, path } = filter.urlRewrite;
      plan = {
        ...plan,
        ...(hostname === undefined ? {} : { rewriteHost: hostname }),
        ...(path ? { rewritePath: pathChange(path) } : {}),
      };
    } else if (ofRule && filter.type === "RequestRedirect")
      redirect = redirectOf(filter);
    else
      throw new UnsupportedError(
        `the filter ${filter.type} is not supported${ofRule ? "" : " at a backend"}`,
      );
  }
  return {
    filters: Object.keys(plan).length > 0 ? plan : undefined,
    redirect,
  };
}

function withMirror(
  plan: RouteFilters,
  { backendRef, percent, fraction }: NonNullable<RouteFilter["requestMirror"]>,
  resolve: (ref: BackendRef) => string | undefined,
): RouteFilters {
  const backend = resolve(backendRef);
  if (backend === undefined) return plan;
  const share = fraction
    ? fraction.numerator / (fraction.denominator ?? 100)
    : (percent ?? 100) / 100;
  return {
    ...plan,
    mirrors: [...(plan.mirrors ?? []), { backend, fraction: share }],
  };
}

function corsPolicy({
  allowOrigins = [],
  allowMethods = [],
  allowHeaders = [],
  exposeHeaders = [],
  allowCredentials = false,
  maxAge = 5,
}: RouteFilter["cors"] = {}): CorsPolicy {
  return {
    origins: allowOrigins,
    methods: allowMethods,
    headers: allowHeaders,
    exposedHeaders: exposeHeaders,
    credentials: allowCredentials,
    maxAgeSeconds: maxAge,
  };
}

function redirectOf({ requestRedirect = {} }: RouteFilter): Redirect {
  const { scheme, hostname, path, port, statusCode = 302 } = requestRedirect;
  if (scheme !== undefined && scheme !== "http" && scheme !== "https")
    throw new UnsupportedError(`the scheme ${scheme} is not supported`);
  return {
    kind: "redirect",
    status: statusCode,
    ...(scheme === undefined ? {} : { scheme }),
    ...(hostname === undefined ? {} : { host: hostname }),
    ...(port === undefined ? {} : { port }),
    ...(path ? { path: pathChange(path) } : {}),
  };
}

function pathChange({
  type,
  replaceFullPath = "",
  replacePrefixMatch = "",
}: PathModifier): PathChange {
  if (type === "ReplaceFullPath")
    return { type: "full", value: replaceFullPath };
  if (type === "ReplacePrefixMatch")
    return { type: "prefix", value: replacePrefixMatch };
  throw new UnsupportedError(`the path change ${type} is not supported`);
}

function limitsOf({ timeouts = {} }: HttpRouteRule): RouteLimits {
  const limit = (text: string | undefined): number | undefined => {
    const ms = text === undefined ? 0 : parseDurationMs(text);
    return ms > 0 ? ms : undefined;
  };
  const requestTimeoutMs = limit(timeouts.request);
  const attemptTimeoutMs = limit(timeouts.backendRequest);
  return {
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(attemptTimeoutMs === undefined ? {} : { attemptTimeoutMs }),
  };
}
