// What the proxy does for each port of a Service, by address family: its addresses, policies and the endpoints each policy
// may use. A pure function of the Service, its EndpointSlices and the node.
// Source: the reference's service proxy: topology (ready endpoints, hints by zone), terminating endpoints as a fallback,
// internal and external traffic policies.
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { canonicalAddresses } from "../../api/addresses/address-range.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type {
  Service,
  ServicePort,
  ServiceSpec,
} from "../../api/types/core-v1.ts";
import { sourceRanges } from "./source-ranges.ts";

export type Family = 4 | 6;
type Protocol = "tcp" | "udp" | "sctp";

export interface ProxyEndpoint {
  readonly address: string;
  readonly port: number;
}

/** One port of one Service in one address family. */
export interface ProxyPort {
  /** `namespace/name:port`, for messages. */
  readonly name: string;
  /** Of letters and digits; the same for the same service, port and family. */
  readonly id: string;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: number;
  readonly clusterIp?: string;
  /** externalIPs. */
  readonly externalIps: readonly string[];
  /** Addresses of the load balancer whose ipMode is VIP. */
  readonly loadBalancerIps: readonly string[];
  readonly nodePort?: number;
  /** Seconds of client affinity. */
  readonly affinitySeconds?: number;
  /** Who may use the load balancer's addresses; undefined: all clients, empty: none. */
  readonly sourceRanges?: readonly string[];
  readonly internalLocal: boolean;
  readonly externalLocal: boolean;
  /** What a policy of Cluster uses. */
  readonly cluster: readonly ProxyEndpoint[];
  /** What a policy of Local uses. */
  readonly local: readonly ProxyEndpoint[];
}

export interface ProxyNode {
  readonly name: string;
  /** topology.kubernetes.io/zone. */
  readonly zone?: string;
  readonly addresses?: readonly string[];
}

interface Candidate extends ProxyEndpoint {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly local: boolean;
  /** Undefined: the endpoint has no hints. */
  readonly zones?: readonly string[];
}

const defaultAffinitySeconds = 10_800;
/** Labels, of any value, of Services that the reference's proxy leaves alone. */
const otherwiseServed = [
  "service.kubernetes.io/service-proxy-name",
  "service.kubernetes.io/headless",
];

/** In one form each: texts of objects become a part of scripts, where one that nft can't read would stop all rules. */
function ofFamily(
  texts: readonly string[] | undefined,
  family: Family,
): string[] {
  return canonicalAddresses(texts ?? []).filter(
    (address) => isIP(address) === family,
  );
}

function candidates(
  slices: readonly EndpointSlice[],
  { name, protocol }: ServicePort,
  family: Family,
  node: ProxyNode,
): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const slice of slices) {
    if (slice.addressType !== `IPv${family}`) continue;
    const port = (slice.ports ?? []).find(
      (each) =>
        (each.name ?? "") === (name ?? "") &&
        (each.protocol ?? "TCP") === (protocol ?? "TCP"),
    )?.port;
    if (port === undefined) continue;
    for (const { addresses, conditions, nodeName, hints } of slice.endpoints ??
      []) {
      const address = ofFamily(addresses?.slice(0, 1), family)[0];
      if (address === undefined) continue;
      // Unset means ready; serving follows ready where it is unset.
      const ready = conditions?.ready ?? true;
      const zones = hints?.forZones?.map((zone) => zone.name);
      found.set(`${address} ${port}`, {
        address,
        port,
        ready,
        serving: conditions?.serving ?? ready,
        terminating: conditions?.terminating ?? false,
        local: nodeName === node.name,
        ...(zones && zones.length > 0 ? { zones } : {}),
      });
    }
  }
  return [...found.values()].toSorted((a, b) =>
    a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port,
  );
}

/** Ready endpoints, or, when there is none, those that still serve while they end. */
function usable(all: readonly Candidate[]): readonly Candidate[] {
  const ready = all.filter((each) => each.ready);
  return ready.length > 0
    ? ready
    : all.filter(({ serving, terminating }) => serving && terminating);
}

