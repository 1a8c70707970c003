// The routes to other nodes as a part of a node's network.
import * as path from "node:path";
import { NodeRoutes } from "../../../network/nodes/node-routes.ts";
import type { NodeNetworkContext, NodeRanges } from "./network-context.ts";
import type { NetworkPlan } from "./network-plan.ts";

export async function startRoutes(
  {
    clock,
    logger,
    started,
    clientFor,
    clusterIdentity,
    dataDirectory,
  }: NodeNetworkContext,
  plan: NetworkPlan,
  mode: NonNullable<NetworkPlan["routes"]>,
  { podRanges, pods, links, mtu }: NodeRanges,
): Promise<void> {
  const routes = new NodeRoutes({
    client: clientFor("system:node-routes"),
    nodeName: plan.nodeName,
    podRanges,
    clusterIdentity,
    mode:
      mode === "wireguard"
        ? {
            wireguard: {
              ...plan.wireguard,
              keyFile: path.join(dataDirectory, "wireguard.key"),
              clusterRanges: plan.podRanges,
              serviceRanges: plan.serviceRanges,
            },
          }
        : mode,
    masquerade: pods.masquerade,
    links,
    onTunnelMtu: (size) => void mtu.setTunnel(size),
    clock,
    logger: logger.child({ part: "routes" }),
  });
  started.add(() => routes.stop());
  await routes.start();
}
