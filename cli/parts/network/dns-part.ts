// The cluster's DNS server as a part of a node's network. The node of `orbit server` also writes the kube-dns Service with
// itself as an endpoint; each node's proxy leads that Service to the node's own server, so that names do not depend on
// another node.
import { isIP } from "node:net";
import * as os from "node:os";
import { isLoopbackAddress } from "../../../api/address-kind.ts";
import type { Client } from "../../../client/client.ts";
import { dnsFamilies } from "../../../network/dns/dns-metrics.ts";
import {
  DnsPorts,
  type DnsPortsOptions,
} from "../../../network/dns/dns-ports.ts";
import {
  keepDnsEndpoint,
  publishDnsService,
  withdrawDnsEndpoint,
  type DnsEndpoint,
} from "../../../network/dns/dns-service.ts";
import { DnsThread } from "../../../network/dns/dns-thread.ts";
import { hostResolvers } from "../../../network/dns/host-resolvers.ts";
import { ZoneFeed } from "../../../network/dns/zone-feed.ts";
import { dnsAddress, machineAddresses } from "../addresses.ts";
import type { NetworkPlan } from "./network-plan.ts";
import type {
  Metrics,
  NodeNetworkContext,
  NodeRanges,
} from "./network-context.ts";

/** Tried first, so that the endpoint is the same after a restart; taken: any free one. */
const dnsPort = 10053;

type DnsPlan = NonNullable<NetworkPlan["dns"]>;

interface DnsPart {
  readonly metrics: Metrics;
  readonly endpoint: DnsEndpoint;
  /** Called with another endpoint when the machine has lost the address of the one before. */
  onMoved(listener: (endpoint: DnsEndpoint) => void): void;
}

/** Others reach no loopback. */
function metricsPort({
  metrics,
}: DnsPlan["places"]): Pick<DnsEndpoint, "metricsPort"> {
  return metrics && !isLoopbackAddress(metrics.host)
    ? { metricsPort: metrics.port }
    : {};
}

/** The ports of health, readiness and metrics. */
async function openPorts(
  { logger, started }: Pick<NodeNetworkContext, "logger" | "started">,
  options: Omit<DnsPortsOptions, "onProblem">,
): Promise<void> {
  const ports = new DnsPorts();
  started.add(() => ports.stop());
  await ports.open({
    ...options,
    onProblem: (err, place) =>
      logger.error({ err, ...place }, "a port of the DNS server is not open"),
  });
}

/** The slice is written again when it is deleted from outside, and goes when the server stops. */
function keepPublished(
  {
    client,
    logger,
    started,
  }: Pick<NodeNetworkContext, "logger" | "started"> & { client: Client },
  endpoint: () => DnsEndpoint,
): void {
  started.add(() => withdrawDnsEndpoint(client, endpoint()));
  const onProblem = (err: unknown): void =>
    logger.error({ err }, "the slice of the DNS server could not be written");
  started.add(keepDnsEndpoint({ client, endpoint, onProblem }));
}

export async function startDns(
  { clock, logger: parent, started, clientFor }: NodeNetworkContext,
  plan: NetworkPlan,
  { serviceAddress, publish, domain, resolvConf, places }: DnsPlan,
  node: NodeRanges,
): Promise<DnsPart> {
  const logger = parent.child({ part: "dns" });
  const client = clientFor("system:coredns");
  let address = dnsAddress(machineAddresses(), serviceAddress) ?? "127.0.0.1";
  const launch = async (): Promise<DnsThread> => {
    const made = new DnsThread({
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
      onStarted: () => {
        thread = made;
        feed.resend();
      },
      clock,
      logger,
    });
    await made.start().catch(async (error: unknown) => {
      logger.debug(
        { err: error },
        `port ${dnsPort} is taken; any other will do`,
      );
      await made.start(0);
    });
    return made;
  };
  let thread: DnsThread | undefined;
  const feed = new ZoneFeed({
    client,
    post: (message) => thread?.post(message),
    resolvers: () => hostResolvers(resolvConf),
    onProblem: (problems) =>
      logger.warn(
        { problems },
        "the ConfigMap kube-dns has mistakes; the last good one is used",
      ),
  });
  let running = await launch();
  started.add(() => running.stop());
  started.add(() => feed.stop());
  await openPorts(
    { logger, started },
    {
      places,
      lives: () => running.ready,
      ready: () => running.ready && feed.sent,
      metrics: () => dnsFamilies(running, address),
    },
  );
  await feed.start();
  const endpoint = (): DnsEndpoint => ({
    nodeName: plan.nodeName || os.hostname(),
    address,
    port: running.ports[0] ?? dnsPort,
    ...metricsPort(places),
  });
  const announce = async (): Promise<void> => {
    if (!publish || serviceAddress === undefined) return;
    // The server itself works: a Service of another program at its address must not keep the cluster from starting.
    await publishDnsService(client, serviceAddress, endpoint()).catch(
      (error: unknown) =>
        logger.error(
          { err: error, serviceAddress },
          "the Service of the DNS server could not be written: pods do not reach it",
        ),
    );
  };
  await announce();
  if (publish && serviceAddress !== undefined)
    keepPublished({ client, logger, started }, endpoint);
  let onMoved: (moved: DnsEndpoint) => void = () => undefined;
  let moving: Promise<void> = Promise.resolve();
  const move = async (): Promise<void> => {
    const next = dnsAddress(machineAddresses(), serviceAddress, address);
    if (next === undefined || next === address) return;
    logger.info(
      { from: address, to: next },
      "the DNS server moves: the machine has another address",
    );
    const before = { running, address, endpoint: endpoint() };
    address = next;
    running = await launch().catch((error: unknown) => {
      ({ address } = before);
      throw error;
    });
    await before.running.stop();
    onMoved(endpoint());
    await announce();
    // The other family's slice has a name of its own.
    if (publish && isIP(before.address) !== isIP(address))
      await withdrawDnsEndpoint(client, before.endpoint);
  };
  started.add(
    node.links.onChange(() => {
      moving = moving
        .then(move)
        .catch((err: unknown) =>
          logger.error({ err }, "the DNS server could not move"),
        );
    }),
  );
  return {
    metrics: () => dnsFamilies(running, address),
    endpoint: endpoint(),
    onMoved: (listener) => (onMoved = listener),
  };
}
