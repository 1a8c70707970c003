// The network policies as a part of a node's network.
import { NetworkPolicies } from "../../../network/policy/network-policies.ts";
import { policyTable, type NetworkPlan } from "./network-plan.ts";
import type {
  Metrics,
  NodeNetworkContext,
  NodeRanges,
} from "./network-context.ts";

export async function startPolicies(
  { clock, logger, started, clientFor }: NodeNetworkContext,
  plan: NetworkPlan,
  node: NodeRanges,
): Promise<Metrics> {
  const policies = new NetworkPolicies({
    client: clientFor("system:network-policy"),
    nodeName: plan.nodeName,
    tableName: policyTable(node.podRanges[0] ?? plan.nodeName),
    podRanges: node.podRanges,
    clock,
    logger: logger.child({ part: "network-policy" }),
  });
  started.add(() => policies.stop());
  await node.guard.set(policies, clock);
  await policies.start();
  return () => policies.metrics.families();
}
