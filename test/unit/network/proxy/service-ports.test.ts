// What is read of a Service and its EndpointSlices: addresses in one form, and who may use a load balancer's.
import { IptablesRuleset } from "../../../../network/proxy/iptables-ruleset.ts";
import { portRules } from "../../../../network/proxy/rules.ts";
import { proxyPorts } from "../../../../network/proxy/service-ports.ts";
import { sourceRanges } from "../../../../network/proxy/source-ranges.ts";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import type { Service } from "../../../../api/types/core-v1.ts";

const node = { name: "node-1", addresses: ["192.0.2.1", "fd00::1"] };

function service(spec: Service["spec"], annotation?: string): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "web",
      namespace: "shop",
      ...(annotation === undefined
        ? {}
        : {
            annotations: {
              "service.beta.kubernetes.io/load-balancer-source-ranges":
                annotation,
            },
          }),
    },
    spec: {
      type: "LoadBalancer",
      clusterIPs: ["10.43.0.5", "fd43::5"],
      ports: [{ protocol: "TCP", port: 80 }],
      ...spec,
    },
    status: {
      loadBalancer: {
        ingress: [
          { ip: "198.51.100.7" },
          { ip: "2001:DB8:0::7" },
          { ip: "198.51.100.8", ipMode: "Proxy" },
        ],
      },
    },
  };
}

function slice(family: 4 | 6, ...addresses: string[]): EndpointSlice {
  return {
    metadata: { name: "s", namespace: "shop" },
    addressType: `IPv${family}`,
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ protocol: "TCP", port: 8080 }],
  } as never;
}

const read = (
  spec: Service["spec"],
  family: 4 | 6,
  ...slices: EndpointSlice[]
) => proxyPorts(service(spec), slices, node, family)[0]!;

test("addresses have one form each, and what is none is left out", () => {
  const four = read(
    { externalIPs: ["198.051.100.001", "198.51.100.1", "fe80::1%eth0"] },
    4,
    slice(4, "010.042.0.9", "10.42.0.9", "10.42.0.256", "fd42::1", "web.test"),
  );
  expect(four.cluster).toEqual([{ address: "10.42.0.9", port: 8080 }]);
  expect(four.externalIps).toEqual(["198.51.100.1"]);
  const six = read(
    { externalIPs: ["2001:db8::1", "2001:0DB8:0:0::1", "fe80::1%eth0"] },
    6,
    slice(6, "FD42:0::0001", "fd42::1", "fe80::1%eth0", "::ffff:zz"),
  );
  expect(six.cluster).toEqual([{ address: "fd42::1", port: 8080 }]);
  expect(six.externalIps).toEqual(["2001:db8::1"]);
});

test.each(["service-proxy-name", "headless"])(
  "a Service with the label %s is left to others",
  (label) => {
    const plain = service({});
    const labels = { [`service.kubernetes.io/${label}`]: "" };
    const labelled = { ...plain, metadata: { ...plain.metadata, labels } };
    expect(proxyPorts(plain, [], node, 4)).toHaveLength(1);
    expect(proxyPorts(labelled, [], node, 4)).toEqual([]);
  },
);

test("addresses of load balancers that pass connections on themselves have no rules", () => {
  expect(read({}, 4).loadBalancerIps).toEqual(["198.51.100.7"]);
  expect(read({}, 6).loadBalancerIps).toEqual(["2001:db8::7"]);
});

describe("source ranges", () => {
  const own = { node: ["192.0.2.1"], balancer: ["198.51.100.7"] };
  test.each<[string, string[], 4 | 6, readonly string[] | undefined]>([
    ["none: everybody", [], 4, undefined],
    ["as they are written", ["203.0.113.0/24"], 4, ["203.0.113.0/24"]],
    [
      "hosts' bits, spaces and leading zeros",
      [" 010.1.2.3/8 ", "203.0.113.9/32"],
      4,
      ["10.0.0.0/8", "203.0.113.9/32"],
    ],
    ["of the other family: everybody", ["fd00::/8"], 4, undefined],
    ["of both", ["fd00::/8", "10.0.0.0/8"], 6, ["fd00::/8"]],
    [
      "the node: its own connections come from the balancer's address",
      ["192.0.2.0/24"],
      4,
      ["192.0.2.0/24", "198.51.100.7/32"],
    ],
    [
      "what can't be read lets nobody in",
      ["10.0.0.0", "0.0.0.0/0; flush ruleset", "10.0.0.0/33"],
      4,
      [],
    ],
    ["what can't be read opens nothing", ["all", "fd00::/8"], 4, []],
  ])("%s", (_, loadBalancerSourceRanges, family, expected) =>
    expect(
      sourceRanges(service({ loadBalancerSourceRanges }), family, own),
    ).toEqual(expected),
  );

  test("of the annotation, where the field is empty", () => {
    const asked = (spec: Service["spec"], text: string) =>
      sourceRanges(service(spec, text), 4, own);
    expect(asked({}, "203.0.113.0/24, 10.0.0.0/8")).toEqual([
      "203.0.113.0/24",
      "10.0.0.0/8",
    ]);
    expect(asked({}, " ")).toBeUndefined();
    expect(
      asked({ loadBalancerSourceRanges: ["192.168.0.0/16"] }, "10.0.0.0/8"),
    ).toEqual(["192.168.0.0/16"]);
  });

  test("that let nobody in are rules that drop, in both modes", () => {
    const port = read(
      { loadBalancerSourceRanges: ["all"] },
      4,
      slice(4, "10.42.0.9"),
    );
    const { chains } = portRules(port, { podRanges: [] });
    expect(chains.get(`fw-${port.id}`)).toEqual(["drop"]);
    const rules = new IptablesRuleset({
      family: 4,
      name: "orbit-proxy",
      podRanges: [],
      serviceRanges: [],
      nodePortRanges: [],
      masqueradeAll: false,
    });
    rules.setPort(port.id, port);
    const script = rules.wholeScript().split("\n");
    const ofBalancer = script.filter((line) => line.includes("198.51.100.7"));
    expect(ofBalancer).toHaveLength(2);
    // To a chain that sends nobody on, and dropped then.
    const chain = /-j (\S+-F-\w+)$/.exec(ofBalancer[0]!)![1]!;
    expect(script.filter((line) => line.startsWith(`-A ${chain} `))).toEqual(
      [],
    );
    expect(ofBalancer[1]).toMatch(/-j DROP$/);
  });
});
