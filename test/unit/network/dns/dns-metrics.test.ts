// The DNS server's metrics have CoreDNS's names and labels; what clients send decides no name of a series.
import { metricsText } from "../../../../api/metrics/family.ts";
import { dnsFamilies } from "../../../../network/dns/dns-metrics.ts";

const statistics = {
  requests: { "udp 1": 3, "udp 28": 1, "tcp 99": 1, "tcp other": 4 },
  responses: { 0: 4, 3: 2, 16: 1 },
  cacheHits: 5,
  cacheMisses: 2,
  forwarded: { "192.0.2.1:53": 7 },
  forwardFailures: { "192.0.2.1:53": 2 },
  forwardRefused: 1,
  services: 3,
};

function lines(address: string): string[] {
  return metricsText(dnsFamilies({ statistics, restarts: 1 }, address))
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

test("counts become CoreDNS's series", () => {
  const own = 'server="dns://:53"';
  expect(lines("192.0.2.9")).toEqual([
    `coredns_dns_requests_total{family="1",proto="udp",${own},type="A",view="",zone="."} 3`,
    `coredns_dns_requests_total{family="1",proto="udp",${own},type="AAAA",view="",zone="."} 1`,
    `coredns_dns_requests_total{family="1",proto="tcp",${own},type="other",view="",zone="."} 5`,
    `coredns_dns_responses_total{plugin="",rcode="NOERROR",${own},view="",zone="."} 4`,
    `coredns_dns_responses_total{plugin="",rcode="NXDOMAIN",${own},view="",zone="."} 2`,
    `coredns_dns_responses_total{plugin="",rcode="RCODE16",${own},view="",zone="."} 1`,
    `coredns_cache_requests_total{${own},view="",zones="."} 7`,
    `coredns_cache_hits_total{${own},type="success",view="",zones="."} 5`,
    `coredns_cache_misses_total{${own},view="",zones="."} 2`,
    'coredns_forward_requests_total{to="192.0.2.1:53"} 7',
    'orbit_dns_forward_failures_total{to="192.0.2.1:53"} 2',
    "coredns_forward_max_concurrent_rejects_total 1",
    "orbit_dns_restarts_total 1",
  ]);
  expect(lines("fd00::1")[0]).toContain('family="2"');
});

test("before the first query only the restarts are known", () => {
  const families = dnsFamilies(
    { statistics: undefined, restarts: 0 },
    "192.0.2.9",
  );
  expect(families.map(({ name }) => name)).toEqual([
    "orbit_dns_restarts_total",
  ]);
});
