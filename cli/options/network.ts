// Options of the network that several programs have: ranges of pod addresses for nodes, and the parts of a node's network.
import { group, option } from "./build-table.ts";
import type { OptionSpec, OptionTable } from "./table.ts";
import { areRanges, isAddress } from "./values/checks.ts";

/** Of the controller that gives nodes their ranges. */
export const nodeIpamOptions: readonly OptionSpec[] = [
  option(
    "cluster-cidr",
    "strings",
    "",
    "Ranges of pods; needs --allocate-node-cidrs.",
    { check: areRanges },
  ),
  option(
    "service-cluster-ip-range",
    "strings",
    "",
    "Ranges of services; needs --allocate-node-cidrs.",
    { check: areRanges },
  ),
  option(
    "allocate-node-cidrs",
    "bool",
    "false",
    "Give every node a range of pod addresses.",
  ),
  option(
    "node-cidr-mask-size",
    "int",
    "",
    "Prefix of a node's range (24 IPv4, 64 IPv6).",
    { min: 1, max: 128 },
  ),
  option(
    "node-cidr-mask-size-ipv4",
    "int",
    "24",
    "The same for IPv4 in a dual-stack cluster.",
    { min: 1, max: 32 },
  ),
  option("node-cidr-mask-size-ipv6", "int", "64", "The same for IPv6.", {
    min: 1,
    max: 128,
  }),
  option(
    "cidr-allocator-type",
    "string",
    "RangeAllocator",
    "How ranges are given.",
    {
      values: [
        "RangeAllocator",
        "CloudAllocator",
        "IPAMFromCloud",
        "IPAMFromCluster",
      ],
    },
  ),
];

/** How the pods of other nodes are reached. */
export const nodeRoutesOptions: readonly OptionSpec[] = [
  option(
    "node-routes",
    "string",
    "auto",
    "How pods of other nodes are reached: by routes to nodes on a link of this one (host), through a VXLAN (vxlan), by a route where that can be and the VXLAN elsewhere (auto), or encrypted through WireGuard alone (wireguard: on every node; the kernel's, or wireguard-go).",
    { values: ["auto", "host", "vxlan", "wireguard"] },
  ),
  option(
    "wireguard-port",
    "int",
    "51820",
    "UDP port of WireGuard, the same on every node.",
    { min: 1, max: 65535 },
  ),
  option(
    "wireguard-keepalive",
    "int",
    "0",
    "Seconds between packets that keep WireGuard's way through an address translation open; 0: none.",
    { min: 0, max: 65535 },
  ),
];

/** How Services get into the kernel. */
export const proxyModeOption = option(
  "proxy-mode",
  "string",
  "",
  "How connections are led to their endpoints; not given: by nftables, or by iptables where there is no nft.",
  { values: ["nftables", "iptables"] },
);

/** Ports of the DNS server beside its answers. */
export const dnsPortOptions: readonly OptionSpec[] = [
  option(
    "dns-health-bind-address",
    "string",
    "",
    "Address and port (CoreDNS's: 8080) where /health says that the DNS server lives; empty: none.",
  ),
  option(
    "dns-ready-bind-address",
    "string",
    "",
    "The same (8181) where /ready says that it knows the cluster's Services.",
  ),
  option(
    "dns-metrics-bind-address",
    "string",
    "",
    "The same (9153) of its /metrics; where others reach it, the Service kube-dns has it as its port metrics.",
  ),
];

/** The ingress of a node. */
export const ingressOptions: readonly OptionSpec[] = [
  option(
    "ingress-http-port",
    "int",
    "80",
    "Port of the node that Ingresses are served at; 0 disables. It is opened with the first Ingress, and tried again while another program has it.",
    { min: 0, max: 65535 },
  ),
  option(
    "ingress-https-port",
    "int",
    "443",
    "The same for HTTPS; 0 disables.",
    { min: 0, max: 65535 },
  ),
  option(
    "ingress-bind-address",
    "string",
    "",
    "Address that the ingress listens on; empty: all of the node.",
    { check: isAddress },
  ),
  option(
    "ingress-trusted-proxies",
    "strings",
    "",
    "Ranges of proxies in front of the ingress whose X-Forwarded-* and Forwarded headers are believed.",
  ),
  option(
    "ingress-access-log",
    "string",
    "",
    "File that gets a line of JSON for each request through the ingress, - for standard output; empty: none.",
  ),
];

/** What `orbit agent` can run beside the node agent itself. */
const nodeNetworkParts = [
  "proxy",
  "dns",
  "network-policy",
  "routes",
  "load-balancer",
  "ingress",
] as const;

const nodeNetworkOptions = group(
  "Node network",
  option(
    "pod-cidr",
    "string",
    "",
    "Range of pod addresses of a node without cluster.",
    { check: areRanges, file: "podCIDR" },
  ),
  option(
    "node-network",
    "strings",
    "",
    "Parts of the cluster's network that this agent runs. Not given: all of them but the ingress with --server, none with --kubeconfig; without an API server proxy and dns, from the first Service of the manifests directory on (the others need --kubeconfig or --server).",
    { values: nodeNetworkParts },
  ),
  option(
    "cluster-cidr",
    "strings",
    "",
    "Ranges of pod addresses of the whole cluster; empty: those of the nodes that are known.",
    { check: areRanges },
  ),
  option(
    "service-cluster-ip-range",
    "strings",
    "",
    "Ranges of service addresses: those in them that no Service has are refused. Without an API server Services get theirs from them (10.43.0.0/16 when none is given).",
    { check: areRanges },
  ),
  proxyModeOption,
  option("nodeport-addresses", "strings", "", "As that of `orbit server`."),
  option("masquerade-all", "bool", "false", "As that of `orbit server`."),
  ...nodeRoutesOptions,
  ...dnsPortOptions,
  ...ingressOptions,
);

/** Of a node that joins a cluster by token. */
export const joinOptions = group(
  "Joining a cluster",
  option(
    "server",
    "strings",
    "",
    "URLs of the cluster's API servers: the agent joins by the first that answers, and goes to another when one can't be reached.",
  ),
  option(
    "token",
    "string",
    "",
    "Token of `orbit token create`; needed the first time.",
  ),
  option(
    "discovery-token-ca-cert-hash",
    "strings",
    "",
    "sha256:HASH of the public key of the cluster's authority; nothing secret is sent to a server of another one.",
  ),
  option(
    "discovery-token-unsafe-skip-ca-verification",
    "bool",
    "false",
    "Join without such a hash: who knows the token can then pretend to be the cluster.",
  ),
);

/** Of an agent that is alone. */
export const agentNetworkOptions: OptionTable = [
  nodeNetworkOptions,
  joinOptions,
];
