// A pod's resolv.conf: by its dnsPolicy, then its dnsConfig added, cut to what resolvers can take. Pure, but for reading the
// host's file. Policies, limits and the texts of what was cut are the reference's.
import { readFile } from "node:fs/promises";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podDescription } from "../shape/labels.ts";

interface Dns {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

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
const maxSearches = 32;
const maxSearchCharacters = 2048;
const maxDomainCharacters = 253;

/** @param nodeIPs of the node, for a node without a resolv.conf: then its own name server is asked */
export async function podDns(
  pod: Pod,
  config: DnsConfig,
  nodeIPs: readonly string[],
): Promise<{ dns: Dns; warnings: readonly DnsWarning[] }> {
  const host =
    config.resolvConf === ""
      ? undefined
      : parseResolvConf(
          await readFile(config.resolvConf, "utf8").catch(() => ""),
        );
  return composeDns(pod, config, host, nodeIPs);
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

/** Of several lines of search domains the last one counts, of each option the last value. */
export function parseResolvConf(text: string): Dns {
  const servers: string[] = [];
  let searches: string[] = [];
  const options: string[] = [];
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "nameserver" && values[0]) servers.push(values[0]);
    else if (keyword === "search")
      searches = values
        .filter((value) => value !== ".")
        .map((value) => value.replace(/\.$/, ""));
    else if (keyword === "options") options.push(...values);
  }
  return { servers, searches, options: lastOfEach(options) };
}

/** Options are named by what is before the colon. */
function lastOfEach(options: readonly string[]): string[] {
  const byName = new Map(
    options.map((option) => [option.split(":")[0]!, option]),
  );
  return [...byName.values()];
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
