// What the service network of `orbit server` is to be, out of its options. Without the code of its parts, which is read only
// where they run.
import type { OptionValues } from "../options/parse.ts";
import { machineAddresses } from "../parts/addresses.ts";

export interface NetworkPlan {
  readonly nodeName: string;
  /** Of the whole cluster. */
  readonly podRanges: readonly string[];
  readonly serviceRanges: readonly string[];
  /** The table of the rules: two clusters on one machine have different ones. */
  readonly tableName: string;
  readonly proxy: boolean;
  /** Undefined: no DNS server. */
  readonly dns?: {
    /** The kube-dns Service's address, which pods are given. */
    readonly serviceAddress: string;
    readonly domain: string;
    /** A resolv.conf, for names that are not the cluster's. */
    readonly resolvConf: string | undefined;
  };
}

/** The table is named by the node's pod range, as the masquerading one is. */
export function proxyTable(podCidr: string): string {
  return `orbit-proxy-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

/**
 * Undefined: the machine is no node, or neither part is wanted. DNS is left out as well where the machine has no address
 * that pods could reach it at.
 */
export function networkPlan(
  values: OptionValues,
  agent: { values: OptionValues; nodeName: string; podCidr: string },
  serviceAddress: string,
): NetworkPlan | undefined {
  const disabled = new Set(values.list("disable"));
  const proxy = !disabled.has("proxy");
  const dns = !disabled.has("dns") && machineAddresses().length > 0;
  if (disabled.has("agent") || !(proxy || dns)) return undefined;
  return {
    nodeName: agent.nodeName,
    podRanges: values.list("cluster-cidr"),
    serviceRanges: values.list("service-cluster-ip-range"),
    tableName: proxyTable(agent.podCidr),
    proxy,
    ...(dns
      ? {
          dns: {
            serviceAddress,
            domain: agent.values.text("cluster-domain"),
            resolvConf: agent.values.optionalText("resolv-conf"),
          },
        }
      : {}),
  };
}
