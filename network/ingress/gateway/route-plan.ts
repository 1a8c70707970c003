// An HTTPRoute with the Gateways it names: what it is served for, and what its status says of each parent.
// Source: Gateway API v1, HTTPRoute and RouteParentStatus.
import type { ObjectPlan } from "../feed/ingress-routes.ts";
import type { RouteSet } from "../routing/route.ts";
import { no, yes, type PlannedCondition } from "./conditions.ts";
import { commonHosts } from "./hostnames.ts";
import type { PlannedListener } from "./listeners.ts";
import { gatewayGroup, type HttpRoute, type ParentRef } from "./objects.ts";
import { planRules, type RulesContext } from "./route-rules.ts";

interface ParentPlan {
  readonly parentRef: ParentRef;
  readonly conditions: readonly PlannedCondition[];
}

export interface RoutePlan {
  readonly plan: ObjectPlan;
  readonly parents: readonly ParentPlan[];
  /** Gateway (namespace/name) and listener, by a slash. */
  readonly attached: readonly string[];
}

interface RouteContext extends RulesContext {
  /** Of a Gateway of ours; undefined: it is none. */
  readonly listenersOf: (
    gateway: string,
  ) => readonly PlannedListener[] | undefined;
  /** Whether routes of the namespace may use the Gateway's listener. */
  readonly admits: (
    gateway: string,
    listener: PlannedListener,
    namespace: string,
  ) => boolean;
}

/** namespace/name of the Gateway; undefined: it is none. */
export function parentGateway(
  route: HttpRoute,
  { group = gatewayGroup, kind = "Gateway", namespace, name }: ParentRef,
): string | undefined {
  return group === gatewayGroup && kind === "Gateway"
    ? `${namespace ?? route.metadata.namespace ?? ""}/${name}`
    : undefined;
}

/** Those that it refers to, as namespace/name. */
export function servicesOf(route: HttpRoute): string[] {
  const own = route.metadata.namespace ?? "";
  const refs = (route.spec.rules ?? []).flatMap(
    ({ backendRefs = [], filters = [] }) => [
      ...backendRefs,
      ...filters.flatMap(
        ({ requestMirror }) => requestMirror?.backendRef ?? [],
      ),
    ],
  );
  return [
    ...new Set(
      refs.map(({ namespace, name }) => `${namespace ?? own}/${name}`),
    ),
  ];
}

export function planRoute(route: HttpRoute, context: RouteContext): RoutePlan {
  const { metadata, spec } = route;
  const rules = planRules(route, context);
  /** By socket, then by the listener's host name. */
  const hostsOf = new Map<string, Map<string, Set<string>>>();
  const attached = new Set<string>();
  const parents: ParentPlan[] = [];
  for (const parentRef of spec.parentRefs ?? []) {
    const gateway = parentGateway(route, parentRef);
    const listeners = gateway && context.listenersOf(gateway);
    if (!listeners) continue;
    const found = attach(route, parentRef, gateway, listeners, context);
    for (const { listener, hosts } of found.attached) {
      attached.add(`${gateway}/${listener.spec.name}`);
      if (listener.socket === undefined) continue;
      const name = listener.spec.hostname ?? "";
      const ofSocket = hostsOf.get(listener.socket) ?? new Map();
      hostsOf.set(listener.socket, ofSocket);
      const known: Set<string> = ofSocket.get(name) ?? new Set();
      for (const host of hosts) known.add(host);
      ofSocket.set(name, known);
    }
    parents.push({
      parentRef,
      conditions: parentConditions(found.problem, rules),
    });
  }
  const places = [...hostsOf].flatMap(([socket, ofSocket]) =>
    [...ofSocket].map(([listener, hosts]) => ({ socket, listener, hosts })),
  );
  const routes = places.map(({ socket, listener, hosts }): RouteSet => ({
    owner: {
      kind: "HTTPRoute",
      namespace: metadata.namespace ?? "",
      name: metadata.name,
    },
    rank: `${metadata.creationTimestamp ?? ""} ${metadata.namespace}/${metadata.name}`,
    sockets: [socket],
    listener,
    rules: rules.rules.map((rule) => ({ ...rule, hosts: [...hosts] })),
  }));
  return {
    plan: {
      routes,
      certificateUses: [],
      backends: rules.backends,
      certificates: [],
      problems: [],
    },
    parents,
    attached: [...attached],
  };
}

interface Attachment {
  readonly listener: PlannedListener;
  readonly hosts: readonly string[];
}

function attach(
  { metadata, spec }: HttpRoute,
  { sectionName, port }: ParentRef,
  gateway: string,
  listeners: readonly PlannedListener[],
  { admits }: RouteContext,
): { attached: Attachment[]; problem: PlannedCondition | undefined } {
  const refused = (reason: string, message: string) => ({
    attached: [],
    problem: no("Accepted", reason, message),
  });
  const meant = listeners.filter(
    (each) =>
      (sectionName === undefined || each.spec.name === sectionName) &&
      (port === undefined || each.spec.port === port),
  );
  if (meant.length === 0)
    return refused("NoMatchingParent", "the Gateway has no such listener");
  const namespace = metadata.namespace ?? "";
  const allowed = meant.filter(
    (each) => each.supportsRoutes && admits(gateway, each, namespace),
  );
  if (allowed.length === 0)
    return refused(
      "NotAllowedByListeners",
      `no listener allows HTTPRoutes of the namespace ${namespace}`,
    );
  const attached = allowed.flatMap((listener) => {
    const hosts = commonHosts(listener.spec.hostname, spec.hostnames);
    return hosts.length > 0 ? [{ listener, hosts }] : [];
  });
  if (attached.length === 0)
    return refused(
      "NoMatchingListenerHostname",
      "no listener has a host name of the route",
    );
  return { attached, problem: undefined };
}

function parentConditions(
  problem: PlannedCondition | undefined,
  rules: ReturnType<typeof planRules>,
): PlannedCondition[] {
  const { unsupported, allUnsupported, unresolved } = rules;
  const text = unsupported.join("; ");
  const conditions = [
    problem ??
      (allUnsupported
        ? no("Accepted", "UnsupportedValue", text)
        : yes("Accepted")),
    unresolved[0] ? no("ResolvedRefs", ...unresolved[0]) : yes("ResolvedRefs"),
  ];
  if (!problem && unsupported.length > 0 && !allUnsupported)
    conditions.push(
      yes("PartiallyInvalid", "UnsupportedValue", `Dropped Rule: ${text}`),
    );
  return conditions;
}
