// The configuration file of `orbit proxy`, beside its flags.
import * as fs from "node:fs";
import * as path from "node:path";
import { readProxyOptions } from "../../../cli/parts/network/proxy-configuration.ts";
import { proxySettings } from "../../../cli/parts/network/proxy-settings.ts";
import type { OptionValues } from "../../../cli/options/parse.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();

function file(text: string): string {
  const name = path.join(directory(), "config.conf");
  fs.writeFileSync(name, text);
  return name;
}

const head =
  "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n";

const read = async (
  text: string,
  ...flags: string[]
): Promise<{ values: OptionValues; withoutEffect: readonly string[] }> =>
  readProxyOptions([`--config=${file(text)}`, ...flags]);

test("the file that kubeadm writes, where most fields are zero", async () => {
  const { values, withoutEffect } = await read(`${head}bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  contentType: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
  qps: 0
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack:
  maxPerCore: null
  min: null
  tcpBeLiberal: false
  tcpCloseWaitTimeout: null
  tcpEstablishedTimeout: null
  udpStreamTimeout: 0s
  udpTimeout: 0s
detectLocal:
  bridgeInterface: ""
  interfaceNamePrefix: ""
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables:
  localhostNodePorts: null
  masqueradeAll: false
  masqueradeBit: null
  minSyncPeriod: 0s
  syncPeriod: 0s
ipvs:
  excludeCIDRs: null
  minSyncPeriod: 0s
  scheduler: ""
  strictARP: false
  syncPeriod: 0s
  tcpFinTimeout: 0s
  tcpTimeout: 0s
  udpTimeout: 0s
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
metricsBindAddress: ""
mode: ""
nftables:
  masqueradeAll: false
  masqueradeBit: null
  minSyncPeriod: 0s
  syncPeriod: 0s
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel:
  enableDSR: false
  forwardHealthCheckVip: false
  networkName: ""
  rootHnsEndpointName: ""
  sourceVip: ""
`);
  expect(withoutEffect).toEqual([]);
  expect(values.text("kubeconfig")).toBe("/var/lib/kube-proxy/kubeconfig.conf");
  expect(values.isSet("kube-api-qps")).toBe(false);
  expect(values.number("conntrack-max-per-core")).toBe(32_768);
  expect(values.number("conntrack-tcp-timeout-established")).toBe(86_400_000);
  expect(values.number("iptables-masquerade-bit")).toBe(14);
  expect(proxySettings(values)).toMatchObject({
    health: { host: "0.0.0.0", port: 10_256 },
    metrics: { host: "127.0.0.1", port: 10_249 },
    nodePortRanges: [],
    local: { podRanges: ["10.244.0.0/16"] },
  });
});

test("every field has its effect, and flags win", async () => {
  const { values, withoutEffect } = await read(
    `${head}mode: iptables
hostnameOverride: From-File
bindAddress: "fd00::7"
healthzBindAddress: 10.0.0.1
metricsBindAddress: "[::1]:9999"
bindAddressHardFail: true
detectLocalMode: InterfaceNamePrefix
detectLocal: {interfaceNamePrefix: veth}
nodePortAddresses: [10.0.0.0/8, "fd00::/64"]
oomScoreAdj: 0
iptables: {masqueradeAll: true, masqueradeBit: 5, localhostNodePorts: false, syncPeriod: 30s}
nftables: {masqueradeAll: false, masqueradeBit: 7}
conntrack:
  maxPerCore: 0
  min: 1
  tcpEstablishedTimeout: 1h
  tcpCloseWaitTimeout: 2m0s
  udpTimeout: 3s
  udpStreamTimeout: 4s
  tcpBeLiberal: true
clientConnection: {qps: 7.5, burst: 8}
logging: {format: json, verbosity: 4, vmodule: [{filePattern: proxy, verbosity: 5}]}
featureGates: {NFTablesProxyMode: true}
`,
    "--hostname-override=flag",
    "--conntrack-min=9",
  );
  expect(withoutEffect).toEqual(["iptables.syncPeriod", "featureGates"]);
  expect(proxySettings(values)).toEqual({
    nodeName: "flag",
    health: { host: "10.0.0.1", port: 10_256 },
    metrics: { host: "::1", port: 9999 },
    nodePortRanges: ["10.0.0.0/8", "fd00::/64"],
    local: { podRanges: [], podInterface: "veth*" },
  });
  const numbers = [
    ["iptables-masquerade-bit", 5],
    ["oom-score-adj", 0],
    ["conntrack-max-per-core", 0],
    ["conntrack-min", 9],
    ["conntrack-tcp-timeout-established", 3_600_000],
    ["conntrack-tcp-timeout-close-wait", 120_000],
    ["conntrack-udp-timeout", 3000],
    ["conntrack-udp-timeout-stream", 4000],
    ["kube-api-qps", 7.5],
    ["kube-api-burst", 8],
    ["v", 4],
  ] as const;
  for (const [name, value] of numbers)
    expect([name, values.number(name)]).toEqual([name, value]);
  const flags = [
    ["masquerade-all", true],
    ["iptables-localhost-nodeports", false],
    ["bind-address-hard-fail", true],
    ["conntrack-tcp-be-liberal", true],
  ] as const;
  for (const [name, value] of flags)
    expect([name, values.flag(name)]).toEqual([name, value]);
  expect(values.text("proxy-mode")).toBe("iptables");
  expect(values.list("vmodule")).toEqual(["proxy=5"]);
  expect(values.text("logging-format")).toBe("json");
});

