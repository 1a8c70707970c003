// What the DNS server shows under /metrics, with the names and labels of CoreDNS, whose users read them: one server for
// all names (zone "."), on one address. A thread that was started again counts from zero, as a process does.
import { isIPv6 } from "node:net";
import { Family, type Labels } from "../../api/metrics/family.ts";
import type { DnsStatistics } from "./dns-messages.ts";

/** Types that have a label of their own. */
const typeNames: Readonly<Record<string, string>> = {
  1: "A",
  2: "NS",
  5: "CNAME",
  6: "SOA",
  12: "PTR",
  15: "MX",
  16: "TXT",
  28: "AAAA",
  33: "SRV",
  35: "NAPTR",
  43: "DS",
  46: "RRSIG",
  47: "NSEC",
  48: "DNSKEY",
  64: "SVCB",
  65: "HTTPS",
  255: "ANY",
};

const codeNames: Readonly<Record<string, string>> = {
  0: "NOERROR",
  1: "FORMERR",
  2: "SERVFAIL",
  3: "NXDOMAIN",
  4: "NOTIMP",
  5: "REFUSED",
};

/** Added up by their new keys. */
function summed(
  counts: Readonly<Record<string, number>>,
  keyOf: (key: string) => string,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [key, count] of Object.entries(counts))
    sums.set(keyOf(key), (sums.get(keyOf(key)) ?? 0) + count);
  return sums;
}

interface DnsServerState {
  /** Undefined: nothing was asked yet. */
  readonly statistics: DnsStatistics | undefined;
  readonly restarts: number;
}

/** @param address that the server listens on; its family is that of all clients */
export function dnsFamilies(
  { statistics, restarts }: DnsServerState,
  address: string,
): Family[] {
  const server = { server: "dns://:53" };
  const own = { ...server, zone: ".", view: "" };
  const cache = { ...server, zones: ".", view: "" };
  const counter = (name: string, help: string): Family =>
    new Family(name, "counter", help);
  const counted = (
    name: string,
    help: string,
    counts: Iterable<readonly [string, number]>,
    labels: (key: string) => Labels,
  ): Family => {
    const family = counter(name, help);
    for (const [key, count] of counts) family.add(labels(key), count);
    return family;
  };
  const restarted = counter(
    "orbit_dns_restarts_total",
    "How often the DNS server's thread ended and was started again.",
  ).add({}, restarts);
  if (!statistics) return [restarted];
  const requests = summed(statistics.requests, (key) => {
    const [proto = "", type = ""] = key.split(" ");
    return `${proto} ${typeNames[type] ?? "other"}`;
  });
  return [
    counted(
      "coredns_dns_requests_total",
      "Queries, by protocol and type.",
      requests,
      (key) => {
        const [proto = "", type = ""] = key.split(" ");
        return { ...own, proto, type, family: isIPv6(address) ? "2" : "1" };
      },
    ),
    counted(
      "coredns_dns_responses_total",
      "Answers, by response code.",
      summed(statistics.responses, (code) => codeNames[code] ?? `RCODE${code}`),
      (rcode) => ({ ...own, rcode, plugin: "" }),
    ),
    counter("coredns_cache_requests_total", "Looks into the cache.").add(
      cache,
      statistics.cacheHits + statistics.cacheMisses,
    ),
    counter("coredns_cache_hits_total", "Answers from the cache.").add(
      { ...cache, type: "success" },
      statistics.cacheHits,
    ),
    counter("coredns_cache_misses_total", "Answers not in the cache.").add(
      cache,
      statistics.cacheMisses,
    ),
    counted(
      "coredns_forward_requests_total",
      "Queries to each upstream server.",
      Object.entries(statistics.forwarded),
      (to) => ({ to }),
    ),
    counted(
      "orbit_dns_forward_failures_total",
      "Queries that an upstream server did not answer.",
      Object.entries(statistics.forwardFailures),
      (to) => ({ to }),
    ),
    counter(
      "coredns_forward_max_concurrent_rejects_total",
      "Queries refused because too many others were under way.",
    ).add({}, statistics.forwardRefused),
    restarted,
  ];
}