/** By zone, when every ready endpoint has hints and one of them is for this node's zone. */
function near(
  all: readonly Candidate[],
  { zone }: ProxyNode,
): readonly Candidate[] {
  const ready = all.filter((each) => each.ready);
  if (zone === undefined || ready.length === 0) return all;
  if (ready.some(({ zones }) => !zones)) return all;
  const here = all.filter(({ zones }) => zones?.includes(zone) === true);
  return here.some((each) => each.ready) ? here : all;
}

/** What health checks count: endpoints of this node that are ready, those that end left out; of two families the larger number. */
export function readyEndpointsHere(
  slices: readonly EndpointSlice[],
  { name }: ProxyNode,
): number {
  const found = { IPv4: new Set<string>(), IPv6: new Set<string>() };
  for (const { addressType, endpoints } of slices) {
    if (addressType !== "IPv4" && addressType !== "IPv6") continue;
    for (const { addresses, conditions, nodeName } of endpoints ?? [])
      if (nodeName === name && (conditions?.ready ?? true) && addresses?.[0])
        found[addressType].add(addresses[0]);
  }
  return Math.max(found.IPv4.size, found.IPv6.size);
}

function plain(all: readonly Candidate[]): ProxyEndpoint[] {
  return all.map(({ address, port }) => ({ address, port }));
}

function loadBalancerAddresses(
  { status, spec }: Service,
  family: Family,
): string[] {
  if (spec?.type !== "LoadBalancer") return [];
  const ips = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
    ip !== undefined && ipMode !== "Proxy" ? [ip] : [],
  );
  return [...new Set(ofFamily(ips, family))];
}

function identity(parts: readonly (string | number)[]): string {
  // Of the bytes: a part of the text would keep the whole of it in memory.
  return createHash("sha256")
    .update(parts.join("\0"))
    .digest()
    .toString("hex", 0, 8);
}

function affinity(spec: ServiceSpec): number | undefined {
  if (spec.sessionAffinity !== "ClientIP") return undefined;
  return (
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ??
    defaultAffinitySeconds
  );
}

/** Services that another implementation serves, and those without addresses, have no ports here. */
export function proxyPorts(
  service: Service,
  slices: readonly EndpointSlice[],
  node: ProxyNode,
  family: Family,
): ProxyPort[] {
  const { metadata, spec } = service;
  const ips = spec?.clusterIPs?.length
    ? spec.clusterIPs
    : [spec?.clusterIP ?? ""];
  if (
    !spec ||
    spec.type === "ExternalName" ||
    ips.includes("None") ||
    otherwiseServed.some((label) => metadata.labels?.[label] !== undefined)
  )
    return [];
  const [clusterIp] = ofFamily(ips, family);
  if (clusterIp === undefined) return [];
  const seconds = affinity(spec);
  const loadBalancerIps = loadBalancerAddresses(service, family);
  const clients = sourceRanges(service, family, {
    node: ofFamily(node.addresses, family),
    balancer: loadBalancerIps,
  });
  const exposed = spec.type === "NodePort" || spec.type === "LoadBalancer";
  return (spec.ports ?? []).map((port) => {
    const all = candidates(slices, port, family, node);
    const protocol = (port.protocol ?? "TCP").toLowerCase() as Protocol;
    return {
      name: `${metadata.namespace}/${metadata.name}${port.name ? `:${port.name}` : ""}`,
      id: identity([
        family,
        metadata.namespace ?? "",
        metadata.name ?? "",
        port.name ?? "",
        protocol,
        port.port,
      ]),
      family,
      protocol,
      port: port.port,
      clusterIp,
      externalIps: [...new Set(ofFamily(spec.externalIPs, family))],
      loadBalancerIps,
      ...(exposed && port.nodePort ? { nodePort: port.nodePort } : {}),
      ...(seconds === undefined ? {} : { affinitySeconds: seconds }),
      ...(clients ? { sourceRanges: clients } : {}),
      internalLocal: spec.internalTrafficPolicy === "Local",
      externalLocal: spec.externalTrafficPolicy === "Local",
      cluster: plain(usable(near(all, node))),
      local: plain(usable(all.filter(({ local }) => local))),
    };
  });
}
