// The network of one node: what runs on it beside the agent, for any API server that it is given a client of. Composed here
// for `orbit server` and `orbit agent` alike; a further part of a node's network is a line in `startNodeNetwork`. A file of
// its own, so that the modules of the parts are read only where they run.
import { startAnnouncing } from "./announce-part.ts";
import { startDns } from "./dns-part.ts";
import { startIngress } from "./ingress-part.ts";
import type {
  Metrics,
  NodeNetworkContext,
  NodeRanges,
} from "./network-context.ts";
import type { NetworkPlan } from "./network-plan.ts";
import { startPolicies } from "./policy-part.ts";
import { startProxy } from "./proxy-part.ts";
import { startRoutes } from "./routes-part.ts";

/** Resolves, with the parts' metrics, when the Services that exist are served. */
export async function startNodeNetwork(
  context: NodeNetworkContext,
  plan: NetworkPlan,
  node: NodeRanges,
): Promise<Metrics> {
  const policies = plan.policy
    ? await startPolicies(context, plan, node)
    : undefined;
  if (plan.routes) await startRoutes(context, plan, plan.routes, node);
  const proxy = plan.proxy ? await startProxy(context, plan, node) : undefined;
  if (plan.announces) await startAnnouncing(context, plan, node);
  const dns = plan.dns
    ? await startDns(context, plan, plan.dns, node)
    : undefined;
  if (dns) {
    proxy?.useOwnDns(dns.endpoint);
    dns.onMoved((endpoint) => proxy?.useOwnDns(endpoint));
  }
  const ingress = plan.ingress
    ? await startIngress(context, plan, plan.ingress)
    : undefined;
  return () => [
    ...(policies?.() ?? []),
    ...(proxy?.metrics() ?? []),
    ...(dns?.metrics() ?? []),
    ...(ingress?.() ?? []),
  ];
}
