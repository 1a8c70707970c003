// A pod's resolv.conf: by its dnsPolicy, then its dnsConfig added, cut to what resolvers can take. Pure, but for reading the
// host's file. Policies, limits and the texts of what was cut are the reference's. A host's file that can't be read keeps no
// pod from starting, as it would there: the pod goes without it, and an event says so.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podDescription } from "../shape/labels.ts";
import {
  lastOfEach,
  maxDomainCharacters,
  maxSearchCharacters,
  maxSearches,
  readResolvConf,
  type Dns,
} from "./resolv-conf.ts";

/** What could not be done as asked, for an event of the pod. */
export interface DnsWarning {
  readonly reason: string;
  readonly message: string;
}

type DnsConfig = Pick<
  AgentConfig,
  "clusterDns" | "clusterDomain" | "resolvConf"
>;

const maxServers = 3;

/** @param nodeIPs of the node, for a node without a resolv.conf: then its own name server is asked */
export async function podDns(
  pod: Pod,
  config: DnsConfig,
  nodeIPs: readonly string[],
): Promise<{ dns: Dns; warnings: readonly DnsWarning[] }> {
  if (config.resolvConf === "")
    return composeDns(pod, config, undefined, nodeIPs);
  const { dns: host, problem } = await readResolvConf(config.resolvConf);
  const { dns, warnings } = composeDns(pod, config, host, nodeIPs);
  return problem === undefined || pod.spec.dnsPolicy === "None"
    ? { dns, warnings }
    : {
        dns,
        warnings: [
          ...warnings,
          {
            reason: "DNSConfigForming",
            message: `The pod has nothing of the node's resolv.conf: ${problem}`,
          },
        ],
      };
}

export function composeDns(
  pod: Pod,
  config: Pick<DnsConfig, "clusterDns" | "clusterDomain">,
  host: Dns | undefined,
  nodeIPs: readonly string[],
): { dns: Dns; warnings: readonly DnsWarning[] } {
  const warnings: DnsWarning[] = [];
  const base = policyDns(pod, config, host, nodeIPs, warnings);
  const extra = pod.spec.dnsConfig;
  const dns = extra
    ? {
        servers: unique([...base.servers, ...(extra.nameservers ?? [])]),
        searches: unique([...base.searches, ...(extra.searches ?? [])]),
        options: lastOfEach([
          ...base.options,
          ...(extra.options ?? []).map(({ name = "", value }) =>
            value ? `${name}:${value}` : name,
          ),
        ]),
      }
    : base;
  return {
    dns: {
      servers: fittingServers(dns.servers, warnings),
      searches: fittingSearches(dns.searches, warnings),
      options: dns.options,
    },
    warnings,
  };
}

function policyDns(
  pod: Pod,
  {
    clusterDns,
    clusterDomain,
  }: Pick<DnsConfig, "clusterDns" | "clusterDomain">,
  host: Dns | undefined,
  nodeIPs: readonly string[],
  warnings: DnsWarning[],
): Dns {
  const policy = pod.spec.dnsPolicy ?? "ClusterFirst";
  if (policy === "None") return { servers: [], searches: [], options: [] };
  const ofCluster =
    policy === "ClusterFirstWithHostNet" ||
    (policy === "ClusterFirst" && pod.spec.hostNetwork !== true);
  if (ofCluster && clusterDns.length > 0) {
    const namespace = pod.metadata.namespace ?? "default";
    const own = clusterDomain
      ? [
          `${namespace}.svc.${clusterDomain}`,
          `svc.${clusterDomain}`,
          clusterDomain,
        ]
      : [];
    return {
      servers: clusterDns,
      searches: unique([...own, ...(host?.searches ?? [])]),
      options: ["ndots:5"],
    };
  }
  if (ofCluster)
    warnings.push({
      reason: "MissingClusterDNS",
      message: `pod: "${podDescription(pod)}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`,
    });
  return host ?? ownServers(nodeIPs);
}

function ownServers(nodeIPs: readonly string[]): Dns {
  const servers = nodeIPs.map((ip) => (ip.includes(":") ? "::1" : "127.0.0.1"));
  return {
    servers: servers.length > 0 ? servers : ["127.0.0.1"],
    searches: ["."],
    options: [],
  };
}

function fittingServers(
  servers: readonly string[],
  warnings: DnsWarning[],
): readonly string[] {
  if (servers.length <= maxServers) return servers;
  const kept = servers.slice(0, maxServers);
  warnings.push({
    reason: "DNSConfigForming",
    message: `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(" ")}`,
  });
  return kept;
}

function fittingSearches(
  searches: readonly string[],
  warnings: DnsWarning[],
): readonly string[] {
  const kept = searches
    .slice(0, maxSearches)
    // Some resolvers abort at a longer one.
    .filter((domain) => domain.length <= maxDomainCharacters);
  while (kept.join(" ").length > maxSearchCharacters) kept.pop();
  if (kept.length < searches.length)
    warnings.push({
      reason: "DNSConfigForming",
      message: `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(" ")}`,
    });
  return kept;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
