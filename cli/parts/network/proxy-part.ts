// The service proxy as a part of a node's network.
import {
  ownDnsSlice,
  type DnsEndpoint,
} from "../../../network/dns/dns-service.ts";
import { chooseProxyMode } from "../../../network/proxy/proxy-mode.ts";
import { ServiceProxy } from "../../../network/proxy/proxy.ts";
import { recordKernelSetting } from "../agent/machine-files.ts";
import { proxyTable, type NetworkPlan } from "./network-plan.ts";
import type {
  Metrics,
  NodeNetworkContext,
  NodeRanges,
} from "./network-context.ts";

interface ProxyPart {
  readonly metrics: Metrics;
  /** The cluster's DNS Service leads to this node's own server. */
  useOwnDns(endpoint: DnsEndpoint): void;
}

export async function startProxy(
  { clock, logger, started, clientFor, dataDirectory }: NodeNetworkContext,
  plan: NetworkPlan,
  node: NodeRanges,
): Promise<ProxyPart> {
  const proxy = new ServiceProxy({
    mode: await chooseProxyMode(plan.proxyMode),
    client: clientFor("system:kube-proxy"),
    nodeName: plan.nodeName,
    tableName: proxyTable(node.podRanges[0] ?? plan.nodeName),
    podRanges: plan.podRanges.length > 0 ? plan.podRanges : node.podRanges,
    serviceRanges: plan.serviceRanges,
    nodePortRanges: plan.nodePortRanges,
    masqueradeAll: plan.masqueradeAll,
    onKernelSetting: (file, before) =>
      recordKernelSetting(dataDirectory, file, before),
    clock,
    logger: logger.child({ part: "proxy" }),
  });
  started.add(() => proxy.stop());
  await proxy.start();
  return {
    metrics: () => proxy.metrics.families(),
    useOwnDns(endpoint) {
      proxy.setOwnSlice(ownDnsSlice(endpoint));
    },
  };
}
