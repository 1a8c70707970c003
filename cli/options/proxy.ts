// Options of `orbit proxy`, by the names of kube-proxy's, with their fields in a KubeProxyConfiguration.
import { group, inFile, option } from "./build-table.ts";
import { apiClientOptions } from "./controller-manager.ts";
import { proxyModeOption } from "./network.ts";
import { loggingOptions } from "./shared.ts";
import type { OptionTable } from "./table.ts";

const isInterface = (name: unknown): string | undefined =>
  /^[A-Za-z0-9_.-]{1,15}$/.test(String(name))
    ? undefined
    : "must be the name of a network interface";

const table: OptionTable = [
  group(
    "Service proxy",
    option(
      "config",
      "string",
      "",
      "KubeProxyConfiguration file (kubeproxy.config.k8s.io/v1alpha1); flags win. The program ends when it changes.",
    ),
    proxyModeOption,
    option(
      "hostname-override",
      "string",
      "",
      "Name of this node; default: the machine's.",
    ),
    option(
      "cluster-cidr",
      "strings",
      "",
      "Ranges of pods: what comes from elsewhere to a cluster address comes from the node's address then. Not given: those of this node's Node.",
    ),
    option(
      "detect-local-mode",
      "string",
      "",
      "What tells pods' traffic: its address, in --cluster-cidr or the Node's ranges, or where it comes in, by --pod-bridge-interface or --pod-interface-name-prefix; default: --cluster-cidr where it is given, else the Node's ranges.",
      {
        values: [
          "ClusterCIDR",
          "NodeCIDR",
          "BridgeInterface",
          "InterfaceNamePrefix",
        ],
      },
    ),
    option(
      "pod-bridge-interface",
      "string",
      "",
      "Bridge that pods' traffic comes in by, with --detect-local-mode=BridgeInterface.",
      { check: isInterface },
    ),
    option(
      "pod-interface-name-prefix",
      "string",
      "",
      "Beginning of the names of pods' interfaces, with --detect-local-mode=InterfaceNamePrefix.",
      { check: isInterface },
    ),
    option(
      "bind-address",
      "string",
      "0.0.0.0",
      "The node's address, for --nodeport-addresses=primary; an IPv6 one makes the ports' default addresses IPv6.",
    ),
    option("nodeport-addresses", "strings", "", "As that of `orbit server`."),
    option("masquerade-all", "bool", "false", "As that of `orbit server`."),
    option(
      "iptables-masquerade-bit",
      "int",
      "14",
      "Bit of the packets' mark, in either mode, for those that leave with the node's address.",
      { min: 0, max: 31 },
    ),
    option(
      "iptables-localhost-nodeports",
      "bool",
      "true",
      "Node ports answer on loopback, in either mode; IPv4 alone.",
    ),
    option(
      "oom-score-adj",
      "int",
      "-999",
      "How soon the kernel ends this process when memory is short.",
      { min: -1000, max: 1000 },
    ),
    option(
      "cleanup",
      "bool",
      "false",
      "Delete the rules of this proxy, and end.",
    ),
    option(
      "init-only",
      "bool",
      "false",
      "Write the settings of connection tracking, and end.",
    ),
  ),
  group(
    "Ports",
    option(
      "healthz-bind-address",
      "string",
      "0.0.0.0:10256",
      "Address of /healthz and /livez; empty: none.",
    ),
    option(
      "metrics-bind-address",
      "string",
      "127.0.0.1:10249",
      "Address of /metrics and /proxyMode; empty: none.",
    ),
    option(
      "bind-address-hard-fail",
      "bool",
      "false",
      "End when a port can't be opened, instead of going on without it.",
    ),
  ),
  group(
    "Connection tracking",
    option(
      "conntrack-max-per-core",
      "int",
      "32768",
      "Connections that are tracked, for each core; 0: as it is.",
      { min: 0 },
    ),
    option(
      "conntrack-min",
      "int",
      "131072",
      "Connections that are tracked at least.",
      { min: 0 },
    ),
    option(
      "conntrack-tcp-timeout-established",
      "duration",
      "24h0m0s",
      "How long an idle TCP connection is kept; 0: as it is.",
      { min: 0 },
    ),
    option(
      "conntrack-tcp-timeout-close-wait",
      "duration",
      "1h0m0s",
      "The same in CLOSE_WAIT.",
      { min: 0 },
    ),
    option(
      "conntrack-udp-timeout",
      "duration",
      "0s",
      "How long an idle UDP flow is kept; 0: as it is.",
      { min: 0 },
    ),
    option(
      "conntrack-udp-timeout-stream",
      "duration",
      "0s",
      "The same of one that was answered.",
      { min: 0 },
    ),
    option(
      "conntrack-tcp-be-liberal",
      "bool",
      "false",
      "Take TCP packets that are out of their window as valid.",
    ),
  ),
  apiClientOptions("5", "10"),
  loggingOptions,
];

export const proxyOptions: OptionTable = inFile(
  table.map(({ title, options }) => ({
    title,
    // Those of other programs' files are none of this one.
    options: options.map(({ file: _, ...spec }) => spec),
  })),
  {
    "proxy-mode": "mode",
    "hostname-override": "hostnameOverride",
    "cluster-cidr": "clusterCIDR",
    "detect-local-mode": "detectLocalMode",
    "pod-bridge-interface": "detectLocal.bridgeInterface",
    "pod-interface-name-prefix": "detectLocal.interfaceNamePrefix",
    "bind-address": "bindAddress",
    "nodeport-addresses": "nodePortAddresses",
    "masquerade-all": "nftables.masqueradeAll",
    "iptables-masquerade-bit": "nftables.masqueradeBit",
    "iptables-localhost-nodeports": "iptables.localhostNodePorts",
    "oom-score-adj": "oomScoreAdj",
    "healthz-bind-address": "healthzBindAddress",
    "metrics-bind-address": "metricsBindAddress",
    "bind-address-hard-fail": "bindAddressHardFail",
    "conntrack-max-per-core": "conntrack.maxPerCore",
    "conntrack-min": "conntrack.min",
    "conntrack-tcp-timeout-established": "conntrack.tcpEstablishedTimeout",
    "conntrack-tcp-timeout-close-wait": "conntrack.tcpCloseWaitTimeout",
    "conntrack-udp-timeout": "conntrack.udpTimeout",
    "conntrack-udp-timeout-stream": "conntrack.udpStreamTimeout",
    "conntrack-tcp-be-liberal": "conntrack.tcpBeLiberal",
    kubeconfig: "clientConnection.kubeconfig",
    "kube-api-qps": "clientConnection.qps",
    "kube-api-burst": "clientConnection.burst",
    "kube-api-content-type": "clientConnection.contentType",
    "logging-format": "logging.format",
    "log-flush-frequency": "logging.flushFrequency",
    v: "logging.verbosity",
    vmodule: "logging.vmodule",
  },
);