test("the section of the mode that is in use counts", async () => {
  const sections = "iptables: {masqueradeBit: 5}\nnftables: {masqueradeBit: 7}";
  const bit = async (...flags: string[]): Promise<number> =>
    (await read(`${head}${sections}\n`, ...flags)).values.number(
      "iptables-masquerade-bit",
    );
  expect(await bit("--proxy-mode=nftables")).toBe(7);
  expect(await bit("--proxy-mode=iptables")).toBe(5);
});

test("all problems, each with file, line and field", async () => {
  await expect(
    read(`${head}mode: ipvs
oomScoreAdj: 5000
nodePortAddresses: 10.0.0.0/8
conntrack:
  min: "1"
  unknown: 1
  tcpCloseWaitTimeout: soon
iptables: 7
bindAddressHardFail: "yes"
nonsense: true
`),
  ).rejects.toThrow(
    new RegExp(
      [
        /config.conf:3: mode: invalid value "ipvs": must be one of nftables, iptables/,
        /config.conf:4: oomScoreAdj: invalid value "5000": must be at most 1000/,
        /config.conf:5: nodePortAddresses: must be a list/,
        /config.conf:7: conntrack.min: must be a number/,
        /config.conf:9: conntrack.tcpCloseWaitTimeout: invalid value "soon": must be a duration/,
        /config.conf:10: iptables: must be a map/,
        /config.conf:11: bindAddressHardFail: must be true or false/,
      ]
        .map((each) => `(?=[^]*${each.source})`)
        .join(""),
    ),
  );
});

test.each<[string, RegExp]>([
  ["kind: Pod\napiVersion: v1\n", /:1: kind: must be KubeProxyConfiguration/],
  [
    "kind: KubeProxyConfiguration\napiVersion: v1\n",
    /:2: apiVersion: must be kubeproxy.config.k8s.io\/v1alpha1/,
  ],
  [`${head}nonsense: true\n`, /:3: nonsense: unknown field/],
  [`${head}conntrack: {unknown: 1}\n`, /:3: conntrack.unknown: unknown field/],
  [`${head}mode: nftables\nmode: nftables\n`, /:4: mode: key is given twice/],
  [`${head}mode: [\n`, /config.conf:\d+: /],
])("%j is refused", async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test("a file that is not there is refused", async () => {
  await expect(readProxyOptions(["--config=/no/such"])).rejects.toThrow(
    /--config: .*no such file/i,
  );
});

test.each<[string[], RegExp]>([
  [["--cluster-cidr=10.0.0.0"], /"10.0.0.0" for "--cluster-cidr"/],
  [["--bind-address=web"], /--bind-address/],
  [["--healthz-bind-address=web:80"], /--healthz-bind-address/],
  [["--metrics-bind-address=127.0.0.1:99999"], /--metrics-bind-address/],
  [
    ["--detect-local-mode=BridgeInterface"],
    /--pod-bridge-interface must be given/,
  ],
])("%j is refused", async (flags, message) => {
  const { values } = await readProxyOptions(flags);
  expect(() => proxySettings(values)).toThrow(message);
});
