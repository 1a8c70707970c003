// The network of a node without an API server: service proxy, DNS and endpoints for the Services of its manifests directory,
// on the same objects in memory that its agent fills. They begin with the first Service; a node that had one begins with
// them again, so that the rules in the kernel follow what became of it.
import * as path from "node:path";
import * as fs from "node:fs";
import type { Service } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { MemoryObjects } from "../../../client/memory-objects.ts";
import { endpointSlices, nodes, services } from "../../../client/resources.ts";
import { writePrivateFile } from "../../../http-kit/certificates/private-files.ts";
import { dnsServiceAddress } from "../../../agent/sources/local/service-addresses.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { machineAddresses } from "../addresses.ts";
import { dnsPlaces } from "./dns-places.ts";
import type { NodeNetworkContext, NodeRanges } from "./network-context.ts";
import {
  nodePortAddresses,
  proxyMode,
  type NetworkPlan,
} from "./network-plan.ts";

/** As that of `orbit server`. */
const usualServiceRange = "10.43.0.0/16";
/** The parts that need no API server. */
const localParts = ["proxy", "dns"];
const dnsName = { name: "kube-dns", namespace: "kube-system" };
const ofService = "kubernetes.io/service-name";

export const localServiceRanges = (values: OptionValues): string[] => {
  const given = values.list("service-cluster-ip-range");
  return given.length > 0 ? [...given] : [usualServiceRange];
};

/** Undefined: no part is wanted. @throws UsageError for a part that needs an API server */
export function localNetworkPlan(
  values: OptionValues,
  agent: {
    nodeName: string;
    nodeIPs: readonly string[];
    podRanges: readonly string[];
  },
): NetworkPlan | undefined {
  const nodePortRanges = nodePortAddresses(values, agent.nodeIPs);
  const parts = values.isSet("node-network")
    ? values.list("node-network")
    : localParts;
  const other = parts.find((part) => !localParts.includes(part));
  if (other)
    throw new UsageError(
      `invalid argument "${other}" for "--node-network": it needs --kubeconfig or --server`,
    );
  const serviceRanges = localServiceRanges(values);
  const proxy = parts.includes("proxy");
  const dns = parts.includes("dns") && machineAddresses().length > 0;
  if (!proxy && !dns) return undefined;
  return {
    nodeName: agent.nodeName,
    podRanges: agent.podRanges,
    serviceRanges,
    proxy,
    proxyMode: proxyMode(values),
    policy: false,
    routes: undefined,
    wireguard: { port: 0, keepaliveSeconds: 0 },
    announces: false,
    nodePortRanges,
    masqueradeAll: values.flag("masquerade-all"),
    ...(dns
      ? {
          dns: {
            // Without the proxy nothing leads from the Service's address to the server.
            serviceAddress: proxy
              ? dnsServiceAddress(serviceRanges)
              : undefined,
            publish: false,
            domain: values.optionalText("cluster-domain") ?? "cluster.local",
            resolvConf: values.optionalText("resolv-conf"),
            places: dnsPlaces(values),
          },
        }
      : {}),
  };
}

export class LocalNetwork {
  readonly objects = new MemoryObjects();
  readonly #plan: NetworkPlan;
  readonly #context: Omit<NodeNetworkContext, "clientFor">;
  readonly #record: string;
  readonly #begun: Promise<void>;
  #begin: () => void = () => undefined;
  readonly #stopFollowing: () => void;
  #serving = false;

  constructor(
    plan: NetworkPlan,
    context: Omit<NodeNetworkContext, "clientFor">,
  ) {
    this.#plan = plan;
    this.#context = context;
    this.#record = path.join(context.dataDirectory, "serves-services");
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
    // Pods that start from now on have the DNS server's address.
    if (fs.existsSync(this.#record)) this.#serve();
    this.#stopFollowing = this.objects.cache<Service>(services).subscribe({
      onAdd: () => this.#serve(),
      onDelete: (service) => this.#removeSlices(service),
    });
  }

  /** Waits for the first Service; does nothing when stopped before. */
  async start(node: NodeRanges): Promise<void> {
    await this.#begun;
    const { started, clock, logger } = this.#context;
    const client = createClient(this.objects, { clock, logger });
    const [
      { startNodeNetwork },
      { createEndpointSliceController },
      { defaultControllerOptions },
    ] = await Promise.all([
      import("./node-network.ts"),
      import("../../../controllers/endpoints/endpoint-slice-controller.ts"),
      import("../../../controllers/options.ts"),
    ]);
    const endpoints = createEndpointSliceController({
      client,
      clock,
      logger: logger.child({ part: "endpoints" }),
      options: defaultControllerOptions,
      // Events of Services have no place to be kept.
      recorder: () => ({
        event: (_service, type, reason, message) =>
          logger.info({ part: "endpoints", type, reason }, message),
      }),
    });
    endpoints.start();
    started.add(() => endpoints.stop());
    await startNodeNetwork(
      { ...this.#context, clientFor: () => client },
      this.#plan,
      node,
    );
  }

  stop(): void {
    this.#stopFollowing();
  }

  #serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    const { nodeName, dns } = this.#plan;
    this.objects.put(nodes, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: nodeName },
    });
    if (dns?.serviceAddress)
      this.objects.put(services, dnsService(dns.serviceAddress));
    writePrivateFile(this.#record, "");
    this.#begin();
  }

  /** No garbage collector removes those of a Service that is gone. */
  #removeSlices({ metadata }: Service): void {
    const { lister } = this.objects.cache<EndpointSlice>(endpointSlices);
    for (const slice of lister.list(metadata.namespace))
      if (slice.metadata.labels?.[ofService] === metadata.name)
        this.objects.remove(
          endpointSlices,
          slice.metadata.name,
          metadata.namespace,
        );
  }
}

function dnsService(clusterIP: string): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: dnsName,
    spec: {
      type: "ClusterIP",
      clusterIP,
      clusterIPs: [clusterIP],
      ports: [
        { name: "dns", protocol: "UDP", port: 53, targetPort: 53 },
        { name: "dns-tcp", protocol: "TCP", port: 53, targetPort: 53 },
      ],
    },
  };
}
