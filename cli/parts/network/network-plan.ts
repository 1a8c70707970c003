// What the service network of `orbit server` is to be, out of its options. Without the code of its parts, which is read only
// where they run.
import { BlockList, isIP } from "node:net";
import { addressKind } from "../../../api/address-kind.ts";
import type { DnsPortPlaces } from "../../../network/dns/dns-ports.ts";
import type { RouteMode } from "../../../network/nodes/route-plan.ts";
import type { ProxyMode } from "../../../network/proxy/backends.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { machineAddresses } from "../addresses.ts";
import { dnsPlaces } from "./dns-places.ts";
import { ingressPlan, type IngressPlan } from "./ingress-plan.ts";

export interface NetworkPlan {
  readonly nodeName: string;
  /** Of the whole cluster; empty: not known. */
  readonly podRanges: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly proxy: boolean;
  /** Undefined: what the machine has. */
  readonly proxyMode: ProxyMode | undefined;
  /** Whether network policies hold. */
  readonly policy: boolean;
  /** How other nodes are reached; undefined: by others' routes. */
  readonly routes: RouteMode | undefined;
  /** Of routes through WireGuard. */
  readonly wireguard: {
    readonly port: number;
    /** 0: none. */
    readonly keepaliveSeconds: number;
  };
  /** Whether the node takes part in announcing addresses of load balancers. */
  readonly announces: boolean;
  /** Of the node's addresses that take node ports; none of a family: all of it. None lies in another. */
  readonly nodePortRanges: readonly string[];
  readonly masqueradeAll: boolean;
  /** Undefined: no DNS server. */
  readonly dns?: {
    /** The kube-dns Service's address, which pods are given; undefined: not known. */
    readonly serviceAddress: string | undefined;
    /** Whether this node writes that Service, with itself as an endpoint. */
    readonly publish: boolean;
    readonly domain: string;
    /** A resolv.conf, for names that are not the cluster's. */
    readonly resolvConf: string | undefined;
    /** Of its health, readiness and metrics. */
    readonly places: DnsPortPlaces;
  };
  /** Undefined: no ingress. */
  readonly ingress?: IngressPlan;
}

