// Which UDP flows the kernel must forget when the endpoints of a port change: they would go on to an endpoint that is gone, or
// past a service that had none.
import type { StaleFlow } from "../conntrack/conntrack-cleaner.ts";
import type { ProxyPort } from "./service-ports.ts";

/** The UDP flows that must go when a port's endpoints change. */
export function staleFlows(
  before: ProxyPort | undefined,
  after: ProxyPort | undefined,
): StaleFlow[] {
  const port = after ?? before;
  if (port?.protocol !== "udp") return [];
  const flows: StaleFlow[] = [];
  const addresses = [
    ...(port.clusterIp === undefined ? [] : [port.clusterIp]),
    ...port.externalIps,
    ...port.loadBalancerIps,
  ];
  const each = (endpoint: string | undefined): void => {
    for (const address of addresses)
      flows.push({
        address,
        port: port.port,
        ...(endpoint === undefined ? {} : { endpoint }),
      });
    if (port.nodePort !== undefined)
      flows.push({
        port: port.nodePort,
        ...(endpoint === undefined ? {} : { endpoint }),
      });
  };
  const now = new Set(after?.cluster.map(({ address }) => address));
  for (const address of new Set(before?.cluster.map((e) => e.address)))
    if (!now.has(address)) each(address);
  // What came while there was no endpoint was let through or refused, and is remembered without one.
  if ((before?.cluster.length ?? 0) === 0 && now.size > 0) each(undefined);
  return flows;
}
