// What the options of `orbit server` say about its network.
import { loadBalancerPlan } from "../../../cli/cluster/load-balancer-plan.ts";
import { parseOptions, type OptionValues } from "../../../cli/options/parse.ts";
import { serverOptions } from "../../../cli/options/server.ts";

const values = (...args: string[]): OptionValues =>
  parseOptions(serverOptions, args);

describe("--load-balancer-cidr", () => {
  test.each([
    [[], [], true],
    [["192.0.2.0/28,fd00:2::/112"], ["192.0.2.0/28", "fd00:2::/112"], true],
    [["192.0.2.0/28"], ["192.0.2.0/28"], false],
  ] as const)("%j is the pool %j, with nodes: %s", (given, ranges, nodes) => {
    const args = given.map((each) => `--load-balancer-cidr=${each}`);
    expect(
      loadBalancerPlan(values(...args), nodes ? [6443] : undefined),
    ).toEqual({ ranges, reservedPorts: nodes ? [6443] : [] });
  });

  test("no controller without pool and nodes, and when it is left out", () => {
    expect(loadBalancerPlan(values(), undefined)).toBeUndefined();
    const args = ["--disable=load-balancer", "--load-balancer-cidr=1.2.3.0/24"];
    expect(loadBalancerPlan(values(...args), [6443])).toBeUndefined();
  });

  test.each([
    ["192.0.2.1", /"192.0.2.1" for "--load-balancer-cidr": must be a range/],
    ["192.0.2.0/28,web", /"web" for "--load-balancer-cidr": must be a range/],
    ["127.0.0.0/28", /mean the same everywhere/],
    ["fe80::/64", /mean the same everywhere/],
    ["10.42.7.0/24", /overlaps with --cluster-cidr 10.42.0.0\/16/],
    ["10.0.0.0/8", /overlaps with --cluster-cidr/],
    ["10.43.9.0/28", /overlaps with --service-cluster-ip-range 10.43.0.0\/16/],
  ])("%s is refused", (given, message) => {
    expect(() =>
      loadBalancerPlan(values(`--load-balancer-cidr=${given}`), [6443]),
    ).toThrow(message);
  });
});
