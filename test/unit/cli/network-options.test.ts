// What the options of `orbit server` say about its network.
import { loadBalancerPlan } from "../../../cli/cluster/load-balancer-plan.ts";
import {
  agentNetworkPlan,
  networkPlan,
} from "../../../cli/parts/network/network-plan.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
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

describe("--nodeport-addresses", () => {
  const ranges = (given: string, nodeIPs: readonly string[] = []) =>
    networkPlan(
      values(`--nodeport-addresses=${given}`),
      {
        values: values(),
        nodeName: "n",
        nodeIPs,
      },
      "10.43.0.10",
    )?.nodePortRanges;

  test.each([
    ["", []],
    ["192.0.2.0/24,fd00::/64", ["192.0.2.0/24", "fd00::/64"]],
    // The kernel takes no range within another one.
    [
      "10.1.0.0/16,10.0.0.0/8,10.2.3.4/32,192.0.2.1/32",
      ["10.0.0.0/8", "192.0.2.1/32"],
    ],
    ["10.0.0.0/8,10.0.0.0/8,10.9.9.9/8", ["10.0.0.0/8"]],
    ["0.0.0.0/0,10.0.0.0/8,fd00::/64", ["fd00::/64"]],
  ])("%s is %j", (given, expected) => expect(ranges(given)).toEqual(expected));

  test("primary is the node's own addresses", () => {
    expect(ranges("primary", ["fd00::1", "192.0.2.7", "192.0.2.8"])).toEqual([
      "192.0.2.7/32",
      "fd00::1/128",
    ]);
    for (const range of ranges("primary", ["0.0.0.0"])!)
      expect(range).toMatch(/\/(32|128)$/);
  });

  test.each([
    ["192.0.2.1", "must be a valid CIDR"],
    ["192.0.2.0/33", "must be a valid CIDR"],
    ["192.0.2.0/24,web", "must be a valid CIDR"],
    ["192.0.2.0/24/1", "must be a valid CIDR"],
    ["fe80::1%eth0/64", "must be a valid CIDR"],
    ["1.2.3.4/8;drop", "must be a valid CIDR"],
    ["primary,192.0.2.0/24", "can't use both 'primary' and CIDRs"],
  ])("%s is refused by name", (given, reason) =>
    expect(() => ranges(given)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          new RegExp(`for "--nodeport-addresses": ${reason}`),
        ) as string,
      }) as Error,
    ),
  );

  test("--masquerade-all is off unless given", () => {
    const plan = (...args: string[]) =>
      networkPlan(
        values(...args),
        {
          values: values(),
          nodeName: "n",
          nodeIPs: [],
        },
        "10.43.0.10",
      );
    expect(plan()?.masqueradeAll).toBe(false);
    expect(plan("--masquerade-all")?.masqueradeAll).toBe(true);
  });
});

describe("--node-network", () => {
  const plan = (joined: boolean, ...args: string[]) =>
    agentNetworkPlan(parseOptions(agentOptions, args), {
      nodeName: "n",
      nodeIPs: [],
      joined,
    });

  test("the ingress only by name: it reads all Secrets", () => {
    expect(plan(true)).toMatchObject({ proxy: true, policy: true });
    expect(plan(true)?.ingress).toBeUndefined();
    expect(plan(false)).toBeUndefined();
    expect(
      plan(false, "--node-network=ingress", "--ingress-http-port=8080"),
    ).toMatchObject({
      proxy: false,
      ingress: { httpPort: 8080, httpsPort: 443 },
    });
  });

  test("routes through WireGuard, with the port and keepalive that are given", () => {
    expect(plan(true, "--node-routes=wireguard")).toMatchObject({
      routes: "wireguard",
      wireguard: { port: 51820, keepaliveSeconds: 0 },
    });
    expect(
      plan(
        true,
        "--node-routes=wireguard",
        "--wireguard-port=4500",
        "--wireguard-keepalive=25",
      ),
    ).toMatchObject({ wireguard: { port: 4500, keepaliveSeconds: 25 } });
    expect(() => plan(true, "--wireguard-port=0")).toThrow(/--wireguard-port/);
  });

  test("a wrong value is refused whether the ingress runs or not", () =>
    expect(() => plan(true, "--ingress-bind-address=web")).toThrow(
      /--ingress-bind-address/,
    ));
});
