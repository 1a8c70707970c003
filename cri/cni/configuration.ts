// The pod network's CNI configuration list: a routed pair a pod (ptp, or our own script in its place), addresses from the
// node's pod range (host-local); host ports by portmap only where no rules of our own can be had. No bridge: bridged traffic
// to service addresses hangs on br_netfilter.
import { bandwidthPluginName } from "./bandwidth.ts";

/** Lower than what other plug-ins usually use, so that one installed later takes over by its name. */
export const cniFileName = "99-orbit.conflist";

export const defaultNetworkName = "orbit";

/** Where distributions and others put plug-ins, in the order in which they are looked for. */
export const usualPluginDirectories = [
  "/opt/cni/bin",
  "/usr/lib/cni",
  "/usr/libexec/cni",
];

export interface CniOptions {
  /** e.g. /etc/cni/net.d; made when missing. */
  directory: string;
  podCidr: string;
  /** Further ranges, e.g. of IPv6. */
  extraCidrs?: readonly string[];
  /** Network name; also the name of host-local's address store. */
  name?: string;
  mtu?: number;
  /** Masquerading and host ports by plug-ins, which run iptables for each pod; default: others do it. */
  iptables?: boolean;
  /** Where host-local keeps its leases; its own default when absent. */
  ipamDirectory?: string;
  /** What makes the pair and limits its bandwidth: a plug-in that takes ptp's configuration; default: ptp. */
  pairPlugin?: string;
  /** The plug-in bandwidth follows ptp. */
  bandwidthPlugin?: boolean;
}

/** The configuration list as an object. */
export function cniConfiguration(options: CniOptions): object {
  const cidrs = [options.podCidr, ...(options.extraCidrs ?? [])];
  const routes = [
    ...new Set(
      cidrs.map((cidr) => (cidr.includes(":") ? "::/0" : "0.0.0.0/0")),
    ),
  ];
  const limits = { capabilities: { [bandwidthPluginName]: true } };
  const pair = {
    type: options.pairPlugin ?? "ptp",
    ...(options.pairPlugin === undefined ? {} : limits),
    ipMasq: options.iptables ?? false,
    ...(options.mtu === undefined ? {} : { mtu: options.mtu }),
    ipam: {
      type: "host-local",
      ...(options.ipamDirectory === undefined
        ? {}
        : { dataDir: options.ipamDirectory }),
      ranges: cidrs.map((subnet) => [{ subnet }]),
      routes: routes.map((dst) => ({ dst })),
    },
  };
  const hostPorts = {
    type: "portmap",
    capabilities: { portMappings: true },
    snat: true,
  };
  return {
    cniVersion: "0.4.0",
    name: options.name ?? defaultNetworkName,
    plugins: [
      pair,
      ...(options.iptables ? [hostPorts] : []),
      ...(options.bandwidthPlugin && options.pairPlugin === undefined
        ? [{ type: bandwidthPluginName, ...limits }]
        : []),
    ],
  };
}

/** True for files the runtime would take as a network configuration. */
export function isConfiguration(name: string): boolean {
  return /\.(conf|conflist|json)$/.test(name);
}
