// The network of an agent without API server: which parts run, and what is refused.
import { agentOptions } from "../../../cli/options/agent.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { localNetworkPlan } from "../../../cli/parts/network/local-network.ts";
import type { NetworkPlan } from "../../../cli/parts/network/network-plan.ts";

const plan = (...args: string[]): NetworkPlan | undefined =>
  localNetworkPlan(parseOptions(agentOptions, args), {
    nodeName: "n",
    nodeIPs: [],
    podRanges: ["10.42.0.0/24"],
  });

test("proxy and DNS by default, in the usual range", () => {
  expect(plan()).toMatchObject({
    proxy: true,
    policy: false,
    serviceRanges: ["10.43.0.0/16"],
    dns: { serviceAddress: "10.43.0.10", domain: "cluster.local" },
  });
  expect(plan("--service-cluster-ip-range=10.9.0.0/24")?.dns).toMatchObject({
    serviceAddress: "10.9.0.10",
  });
});

test("fewer by name, or none", () => {
  expect(plan("--node-network=proxy")?.dns).toBeUndefined();
  expect(plan("--node-network=dns")).toMatchObject({
    proxy: false,
    dns: { serviceAddress: undefined },
  });
  expect(plan("--node-network=")).toBeUndefined();
});

test.each(["network-policy", "routes", "load-balancer", "ingress"])(
  "%s is refused by name",
  (part) => {
    expect(() => plan(`--node-network=proxy,${part}`)).toThrow(
      `invalid argument "${part}" for "--node-network": it needs --kubeconfig or --server`,
    );
  },
);
