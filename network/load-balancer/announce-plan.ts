// Which addresses of load balancers this node announces. Every node comes to the same answer by itself: of those that may, the
// first by a digest of its name and the address, so that few addresses move when nodes come and go. Pure.
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import { pooledAddresses } from "../../api/objects/load-balancer.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";

const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

/** On nodes that announce. */
export const announcerAnnotation = "orbit.io/announces-load-balancers";

interface AnnouncePlan {
  /** Of this node. */
  readonly addresses: readonly string[];
  /** Another node takes an address over when this one is silent. */
  readonly shared: boolean;
}

function announces({ metadata, status }: Node): boolean {
  return (
    metadata.annotations?.[announcerAnnotation] === "true" &&
    metadata.labels?.[excludeLabel] === undefined &&
    !metadata.deletionTimestamp &&
    isConditionTrue(status?.conditions, "Ready")
  );
}

/** Names of nodes with endpoints that take traffic. */
function nodesWithEndpoints(slices: readonly EndpointSlice[]): Set<string> {
  return new Set(
    slices.flatMap(({ endpoints = [] }) =>
      (endpoints ?? []).flatMap(({ nodeName, conditions }) =>
        nodeName && conditions?.ready !== false ? [nodeName] : [],
      ),
    ),
  );
}

function rank(node: string, address: string): string {
  return createHash("sha256").update(`${node}\0${address}`).digest("hex");
}

export function announcePlan(
  nodeName: string,
  nodes: readonly Node[],
  services: readonly Service[],
  slicesOf: (service: Service) => readonly EndpointSlice[],
): AnnouncePlan {
  const candidates = nodes
    .filter(announces)
    .map(({ metadata }) => metadata.name);
  const addresses: string[] = [];
  for (const service of services) {
    const pooled = pooledAddresses(service).filter((each) => isIP(each) !== 0);
    if (pooled.length === 0 || service.metadata.deletionTimestamp) continue;
    const near =
      service.spec?.externalTrafficPolicy === "Local"
        ? nodesWithEndpoints(slicesOf(service))
        : undefined;
    const able = near && candidates.filter((name) => near.has(name));
    // Without endpoints anywhere it makes no difference who refuses.
    const among = able && able.length > 0 ? able : candidates;
    for (const address of pooled) {
      const [first] = among.toSorted((a, b) =>
        rank(a, address) < rank(b, address) ? -1 : 1,
      );
      if (first === nodeName) addresses.push(address);
    }
  }
  return {
    addresses: [...new Set(addresses)].sort(),
    shared: candidates.some((name) => name !== nodeName),
  };
}
