// The kube-dns Service, and this server's EndpointSlice for it: what pods' resolv.conf points to leads here. The Service
// has no selector; each server writes a slice of its own, named by its node, and takes it back when it stops.
import { ApiError } from "../../api/errors.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Client } from "../../client/client.ts";
import { endpointSlices, services } from "../../client/resources.ts";
import { dnsNamespace } from "./zone-feed.ts";

const dnsServiceName = "kube-dns";

export interface DnsEndpoint {
  /** The node this server runs on. */
  nodeName: string;
  /** Where it listens: an address that others reach. */
  address: string;
  port: number;
  /** Of its metrics; undefined: they have none that others reach. */
  metricsPort?: number;
}

/** Undefined: there is none. */
async function found<T>(get: Promise<T>): Promise<T | undefined> {
  try {
    return await get;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NotFound")
      return undefined;
    throw error;
  }
}

function sliceName({ nodeName, address }: DnsEndpoint): string {
  return `${dnsServiceName}-${nodeName}-${address.includes(":") ? "v6" : "v4"}`;
}

/** @param clusterIp the address pods are given as --cluster-dns */
export async function publishDnsService(
  client: Client,
  clusterIp: string,
  endpoint: DnsEndpoint,
): Promise<void> {
  const labels = {
    "k8s-app": "kube-dns",
    "kubernetes.io/cluster-service": "true",
    "kubernetes.io/name": "CoreDNS",
  };
  const own = client.resource(services);
  const ports = servicePorts(endpoint);
  // Asked for first: creating it again would fail for its address, which is taken then.
  const present = await found(own.get(dnsServiceName, dnsNamespace));
  if (present && (present.spec?.ports?.length ?? 0) < ports.length)
    await own.patch(dnsServiceName, dnsNamespace, {
      type: "strategic",
      body: { spec: { ports } },
    });
  else if (!present)
    await own
      .create({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: dnsServiceName, namespace: dnsNamespace, labels },
        spec: {
          clusterIP: clusterIp,
          ports,
        },
      })
      .catch(async (error: unknown) => {
        // Another server may have created it meanwhile.
        if (!(await found(own.get(dnsServiceName, dnsNamespace)))) throw error;
      });
  const slice = ownDnsSlice(endpoint);
  const slices = client.resource(endpointSlices);
  if (await found(slices.get(slice.metadata.name, dnsNamespace)))
    await slices.patch(slice.metadata.name, dnsNamespace, {
      type: "merge",
      body: { endpoints: slice.endpoints, ports: slice.ports },
    });
  else await slices.create(slice);
}

/** As CoreDNS's Service has them; that of the metrics where a server shows them. */
function servicePorts({ metricsPort }: DnsEndpoint) {
  return [
    { name: "dns", protocol: "UDP" as const, port: 53, targetPort: 53 },
    { name: "dns-tcp", protocol: "TCP" as const, port: 53, targetPort: 53 },
    ...(metricsPort === undefined
      ? []
      : [
          {
            name: "metrics",
            protocol: "TCP" as const,
            port: 9153,
            targetPort: 9153,
          },
        ]),
  ];
}

/** The EndpointSlice of one server. */
export function ownDnsSlice(endpoint: DnsEndpoint): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: sliceName(endpoint),
      namespace: dnsNamespace,
      labels: {
        "kubernetes.io/service-name": dnsServiceName,
        "endpointslice.kubernetes.io/managed-by": "dns.orbit.io",
      },
    },
    addressType: endpoint.address.includes(":") ? "IPv6" : "IPv4",
    endpoints: [
      {
        addresses: [endpoint.address],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: endpoint.nodeName,
      },
    ],
    ports: [
      { name: "dns", protocol: "UDP", port: endpoint.port },
      { name: "dns-tcp", protocol: "TCP", port: endpoint.port },
      ...(endpoint.metricsPort === undefined
        ? []
        : [
            {
              name: "metrics",
              protocol: "TCP" as const,
              port: endpoint.metricsPort,
            },
          ]),
    ],
  };
}

/** Best effort: a slice that stays leads to a server that is gone until it is back. */
export async function withdrawDnsEndpoint(
  client: Client,
  endpoint: DnsEndpoint,
): Promise<void> {
  await client
    .resource(endpointSlices)
    .delete(sliceName(endpoint), dnsNamespace)
    .catch(() => undefined);
}

interface KeptEndpointOptions {
  client: Client;
  /** The endpoint as it is now: one that moved to another address has another slice. */
  endpoint: () => DnsEndpoint;
  /** The slice could not be written again. */
  onProblem: (error: unknown) => void;
}

/**
 * Writes the own slice again when it was deleted: no controller does it for a Service without a selector. Returns a
 * disposer; a slice that is withdrawn afterwards stays away.
 */
export function keepDnsEndpoint({
  client,
  endpoint,
  onProblem,
}: KeptEndpointOptions): () => void {
  const own = client.resource(endpointSlices);
  return client
    .informer<EndpointSlice>(endpointSlices, { namespace: dnsNamespace })
    .addHandler({
      onDelete: ({ metadata }) => {
        const slice = ownDnsSlice(endpoint());
        if (metadata.name === slice.metadata.name)
          own.create(slice).catch(onProblem);
      },
    });
}
