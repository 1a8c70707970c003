// resolv.conf of pods: policies, what dnsConfig adds, and what is cut with which text.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { composeDns, podDns } from "../../../agent/pods/start/pod-dns.ts";
import {
  checkResolvConf,
  parseResolvConf,
} from "../../../agent/pods/start/resolv-conf.ts";
import type { PodSpec } from "../../../api/types/core-v1.ts";
import { testPod } from "./runtime-objects.ts";

const host = parseResolvConf(
  "domain old\nsearch lost.example\nnameserver 192.0.2.53 # main\nsearch a.example. b.example .\noptions ndots:2 rotate\noptions ndots:3\n; nameserver 192.0.2.1\n",
);
const config = { clusterDns: ["10.0.0.10"], clusterDomain: "cluster.local" };
const compose = (
  spec: Partial<PodSpec>,
  settings = config,
): ReturnType<typeof composeDns> =>
  composeDns(testPod(spec), settings, host, ["192.0.2.2", "fd00::2"]);

test("the host's file: the last search counts, of each option the last value", () => {
  expect(host).toEqual({
    servers: ["192.0.2.53"],
    searches: ["a.example", "b.example"],
    options: ["ndots:3", "rotate"],
  });
});

test.each<[string, Partial<PodSpec>, string[], string]>([
  ["ClusterFirst", {}, ["10.0.0.10"], "ns.svc.cluster.local"],
  ["on the host's network", { hostNetwork: true }, ["192.0.2.53"], "a.example"],
  [
    "ClusterFirstWithHostNet there",
    { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" },
    ["10.0.0.10"],
    "ns.svc.cluster.local",
  ],
  ["Default", { dnsPolicy: "Default" }, ["192.0.2.53"], "a.example"],
])("%s", (_what, spec, servers, firstSearch) => {
  const { dns, warnings } = compose(spec);
  expect(dns.servers).toEqual(servers);
  expect(dns.searches[0]).toBe(firstSearch);
  expect(warnings).toEqual([]);
});

test("without an address of the cluster's DNS the host's is used, with a warning", () => {
  const { dns, warnings } = compose({}, { clusterDns: [], clusterDomain: "" });
  expect(dns.servers).toEqual(["192.0.2.53"]);
  expect(warnings).toEqual([
    {
      reason: "MissingClusterDNS",
      message:
        'pod: "p_ns(u)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
    },
  ]);
});

test("dnsConfig adds servers and domains once, and replaces options", () => {
  const { dns } = compose({
    dnsConfig: {
      nameservers: ["192.0.2.9", "10.0.0.10"],
      searches: ["own.example", "svc.cluster.local"],
      options: [{ name: "ndots", value: "1" }, { name: "edns0" }],
    },
  });
  expect(dns.servers).toEqual(["10.0.0.10", "192.0.2.9"]);
  expect(dns.searches).toEqual([
    "ns.svc.cluster.local",
    "svc.cluster.local",
    "cluster.local",
    "a.example",
    "b.example",
    "own.example",
  ]);
  expect(dns.options).toEqual(["ndots:1", "edns0"]);
  const alone = compose({
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["192.0.2.7"] },
  });
  expect(alone.dns).toEqual({
    servers: ["192.0.2.7"],
    searches: [],
    options: [],
  });
});

test("what resolvers can't take is cut, and events say so", () => {
  const servers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
  const { dns, warnings } = compose({
    dnsPolicy: "None",
    dnsConfig: { nameservers: servers, searches: ["x".repeat(254), "ok"] },
  });
  expect(dns.servers).toEqual(servers.slice(0, 3));
  expect(dns.searches).toEqual(["ok"]);
  expect(warnings).toEqual([
    {
      reason: "DNSConfigForming",
      message:
        "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 192.0.2.1 192.0.2.2 192.0.2.3",
    },
    {
      reason: "DNSConfigForming",
      message:
        "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ok",
    },
  ]);
  const many = Array.from({ length: 40 }, (_, index) => `d${index}.example`);
  expect(
    compose({ dnsPolicy: "None", dnsConfig: { searches: many } }).dns.searches,
  ).toEqual(many.slice(0, 32));
  const long = Array.from({ length: 12 }, (_, index) =>
    `${index}`.padEnd(200, "y"),
  );
  const cut = compose({ dnsPolicy: "None", dnsConfig: { searches: long } });
  expect(cut.dns.searches).toEqual(long.slice(0, 10));
});

test("a node without a resolv.conf asks itself", () => {
  const { dns } = composeDns(
    testPod({ dnsPolicy: "Default" }),
    config,
    undefined,
    ["192.0.2.2", "fd00::2"],
  );
  expect(dns).toEqual({
    servers: ["127.0.0.1", "::1"],
    searches: ["."],
    options: [],
  });
});

describe("the host's file", () => {
  const temporary = useTempDirectories("orbit-resolv-conf-");

  const checked = async (
    resolvConf: string,
    clusterDomain = "cluster.local",
  ): Promise<string[]> => {
    const said: string[] = [];
    await checkResolvConf({
      settings: { resolvConf, clusterDomain },
      events: { node: (...event) => said.push(event.join(" ")) },
    });
    return said;
  };
  const domains = (count: number, characters: number): string =>
    Array.from({ length: count }, (_, index) =>
      `d${index}.`.padEnd(characters, "x"),
    ).join(" ");

  test.each([
    [domains(29, 8), []],
    [
      domains(30, 8),
      ["'FILE' contains search line consisting of more than 29 domains!"],
    ],
    [
      domains(1, 254),
      [
        '"FILE" contains a search path which length is more than allowed 253 chars!',
      ],
    ],
    [
      domains(20, 120),
      [
        "'FILE' contains search line which length is more than allowed 2048 chars!",
      ],
    ],
  ])("is checked once at the start (%#)", async (searches, texts) => {
    const file = join(temporary(), "resolv.conf");
    await writeFile(file, `search ${searches}\n`);
    expect(await checked(file)).toEqual(
      texts.map(
        (text) =>
          `Warning CheckLimitsForResolvConf Resolv.conf file ${text.replace("FILE", file)}`,
      ),
    );
  });

  test("has room for three domains more in a cluster without one", async () => {
    const file = join(temporary(), "resolv.conf");
    await writeFile(file, `search ${domains(30, 8)}\n`);
    expect(await checked(file, "")).toEqual([]);
  });

  test("that can't be read is named by events, and keeps no pod", async () => {
    const missing = join(temporary(), "missing");
    const why = `ENOENT: no such file or directory, open '${missing}'`;
    expect(await checked(missing)).toEqual([
      `Warning CheckLimitsForResolvConf ${why}`,
    ]);
    expect(await checked("")).toEqual([]);
    const settings = { ...config, resolvConf: missing };
    const made = await podDns(testPod({}), settings, []);
    expect(made.dns.servers).toEqual(["10.0.0.10"]);
    expect(made.warnings).toEqual([
      {
        reason: "DNSConfigForming",
        message: `The pod has nothing of the node's resolv.conf: ${why}`,
      },
    ]);
    const alone = await podDns(testPod({ dnsPolicy: "None" }), settings, []);
    expect(alone.warnings).toEqual([]);
  });
});
