// The rules as nft reads them: what a Service adds to the table, what a change of it changes, and what two Services share.
import { staleFlows } from "../../../../network/proxy/conntrack.ts";
import { portRules } from "../../../../network/proxy/rules.ts";
import { Ruleset } from "../../../../network/proxy/ruleset.ts";
import type { ProxyPort } from "../../../../network/proxy/service-ports.ts";

const podRanges = ["10.42.0.0/16"];

function ruleset(family: 4 | 6 = 4): Ruleset {
  return new Ruleset({
    family,
    name: "orbit-proxy",
    podRanges: family === 4 ? podRanges : ["fd42::/64"],
    serviceRanges: ["10.43.0.0/16"],
    nodePortRanges: [],
    masqueradeAll: false,
  });
}

function port(more: Partial<ProxyPort> = {}): ProxyPort {
  return {
    name: "shop/web",
    id: "aa",
    family: 4,
    protocol: "tcp",
    port: 80,
    clusterIp: "10.43.0.5",
    externalIps: [],
    loadBalancerIps: [],
    internalLocal: false,
    externalLocal: false,
    cluster: [{ address: "10.42.0.1", port: 8080 }],
    local: [],
    ...more,
  };
}

/** What setting the port writes, after a first whole. */
function change(rules: Ruleset, ...ports: ProxyPort[]): string[] {
  for (const each of ports) rules.set(each.id, portRules(each, { podRanges }));
  return rules.changeScript().split("\n").filter(Boolean);
}

test("a Service comes, changes and goes", () => {
  const rules = ruleset();
  rules.wholeScript();
  expect(rules.changeScript()).toBe("");
  expect(change(rules, port())).toEqual([
    "add chain ip orbit-proxy svc-aa",
    "add element ip orbit-proxy cluster-ips { 10.43.0.5 }",
    "add element ip orbit-proxy service-ips { 10.43.0.5 . tcp . 80 : goto svc-aa }",
    "add element ip orbit-proxy hairpin { 10.42.0.1 . 10.42.0.1 }",
    "add rule ip orbit-proxy svc-aa meta l4proto tcp dnat to 10.42.0.1:8080",
  ]);
  const cluster = [
    { address: "10.42.0.1", port: 8080 },
    { address: "10.42.0.2", port: 8080 },
  ];
  expect(change(rules, port({ cluster }))).toEqual([
    "flush chain ip orbit-proxy svc-aa",
    "add element ip orbit-proxy hairpin { 10.42.0.2 . 10.42.0.2 }",
    "add rule ip orbit-proxy svc-aa meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.42.0.1 . 8080, 1 : 10.42.0.2 . 8080 }",
  ]);
  expect(change(rules, port({ cluster }))).toEqual([]);
  expect(change(rules, port({ cluster: [] }))).toEqual([
    "delete element ip orbit-proxy service-ips { 10.43.0.5 . tcp . 80 : goto svc-aa }",
    "delete element ip orbit-proxy hairpin { 10.42.0.1 . 10.42.0.1, 10.42.0.2 . 10.42.0.2 }",
    "add element ip orbit-proxy no-endpoints { 10.43.0.5 . tcp . 80 : goto refuse }",
    "flush chain ip orbit-proxy svc-aa",
    "delete chain ip orbit-proxy svc-aa",
  ]);
  rules.set("aa", undefined);
  expect(rules.changeScript().split("\n").filter(Boolean)).toEqual([
    "delete element ip orbit-proxy cluster-ips { 10.43.0.5 }",
    "delete element ip orbit-proxy no-endpoints { 10.43.0.5 . tcp . 80 : goto refuse }",
  ]);
  expect(rules.ownerCount).toBe(0);
});

test("affinity: a set of clients for each endpoint", () => {
  const rules = ruleset();
  rules.wholeScript();
  const script = change(
    rules,
    port({
      affinitySeconds: 60,
      cluster: [
        { address: "10.42.0.1", port: 1 },
        { address: "10.42.0.2", port: 1 },
      ],
    }),
  );
  expect(script.filter((line) => line.startsWith("add set"))).toEqual([
    "add set ip orbit-proxy aff-aa-10-42-0-1-1 { type ipv4_addr; size 65535; flags dynamic,timeout; timeout 60s; }",
    "add set ip orbit-proxy aff-aa-10-42-0-2-1 { type ipv4_addr; size 65535; flags dynamic,timeout; timeout 60s; }",
  ]);
  expect(
    script.filter((line) => line.startsWith("add rule ip orbit-proxy svc")),
  ).toEqual([
    "add rule ip orbit-proxy svc-aa ip saddr @aff-aa-10-42-0-1-1 goto ep-aa-10-42-0-1-1",
    "add rule ip orbit-proxy svc-aa ip saddr @aff-aa-10-42-0-2-1 goto ep-aa-10-42-0-2-1",
    "add rule ip orbit-proxy svc-aa numgen random mod 2 vmap { 0 : goto ep-aa-10-42-0-1-1, 1 : goto ep-aa-10-42-0-2-1 }",
  ]);
});

