// The whole texts of the service rules, in both modes and both address families, for Services of every type and policy: what
// a change does to the kernel is seen as a difference of these texts.
import { IptablesRuleset } from "../../../../network/proxy/iptables-ruleset.ts";
import type { TableOptions } from "../../../../network/proxy/rule-table.ts";
import { Ruleset } from "../../../../network/proxy/ruleset.ts";
import { proxyPorts } from "../../../../network/proxy/service-ports.ts";
import type { ServiceSpec } from "../../../../api/types/core-v1.ts";

const node = { name: "node-1", zone: "z1" };

const shapes: Readonly<Record<string, Partial<ServiceSpec>>> = {
  "cluster-ip": {},
  affinity: {
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
  },
  "internal-local": { internalTrafficPolicy: "Local" },
  "node-port": { type: "NodePort" },
  "external-local": { type: "NodePort", externalTrafficPolicy: "Local" },
  "external-ips": { externalIPs: ["198.51.100.1", "2001:db8::1"] },
  "load-balancer": {
    type: "LoadBalancer",
    loadBalancerSourceRanges: ["203.0.113.0/24", "2001:db8:1::/48"],
  },
};

function options(family: 4 | 6): TableOptions {
  return {
    family,
    name: "orbit-proxy",
    podRanges: family === 4 ? ["10.42.0.0/16"] : ["fd42::/64"],
    serviceRanges: family === 4 ? ["10.43.0.0/16"] : ["fd43::/112"],
    nodePortRanges: [],
    masqueradeAll: false,
  };
}

function ports(
  name: string,
  spec: Partial<ServiceSpec>,
  family: 4 | 6,
  endpoints: readonly string[] = [node.name, "node-2"],
  protocols: readonly ("TCP" | "UDP" | "SCTP")[] = ["TCP"],
) {
  const ips = ["10.43.0.5", "fd43::5"];
  return proxyPorts(
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop" },
      spec: {
        clusterIP: ips[0]!,
        clusterIPs: ips,
        ports: protocols.map((protocol) => ({
          name: protocol.toLowerCase(),
          protocol,
          port: 80,
          targetPort: 8080,
          ...(spec.type ? { nodePort: 30_080 } : {}),
        })),
        ...spec,
      },
      status: {
        loadBalancer: {
          ingress: [{ ip: "192.0.2.9" }, { ip: "2001:db8::9" }],
        },
      },
    },
    [
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name, namespace: "shop" },
        addressType: family === 4 ? "IPv4" : "IPv6",
        endpoints: endpoints.map((nodeName, n) => ({
          addresses: [family === 4 ? `10.42.0.${n + 2}` : `fd42::${n + 2}`],
          nodeName,
        })),
        ports: protocols.map((protocol) => ({
          name: protocol.toLowerCase(),
          protocol,
          port: 8080,
        })),
      },
    ],
    node,
    family,
  );
}

describe.each([
  ["nftables", (given: TableOptions) => new Ruleset(given)],
  ["iptables", (given: TableOptions) => new IptablesRuleset(given)],
] as const)("%s", (_, create) => {
  const whole = (given: TableOptions, shape?: string) => {
    const rules = create(given);
    for (const port of shape === undefined
      ? []
      : ports(shape, shapes[shape]!, given.family))
      rules.setPort(port.id, port);
    return rules.wholeScript();
  };

  test.each([4, 6] as const)("nothing but what is always there: %s", (family) =>
    expect(whole(options(family))).toMatchSnapshot(),
  );

  test("other settings", () =>
    expect(
      whole({
        ...options(4),
        podRanges: [],
        podInterface: "veth*",
        nodePortRanges: ["192.0.2.0/24"],
        masqueradeBit: 5,
        loopbackNodePorts: false,
      }),
    ).toMatchSnapshot());

  const comes = (shape: string, endpoints?: string[]): string => {
    const rules = create(options(4));
    rules.wholeScript();
    for (const port of ports(shape, shapes[shape]!, 4, endpoints))
      rules.setPort(port.id, port);
    return rules.changeScript();
  };

  test.each(Object.keys(shapes))("a Service of shape %s comes", (shape) => {
    expect(comes(shape)).toMatchSnapshot();
    expect(comes(shape, [])).toMatchSnapshot("no endpoints");
    expect(comes(shape, ["node-2"])).toMatchSnapshot("endpoints elsewhere");
  });

  test("the same for each protocol", () => {
    const texts = (["TCP", "UDP", "SCTP"] as const).map((protocol) => {
      const rules = create(options(4));
      const [port] = ports("web", shapes["affinity"]!, 4, undefined, [
        protocol,
      ]);
      rules.setPort("x", { ...port!, id: "x" });
      return rules
        .wholeScript()
        .replaceAll(`web:${protocol.toLowerCase()}`, "web:p")
        .replaceAll(new RegExp(`\\b${protocol}\\b`, "gi"), "p");
    });
    expect(new Set(texts).size).toBe(1);
  });

  test.each(Object.keys(shapes))("%s in IPv6", (shape) => {
    const script = whole(options(6), shape);
    expect(script).not.toMatch(/\b\d+\.\d+\.\d+\.\d+/);
    expect(script).toMatch(/fd42::2\]?(?::| \. )8080/);
  });
});

describe("changes in iptables", () => {
  let rules: IptablesRuleset;
  beforeEach(() => {
    rules = new IptablesRuleset(options(4));
    rules.wholeScript();
  });
  const change = (spec: Partial<ServiceSpec>, endpoints: string[]): string => {
    for (const port of ports("web", spec, 4, endpoints).slice(0, 1))
      rules.setPort(port.id, port);
    return rules.changeScript();
  };

  test("a Service comes, changes and goes", () => {
    expect(change({}, ["node-1"])).toMatchSnapshot("it comes");
    expect(change({}, ["node-1"])).toBe("");
    expect(change({}, ["node-1", "node-2"])).toMatchSnapshot(
      "another endpoint: the list of services stays",
    );
    expect(change({}, [])).toMatchSnapshot("no endpoint is left");
    const [port] = ports("web", {}, 4);
    rules.setPort(port!.id, undefined);
    expect(rules.changeScript()).toMatchSnapshot("it goes");
  });

  test("no name of a chain is longer than the kernel takes", () => {
    for (const shape of Object.values(shapes))
      for (const port of ports("web", shape, 4)) rules.setPort(port.id, port);
    for (const [, name] of rules.wholeScript().matchAll(/^:(\S+)/gm))
      expect(name!.length).toBeLessThanOrEqual(28);
  });
});
