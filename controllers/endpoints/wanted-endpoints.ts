// The endpoints that a Service's pods make, in groups of one address family and one list of ports each.
import type { Node, Pod, Service } from "../../api/types/core-v1.ts";
import type { Endpoint } from "../../api/types/discovery-v1.ts";
import {
  addressOf,
  conditionsOf,
  hostnameOf,
  portsOn,
} from "./service-pods.ts";
import type { WantedGroup } from "./slice-plan.ts";

export const zoneLabel = "topology.kubernetes.io/zone";

/** @param serving the pods that the Service selects and that may serve */
export function wantedGroups(
  service: Service,
  serving: readonly Pod[],
  nodeNamed: (name: string) => Node | undefined,
): WantedGroup[] {
  const { ipFamilies } = service.spec;
  const families = ipFamilies?.length ? ipFamilies : ["IPv4"];
  return families.flatMap((family) => {
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

/** The annotations ask for hints of another kind, which are not given. */
const topologyModes = [
  "service.kubernetes.io/topology-mode",
  "service.kubernetes.io/topology-aware-hints",
];

function prefersClose({ metadata, spec }: Service): boolean {
  return (
    spec.trafficDistribution === "PreferClose" &&
    !topologyModes.some((name) =>
      /^auto$/i.test(metadata.annotations?.[name] ?? ""),
    )
  );
}