test("two Services claim one external address: the first has it until it goes", () => {
  const rules = ruleset();
  rules.wholeScript();
  const externalIps = ["198.51.100.1"];
  change(rules, port({ externalIps }));
  const second = port({ id: "bb", clusterIp: "10.43.0.6", externalIps });
  expect(change(rules, second).join("\n")).not.toContain("198.51.100.1");
  rules.set("aa", undefined);
  const script = rules.changeScript();
  expect(script).toContain(
    "delete element ip orbit-proxy service-ips { 10.43.0.5 . tcp . 80 : goto svc-aa, 198.51.100.1 . tcp . 80 : goto ext-aa }",
  );
  expect(script).toContain(
    "add element ip orbit-proxy service-ips { 198.51.100.1 . tcp . 80 : goto ext-bb }",
  );
  expect(script).not.toContain("hairpin");
});

test("policies of Local", () => {
  const rules = ruleset();
  rules.wholeScript();
  const local = [{ address: "10.42.0.9", port: 1 }];
  const script = change(
    rules,
    port({ nodePort: 30_000, externalLocal: true, internalLocal: true, local }),
  );
  expect(script).toContain(
    "add element ip orbit-proxy service-ips { 10.43.0.5 . tcp . 80 : goto loc-aa }",
  );
  expect(script).toContain(
    "add element ip orbit-proxy service-nodeports { tcp . 30000 : goto ext-aa }",
  );
  expect(
    script.filter((line) => line.startsWith("add rule ip orbit-proxy ext-aa")),
  ).toEqual([
    "add rule ip orbit-proxy ext-aa ip saddr { 10.42.0.0/16 } goto svc-aa",
    "add rule ip orbit-proxy ext-aa fib saddr type local meta mark set meta mark or 0x4000",
    "add rule ip orbit-proxy ext-aa fib saddr type local goto svc-aa",
    "add rule ip orbit-proxy ext-aa goto loc-aa",
  ]);
  // Endpoints elsewhere only: dropped inside, as the policy says, and outside.
  const away = change(
    rules,
    port({ nodePort: 30_000, externalLocal: true, internalLocal: true }),
  );
  expect(away).toContain(
    "add element ip orbit-proxy no-endpoints { 10.43.0.5 . tcp . 80 : drop }",
  );
  expect(away).toContain("add rule ip orbit-proxy ext-aa drop");
});

test("the whole table is replaced in one transaction, also of IPv6", () => {
  const rules = ruleset(6);
  rules.set(
    "aa",
    portRules(
      port({
        family: 6,
        clusterIp: "fd43::5",
        cluster: [{ address: "fd42::1", port: 8080 }],
      }),
      { podRanges: ["fd42::/64"] },
    ),
  );
  const script = rules.wholeScript();
  expect(script).toMatch(
    /^table ip6 orbit-proxy\ndelete table ip6 orbit-proxy\ntable ip6 orbit-proxy \{\n/,
  );
  expect(script).toContain("dnat to [fd42::1]:8080");
  expect(script).not.toMatch(/\bip (?:s|d)addr/);
  expect(rules.changeScript()).toBe("");
});

describe("UDP flows that must go", () => {
  const udp = (more: Partial<ProxyPort> = {}): ProxyPort =>
    port({ protocol: "udp", ...more });
  const b = { address: "10.42.0.2", port: 8080 };
  test.each<[string, ProxyPort | undefined, ProxyPort | undefined, object[]]>([
    ["nothing changed", udp(), udp(), []],
    ["TCP ends by itself", port(), undefined, []],
    [
      "an endpoint went",
      udp(),
      udp({ cluster: [b] }),
      [{ address: "10.43.0.5", port: 80, endpoint: "10.42.0.1" }],
    ],
    [
      "the Service went",
      udp({ nodePort: 30_000 }),
      undefined,
      [
        { address: "10.43.0.5", port: 80, endpoint: "10.42.0.1" },
        { port: 30_000, endpoint: "10.42.0.1" },
      ],
    ],
    [
      "the first endpoint came",
      udp({ cluster: [] }),
      udp(),
      [{ address: "10.43.0.5", port: 80 }],
    ],
  ])("%s", (_, before, after, flows) => {
    expect(staleFlows(before, after)).toEqual(flows);
  });
});
