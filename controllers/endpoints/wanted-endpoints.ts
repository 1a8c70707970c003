// The endpoints that a Service's pods make, in groups of one address family and one list of ports each.
import type { Node, Pod, Service } from "../../api/types/core-v1.ts";
import type {
  Endpoint,
  EndpointHints,
  EndpointSlice,
} from "../../api/types/discovery-v1.ts";
import {
  addressOf,
  conditionsOf,
  hostnameOf,
  portsOn,
} from "./service-pods.ts";
import { endpointIdentity, type WantedGroup } from "./slice-plan.ts";

export const zoneLabel = "topology.kubernetes.io/zone";

export function addressTypes({ spec }: Service): readonly string[] {
  return spec.ipFamilies?.length ? spec.ipFamilies : ["IPv4"];
}

/** @param serving the pods that the Service selects and that may serve */
export function wantedGroups(
  service: Service,
  serving: readonly Pod[],
  nodeNamed: (name: string) => Node | undefined,
): WantedGroup[] {
  return addressTypes(service).flatMap((family) => {
    const groups = new Map<string, WantedGroup>();
    for (const pod of serving) {
      const address = addressOf(pod, family);
      if (!address) continue;
      const ports = portsOn(service, pod);
      const id = JSON.stringify(ports);
      const group = groups.get(id) ?? {
        addressType: family,
        ports,
        endpoints: [],
      };
      groups.set(id, group);
      group.endpoints.push(endpointOf(pod, address, service, nodeNamed));
    }
    // Readers should see that the service is known even when nothing serves it.
    return groups.size > 0
      ? [...groups.values()]
      : [{ addressType: family, ports: [], endpoints: [] }];
  });
}

function endpointOf(
  pod: Pod,
  address: string,
  service: Service,
  nodeNamed: (name: string) => Node | undefined,
): Endpoint {
  const { nodeName } = pod.spec;
  const zone = nodeName && nodeNamed(nodeName)?.metadata.labels?.[zoneLabel];
  const hostname = hostnameOf(pod, service);
  const { name, namespace, uid } = pod.metadata;
  const conditions = conditionsOf(pod, service);
  // For clients of its own zone, which proxies keep to while every endpoint that is ready has such a hint.
  const near = zone && conditions.ready && prefersClose(service);
  return {
    addresses: [address],
    conditions,
    ...(hostname ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    targetRef: {
      kind: "Pod",
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
    },
    ...(zone ? { zone } : {}),
    ...(near ? { hints: { forZones: [{ name: zone }] } } : {}),
  };
}

/** Whether the annotations ask for hints by the zones' CPU (topology-hints); the older one of the two comes first. */
export function asksForHints({ metadata }: Service): boolean {
  const annotations = metadata.annotations ?? {};
  const value =
    annotations["service.kubernetes.io/topology-aware-hints"] ??
    annotations["service.kubernetes.io/topology-mode"];
  return value === "Auto" || value === "auto";
}

function prefersClose(service: Service): boolean {
  return (
    service.spec.trafficDistribution === "PreferClose" && !asksForHints(service)
  );
}

/** Endpoints with the hints that they had: only what else changes in them is a change. */
export function withKnownHints(
  groups: readonly WantedGroup[],
  existing: readonly EndpointSlice[],
): WantedGroup[] {
  const known = new Map<string, EndpointHints>();
  for (const { endpoints = [] } of existing)
    for (const each of endpoints)
      if (each.hints) known.set(endpointIdentity(each), each.hints);
  return groups.map((group) => ({
    ...group,
    endpoints: group.endpoints.map((each) => {
      const hints = known.get(endpointIdentity(each));
      return hints && each.conditions?.ready ? { ...each, hints } : each;
    }),
  }));
}
