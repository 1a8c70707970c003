// Options of `orbit proxy`, by the names of kube-proxy's.
import { group, option } from "./build-table.ts";
import { apiClientOptions } from "./controller-manager.ts";
import { loggingOptions } from "./shared.ts";
import type { OptionTable } from "./table.ts";

/** Those without effect here are not taken at all. */
const withoutEffect = ["kube-api-content-type"];

const shared = (groups: OptionTable): OptionTable =>
  groups.map(({ title, options }) => ({
    title,
    options: options.filter(({ name }) => !withoutEffect.includes(name)),
  }));

export const proxyOptions: OptionTable = [
  group(
    "Service proxy",
    option(
      "proxy-mode",
      "string",
      "nftables",
      "How connections are led to their endpoints.",
      {
        check: (mode) =>
          mode === "nftables"
            ? undefined
            : "only nftables is built in (iptables and ipvs are not)",
      },
    ),
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
      "Whose ranges are pods': --cluster-cidr or the Node's; default: the former where it is given.",
      { values: ["ClusterCIDR", "NodeCIDR"] },
    ),
    option("nodeport-addresses", "strings", "", "As that of `orbit server`."),
    option("masquerade-all", "bool", "false", "As that of `orbit server`."),
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
  ...shared([apiClientOptions("5", "10"), loggingOptions]),
];
