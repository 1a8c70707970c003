// The service network of a composed cluster on this machine: the service proxy and the DNS server. A file of its own, so
// that its modules are read only where it runs.
import * as os from "node:os";
import type { Family } from "../../api/metrics/family.ts";
import { dnsFamilies } from "../../network/dns/dns-metrics.ts";
import { DnsThread } from "../../network/dns/dns-thread.ts";
import {
  publishDnsService,
  withdrawDnsEndpoint,
} from "../../network/dns/dns-service.ts";
import { hostResolvers } from "../../network/dns/host-resolvers.ts";
import { ZoneFeed } from "../../network/dns/zone-feed.ts";
import { ServiceProxy } from "../../network/proxy/proxy.ts";
import { machineAddresses } from "../parts/addresses.ts";
import type { ClusterContext } from "./cluster-context.ts";
import type { NetworkPlan } from "./network-plan.ts";

/** Tried first, so that the endpoint is the same after a restart; taken: any free one. */
const dnsPort = 10053;

type Metrics = () => readonly Family[];

/** Resolves, with its metrics, when the Services that exist are served. */
export async function startNetwork(
  cluster: ClusterContext,
  plan: NetworkPlan,
): Promise<Metrics> {
  const proxy = plan.proxy ? await startProxy(cluster, plan) : undefined;
  const dns = plan.dns ? await startDns(cluster, plan, plan.dns) : undefined;
  return () => [...(proxy?.() ?? []), ...(dns?.() ?? [])];
}

async function startProxy(
  { clock, logger, started, clientFor }: ClusterContext,
  plan: NetworkPlan,
): Promise<Metrics> {
  const proxy = new ServiceProxy({
    client: clientFor("system:kube-proxy"),
    nodeName: plan.nodeName,
    tableName: plan.tableName,
    podRanges: plan.podRanges,
    serviceRanges: plan.serviceRanges,
    nodePortRanges: plan.nodePortRanges,
    masqueradeAll: plan.masqueradeAll,
    clock,
    logger: logger.child({ part: "proxy" }),
  });
  started.add(() => proxy.stop());
  await proxy.start();
  return () => proxy.metrics.families();
}

async function startDns(
  { clock, logger: parent, started, clientFor }: ClusterContext,
  plan: NetworkPlan,
  { serviceAddress, domain, resolvConf }: NonNullable<NetworkPlan["dns"]>,
): Promise<Metrics> {
  const logger = parent.child({ part: "dns" });
  const client = clientFor("system:coredns");
  const [address = "127.0.0.1"] = machineAddresses();
  const thread = new DnsThread({
    data: {
      domain,
      listen: [{ address, port: dnsPort }],
      allowed: [...plan.podRanges, "127.0.0.0/8", "::1", ...machineAddresses()],
      serviceAddresses: [serviceAddress],
    },
    onStarted: () => feed.resend(),
    clock,
    logger,
  });
  const feed = new ZoneFeed({
    client,
    post: (message) => thread.post(message),
    resolvers: () => hostResolvers(resolvConf),
    onProblem: (problems) =>
      logger.warn(
        { problems },
        "the ConfigMap kube-dns has mistakes; the last good one is used",
      ),
  });
  started.add(() => thread.stop());
  await thread.start().catch(async (error: unknown) => {
    logger.debug({ err: error }, `port ${dnsPort} is taken; any other will do`);
    await thread.start(0);
  });
  started.add(() => feed.stop());
  await feed.start();
  const endpoint = {
    nodeName: plan.nodeName || os.hostname(),
    address,
    port: thread.ports[0] ?? dnsPort,
  };
  // The server itself works: a Service of another program at its address must not keep the cluster from starting.
  await publishDnsService(client, serviceAddress, endpoint).catch(
    (error: unknown) =>
      logger.error(
        { err: error, serviceAddress },
        "the Service of the DNS server could not be written: pods do not reach it",
      ),
  );
  started.add(() => withdrawDnsEndpoint(client, endpoint));
  return () => dnsFamilies(thread, address);
}
