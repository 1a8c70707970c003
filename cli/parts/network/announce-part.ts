// The announcing of load balancers' addresses as a part of a node's network.
import { Announcer } from "../../../network/load-balancer/announcer.ts";
import { recordKernelSetting } from "../agent/machine-files.ts";
import type { NodeNetworkContext, NodeRanges } from "./network-context.ts";
import type { NetworkPlan } from "./network-plan.ts";

export async function startAnnouncing(
  { clock, logger, started, clientFor, dataDirectory }: NodeNetworkContext,
  { nodeName }: NetworkPlan,
  { podRanges, links }: NodeRanges,
): Promise<void> {
  const announcer = new Announcer({
    client: clientFor("system:load-balancer"),
    nodeName,
    podRange: podRanges[0] ?? nodeName,
    links,
    onKernelSetting: (file, before) =>
      recordKernelSetting(dataDirectory, file, before),
    clock,
    logger: logger.child({ part: "load-balancer" }),
  });
  started.add(() => announcer.stop());
  await announcer.start();
}