/** The table is named by the node's pod range, as the masquerading one is: two clusters on one machine differ in it. */
export function proxyTable(podCidr: string): string {
  return `orbit-proxy-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

/** As the proxy's. */
export function policyTable(podCidr: string): string {
  return `orbit-policy-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

/** Of --proxy-mode; undefined: what the machine has. */
export function proxyMode(values: OptionValues): ProxyMode | undefined {
  return values.optionalText("proxy-mode") as ProxyMode | undefined;
}

/** The first address of each family: given ones, or else the machine's. */
function primaryAddresses(nodeIPs: readonly string[]): string[] {
  const given = nodeIPs.filter((each) => addressKind(each) === "outside");
  const all = given.length > 0 ? given : machineAddresses();
  return [4, 6].flatMap((family) => {
    const address = all.find((each) => isIP(each) === family);
    return address === undefined
      ? []
      : [`${address}/${family === 4 ? 32 : 128}`];
  });
}

/** The kernel's sets of ranges refuse a range that lies in another one. */
function withoutNested(ranges: readonly string[]): string[] {
  const contains = (outer: string, inner: string): boolean => {
    const [base = "", bits] = outer.split("/");
    const [other = "", otherBits] = inner.split("/");
    if (isIP(base) !== isIP(other) || Number(bits) > Number(otherBits))
      return false;
    const family = isIP(base) === 4 ? "ipv4" : "ipv6";
    const list = new BlockList();
    list.addSubnet(base, Number(bits), family);
    return list.check(other, family);
  };
  return ranges.filter(
    (range, at) =>
      !ranges.some(
        (other, n) =>
          n !== at &&
          contains(other, range) &&
          // Of two that are the same the first stays.
          (!contains(range, other) || n < at),
      ),
  );
}

/** Ranges of --nodeport-addresses; a family with a range of everything has none. */
export function nodePortAddresses(
  values: OptionValues,
  nodeIPs: readonly string[],
): string[] {
  const given = values.list("nodeport-addresses");
  const refuse = (text: string, reason: string): never => {
    throw new UsageError(
      `invalid argument "${text}" for "--nodeport-addresses": ${reason}`,
    );
  };
  if (given.includes("primary"))
    return given.length === 1
      ? primaryAddresses(nodeIPs)
      : refuse("primary", "can't use both 'primary' and CIDRs");
  for (const text of given) {
    const [base = "", bits = "", ...rest] = text.split("/");
    const width = isIP(base) === 4 ? 32 : 128;
    if (
      rest.length > 0 ||
      addressKind(base) === undefined ||
      !/^\d{1,3}$/.test(bits) ||
      Number(bits) > width
    )
      return refuse(text, "must be a valid CIDR");
  }
  return withoutNested(given).filter((range) => !/\/0+$/.test(range));
}

function routesPlan(
  values: OptionValues,
  wanted: boolean,
): Pick<NetworkPlan, "routes" | "wireguard"> {
  return {
    routes: wanted ? (values.text("node-routes") as RouteMode) : undefined,
    wireguard: {
      port: values.number("wireguard-port"),
      keepaliveSeconds: values.number("wireguard-keepalive"),
    },
  };
}

/** The parts of --node-network; undefined: none, or no API server to follow. */
export function agentNetworkPlan(
  values: OptionValues,
  agent: { nodeName: string; nodeIPs: readonly string[]; joined: boolean },
): NetworkPlan | undefined {
  const nodePortRanges = nodePortAddresses(values, agent.nodeIPs);
  const parts = values.list("node-network");
  const wanted = (part: string): boolean =>
    values.isSet("node-network") ? parts.includes(part) : agent.joined;
  const dns = wanted("dns") && machineAddresses().length > 0;
  const policy = wanted("network-policy");
  const routes = routesPlan(values, wanted("routes"));
  // Never but by name: it reads the Secrets of all namespaces.
  const ingress = ingressPlan(values, parts.includes("ingress"));
  if (!(wanted("proxy") || dns || policy || routes.routes || ingress))
    return undefined;
  return {
    nodeName: agent.nodeName,
    podRanges: values.list("cluster-cidr"),
    serviceRanges: values.list("service-cluster-ip-range"),
    proxy: wanted("proxy"),
    proxyMode: proxyMode(values),
    policy,
    ...routes,
    announces: wanted("proxy") && wanted("load-balancer"),
    nodePortRanges,
    masqueradeAll: values.flag("masquerade-all"),
    ...(dns
      ? {
          dns: {
            serviceAddress: values.list("cluster-dns")[0],
            publish: false,
            domain: values.optionalText("cluster-domain") ?? "cluster.local",
            resolvConf: values.optionalText("resolv-conf"),
            places: dnsPlaces(values),
          },
        }
      : {}),
    ...(ingress ? { ingress } : {}),
  };
}

/**
 * Undefined: the machine is no node, or no part is wanted. DNS is left out as well where the machine has no address
 * that pods could reach it at.
 */
export function networkPlan(
  values: OptionValues,
  agent: {
    values: OptionValues;
    nodeName: string;
    /** Given ones, in order; none: the machine's. */
    nodeIPs: readonly string[];
  },
  serviceAddress: string,
): NetworkPlan | undefined {
  const disabled = new Set(values.list("disable"));
  // Refused whether it is used or not.
  const nodePortRanges = nodePortAddresses(values, agent.nodeIPs);
  const proxy = !disabled.has("proxy");
  const dns = !disabled.has("dns") && machineAddresses().length > 0;
  const policy = !disabled.has("network-policy");
  const routes = routesPlan(values, !disabled.has("routes"));
  const ingress = ingressPlan(values, !disabled.has("ingress"));
  if (
    disabled.has("agent") ||
    !(proxy || dns || policy || routes.routes || ingress)
  )
    return undefined;
  return {
    nodeName: agent.nodeName,
    podRanges: values.list("cluster-cidr"),
    serviceRanges: values.list("service-cluster-ip-range"),
    proxy,
    proxyMode: proxyMode(values),
    policy,
    ...routes,
    announces: proxy && !disabled.has("load-balancer"),
    nodePortRanges,
    masqueradeAll: values.flag("masquerade-all"),
    ...(dns
      ? {
          dns: {
            serviceAddress,
            publish: true,
            domain: agent.values.text("cluster-domain"),
            resolvConf: agent.values.optionalText("resolv-conf"),
            places: dnsPlaces(values),
          },
        }
      : {}),
    ...(ingress ? { ingress } : {}),
  };
}
