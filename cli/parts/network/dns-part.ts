// The cluster's DNS server as a part of a node's network. The node of `orbit server` also writes the kube-dns Service with
// itself as an endpoint; each node's proxy leads that Service to the node's own server, so that names do not depend on
// another node.
import * as os from "node:os";
import { dnsFamilies } from "../../../network/dns/dns-metrics.ts";
import {
  publishDnsService,
  withdrawDnsEndpoint,
  type DnsEndpoint,
} from "../../../network/dns/dns-service.ts";
import { DnsThread } from "../../../network/dns/dns-thread.ts";
import { hostResolvers } from "../../../network/dns/host-resolvers.ts";
import { ZoneFeed } from "../../../network/dns/zone-feed.ts";
import { machineAddresses } from "../addresses.ts";
import type { NetworkPlan } from "./network-plan.ts";
import type {
  Metrics,
  NodeNetworkContext,
  NodeRanges,
} from "./network-context.ts";

/** Tried first, so that the endpoint is the same after a restart; taken: any free one. */
const dnsPort = 10053;

interface DnsPart {
  readonly metrics: Metrics;
  readonly endpoint: DnsEndpoint;
}

export async function startDns(
  { clock, logger: parent, started, clientFor }: NodeNetworkContext,
  plan: NetworkPlan,
  {
    serviceAddress,
    publish,
    domain,
    resolvConf,
  }: NonNullable<NetworkPlan["dns"]>,
  node: NodeRanges,
): Promise<DnsPart> {
  const logger = parent.child({ part: "dns" });
  const client = clientFor("system:coredns");
  const [address = "127.0.0.1"] = machineAddresses();
  const thread = new DnsThread({
    data: {
      domain,
      listen: [{ address, port: dnsPort }],
      allowed: [
        ...plan.podRanges,
        ...node.podRanges,
        "127.0.0.0/8",
        "::1",
        ...machineAddresses(),
      ],
      serviceAddresses: serviceAddress === undefined ? [] : [serviceAddress],
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
  if (publish && serviceAddress !== undefined) {
    // The server itself works: a Service of another program at its address must not keep the cluster from starting.
    await publishDnsService(client, serviceAddress, endpoint).catch(
      (error: unknown) =>
        logger.error(
          { err: error, serviceAddress },
          "the Service of the DNS server could not be written: pods do not reach it",
        ),
    );
    started.add(() => withdrawDnsEndpoint(client, endpoint));
  }
  return { metrics: () => dnsFamilies(thread, address), endpoint };
}
