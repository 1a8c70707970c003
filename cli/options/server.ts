// Options of `orbit server`: its own, and beside them every option of the API server and those of the node agent whose
// names the API server does not have. The rest goes through --agent-arg, --controller-manager-arg and --scheduler-arg.
import { agentOptions } from "./agent.ts";
import { apiServerOptions } from "./apiserver.ts";
import { addressTypes } from "./apiserver/serving.ts";
import { group, option } from "./build-table.ts";
import {
  dnsPortOptions,
  ingressOptions,
  joinOptions,
  nodeRoutesOptions,
  proxyModeOption,
} from "./network.ts";
import { snapshotOptions } from "./shared.ts";
import { allOptions, type OptionGroup, type OptionTable } from "./table.ts";

const serverParts = [
  "agent",
  "proxy",
  "dns",
  "network-policy",
  "routes",
  "load-balancer",
  "ingress",
  "metrics",
  "local-path",
  "scheduler",
  "controllers",
] as const;

const own: OptionTable = [
  group(
    "Cluster",
    option(
      "data-dir",
      "string",
      "/var/lib/orbit",
      "Everything that must survive.",
    ),
    option(
      "manifests",
      "string",
      "/etc/orbit/manifests",
      "Static pods, and objects applied to the API server.",
      { aliases: ["pod-manifest-path"] },
    ),
    option(
      "write-kubeconfig",
      "string",
      "/etc/orbit/orbit.yaml",
      "Where the administrator's kubeconfig is written (mode 0600); empty: nowhere.",
    ),
    option("disable", "strings", "", "Parts that are left out.", {
      values: serverParts,
    }),
    option("store", "string", "file", "Where the state is kept.", {
      values: ["memory", "file", "etcd"],
    }),
    option(
      "container-runtime-endpoint",
      "string",
      "unix:///run/containerd/containerd.sock",
      "Socket of the runtime, or private for a containerd of the cluster's own. Not given: the one used before; at the first start the machine's when it answers, else a private one. A change ends the pods in the one used before.",
    ),
    option(
      "controllers-port",
      "int",
      "10257",
      "HTTPS port of the controllers' health and metrics; 0 disables.",
      { min: 0, max: 65535 },
    ),
    option(
      "scheduler-port",
      "int",
      "0",
      "HTTPS port of the scheduler's health and metrics; 0 disables.",
      { min: 0, max: 65535 },
    ),
    option(
      "allow-privileged",
      "bool",
      "true",
      "Allow privileged containers; network, storage and device add-ons are such.",
    ),
    option(
      "kubelet-preferred-address-types",
      "strings",
      "InternalIP,ExternalIP,Hostname,InternalDNS,ExternalDNS",
      "Order in which addresses of nodes are tried.",
      { values: addressTypes },
    ),
    option(
      "read-only-port",
      "int",
      "0",
      "HTTP port of the node agent without authentication; 0 disables.",
      { min: 0, max: 65535 },
    ),
    option(
      "cluster-cidr",
      "strings",
      "10.42.0.0/16",
      "Ranges of pod addresses.",
    ),
    option(
      "service-cluster-ip-range",
      "strings",
      "10.43.0.0/16",
      "Ranges of service addresses.",
    ),
    option(
      "load-balancer-cidr",
      "strings",
      "",
      "Ranges whose addresses Services of type LoadBalancer get, one of each family; empty: they get the addresses of the nodes.",
    ),
    ...ingressOptions,
    proxyModeOption,
    option(
      "nodeport-addresses",
      "strings",
      "",
      "Ranges of the node's addresses that take connections to node ports, or primary for the node's own; empty: all of them, as for a family of which none is named.",
    ),
    option(
      "masquerade-all",
      "bool",
      "false",
      "Connections through cluster addresses come from the node's address.",
    ),
    ...nodeRoutesOptions,
    ...dnsPortOptions,
    option(
      "enable-bootstrap-token-auth",
      "bool",
      "true",
      "Tokens of `orbit token create` let nodes ask for their certificates.",
    ),
    option(
      "cluster-name",
      "string",
      "orbit",
      "Name of the cluster in the kubeconfig.",
    ),
    option(
      "tls-san",
      "strings",
      "",
      "Further names and addresses in the serving certificate.",
    ),
    option(
      "cgroup-root",
      "string",
      "/orbit",
      "Root of the pods' cgroups; never one that another agent uses.",
    ),
    option(
      "authorization-mode",
      "strings",
      "Node,RBAC",
      "Ordered list of authorizers.",
      {
        values: [
          "AlwaysAllow",
          "AlwaysDeny",
          "ABAC",
          "Webhook",
          "RBAC",
          "Node",
        ],
      },
    ),
    ...snapshotOptions("0 */12 * * *").options,
    option(
      "agent-arg",
      "repeated",
      "",
      "option=value for the node agent; repeatable.",
    ),
    option(
      "controller-manager-arg",
      "repeated",
      "",
      "option=value for the controllers; repeatable.",
    ),
    option(
      "scheduler-arg",
      "repeated",
      "",
      "option=value for the scheduler; repeatable.",
    ),
  ),
];

function titled(
  part: string,
  table: OptionTable,
  taken: Set<string>,
): OptionGroup[] {
  const groups: OptionGroup[] = [];
  for (const { title, options } of table) {
    const fresh = options.filter(
      ({ name, aliases = [] }) =>
        ![name, ...aliases].some((each) => taken.has(each)),
    );
    for (const { name } of fresh) taken.add(name);
    if (fresh.length > 0)
      groups.push({ title: `${part}: ${title}`, options: fresh });
  }
  return groups;
}

const taken = new Set([
  ...allOptions(own).flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  // Of an agent that is alone.
  ...allOptions([joinOptions]).map(({ name }) => name),
  "node-network",
]);

export const serverOptions: OptionTable = [
  ...own,
  ...titled("API server", apiServerOptions, taken),
  ...titled("Node agent", agentOptions, taken),
];
