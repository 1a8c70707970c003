// What the service proxy does in the kernel, the same for each of its modes: Services of an API server, pods and clients in network namespaces, real connections.
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { ServiceSpec } from "../../../api/types/core-v1.ts";
import {
  endpointSlices,
  namespaces,
  nodes,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { ServiceProxy } from "../../../network/proxy/proxy.ts";
import { eventually } from "../../support/eventually.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";

/** A mode of the proxy, and what others do to its rules. */
export interface KernelRules {
  readonly options: {
    mode: "nftables" | "iptables";
    iptables?: string;
    lookMs?: number;
  };
  addForeign(node: Machine): void;
  removeOurs(node: Machine): void;
  flushAll(node: Machine): void;
  flushServices(node: Machine): void;
  listed(node: Machine): string;
}

export function testServiceProxy(kernel: KernelRules): void {
  const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
  const network = new NetworkMachines();
  let cluster: Cluster;
  let proxy: ServiceProxy;
  let node: Machine;
  let a: Machine;
  let b: Machine;
  let outside: Machine;

  const tableName = "orbit-proxy";
  const addresses = { a: "10.42.0.2", b: "10.42.0.3" };
  const nodeAddress = "192.0.2.1";

  beforeAll(async () => {
    node = network.node("node");
    outside = network.neighbour(node, "out", {
      own: "192.0.2.2",
      nodes: nodeAddress,
    });
    a = network.pod(node, "a", [addresses.a, "fd42::2"]);
    b = network.pod(node, "b", [addresses.b, "fd42::3"]);
    for (const pod of [a, b])
      for (const protocol of ["tcp", "udp"] as const)
        await pod.serve(protocol, 8080);
    cluster = await startCluster({
      controllers: false,
      scheduler: false,
      args: ["--service-cluster-ip-range=10.43.0.0/16,fd43::/112"],
    });
    const { client } = cluster;
    await client.resource(namespaces).create({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "shop" },
      spec: {},
    });
    await client.resource(nodes).create({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "node-1",
        labels: { "topology.kubernetes.io/zone": "z1" },
      },
      spec: {},
    });
    proxy = new ServiceProxy({
      client,
      nodeName: "node-1",
      tableName,
      ...kernel.options,
      podRanges: ["10.42.0.0/16", "fd42::/64"],
      serviceRanges: ["10.43.0.0/16", "fd43::/112"],
      nodePortRanges: [],
      masqueradeAll: false,
      wrapper: ["ip", "netns", "exec", node.namespace],
      clock: systemClock,
      logger,
    });
    await proxy.start();
  });

  afterAll(async () => {
    await proxy?.stop();
    await cluster?.stop();
    network.stop();
  });

  let count = 0;

  interface Made {
    name: string;
    ip: string;
    ips: readonly string[];
    nodePorts: Record<string, number>;
  }

  /** A Service with a TCP and a UDP port 80, and endpoints on the pods named. */
  async function service(
    pods: readonly ("a" | "b")[],
    spec: Partial<ServiceSpec> = {},
    endpoint: (pod: "a" | "b") => object = () => ({ nodeName: "node-1" }),
  ): Promise<Made> {
    const name = `s${++count}`;
    const { client } = cluster;
    const made = await client.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop" },
      spec: {
        ports: [
          { name: "t", protocol: "TCP", port: 80, targetPort: 8080 },
          { name: "u", protocol: "UDP", port: 80, targetPort: 8080 },
        ],
        ...spec,
      },
    });
    await setEndpoints(name, pods, endpoint);
    await settled();
    return {
      name,
      ip: made.spec?.clusterIP ?? "",
      ips: made.spec?.clusterIPs ?? [],
      nodePorts: Object.fromEntries(
        (made.spec?.ports ?? []).map((port) => [
          port.name!,
          port.nodePort ?? 0,
        ]),
      ),
    };
  }

  async function setEndpoints(
    name: string,
    pods: readonly ("a" | "b")[],
    endpoint: (pod: "a" | "b") => object = () => ({ nodeName: "node-1" }),
  ): Promise<void> {
    const slices = cluster.client.resource(endpointSlices);
    for (const family of [4, 6]) {
      const slice = {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: {
          name: `${name}-${family}`,
          namespace: "shop",
          labels: { "kubernetes.io/service-name": name },
        },
        addressType: `IPv${family}`,
        endpoints: pods.map((pod) => ({
          addresses: [
            family === 4 ? addresses[pod] : `fd42::${pod === "a" ? 2 : 3}`,
          ],
          ...endpoint(pod),
        })),
        ports: [
          { name: "t", protocol: "TCP", port: 8080 },
          { name: "u", protocol: "UDP", port: 8080 },
        ],
      };
      await slices.delete(slice.metadata.name, "shop").catch(() => undefined);
      await slices.create(slice);
    }
  }

  /** The kernel has all that the API server acknowledged: a last Service has come by, and the rules are written. */
  async function settled(): Promise<void> {
    const name = `marker-${++count}`;
    const { client } = cluster;
    await client.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop" },
      spec: { clusterIP: "None" },
    });
    await eventually(() => client.informer(services).lister.get(name, "shop"));
    await eventually(() => proxy.inStep);
  }

  const both = ["tcp", "udp"] as const;
  const refused = "ECONNREFUSED";

  describe.each(both)("%s", (protocol) => {
    const to = (
      host: string,
      port = 80,
    ): { protocol: typeof protocol; host: string; port: number } => ({
      protocol,
      host,
      port,
    });

    test("a cluster address, from a pod, the node and outside", async () => {
      const { ip } = await service(["a"]);
      await expect(b.connect(to(ip))).resolves.toBe(`a ${addresses.b}`);
      await expect(node.connect(to(ip))).resolves.toMatch(/^a /);
      await expect(outside.connect(to(ip))).resolves.toMatch(
        /^a (169\.254|192\.0\.2\.1)/,
      );
    });

    test("a pod reaches itself through its Service", async () => {
      const { ip } = await service(["a"]);
      await expect(a.connect(to(ip))).resolves.toMatch(/^a (?!10\.42\.0\.2)/);
    });

    test("IPv6", async () => {
      const { ips } = await service(["a"], {
        ipFamilyPolicy: "RequireDualStack",
        ipFamilies: ["IPv4", "IPv6"],
      });
      await expect(b.connect(to(ips[1]!))).resolves.toBe("a fd42::3");
      await expect(b.connect(to(ips[0]!))).resolves.toBe(`a ${addresses.b}`);
    });

    test("connections spread over all endpoints", async () => {
      const { ip } = await service(["a", "b"]);
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => outside.connect(to(ip))),
      );
      expect(new Set(answers.map((each) => each[0]))).toEqual(
        new Set(["a", "b"]),
      );
    });

    test("a client stays where it went, with affinity", async () => {
      const { ip } = await service(["a", "b"], { sessionAffinity: "ClientIP" });
      const answers = [];
      for (let n = 0; n < 12; n++) answers.push(await b.connect(to(ip)));
      expect(new Set(answers.map((each) => each[0])).size).toBe(1);
    });

    test("no endpoints: refused at once, and served when there is one", async () => {
      const made = await service([]);
      await expect(b.connect(to(made.ip))).resolves.toBe(refused);
      await expect(node.connect(to(made.ip))).resolves.toBe(refused);
      await setEndpoints(made.name, ["a"]);
      await settled();
      await expect(b.connect(to(made.ip))).resolves.toMatch(/^a /);
      await setEndpoints(made.name, []);
      await settled();
      await expect(b.connect(to(made.ip))).resolves.toBe(refused);
    });

    test("a node port, on every address of the node and loopback", async () => {
      const { nodePorts, ip } = await service(["a"], { type: "NodePort" });
      const port = nodePorts[protocol === "tcp" ? "t" : "u"]!;
      await expect(outside.connect(to(nodeAddress, port))).resolves.toMatch(
        /^a (?!192\.0\.2\.2)/,
      );
      await expect(b.connect(to(nodeAddress, port))).resolves.toMatch(/^a /);
      await expect(node.connect(to(nodeAddress, port))).resolves.toMatch(/^a /);
      await expect(b.connect(to(ip))).resolves.toMatch(/^a /);
      await expect(node.connect(to("127.0.0.1", port))).resolves.toMatch(/^a /);
      // Loopback is nobody else's: a neighbour that sends to it gets nothing.
      outside.run(
        "ip",
        "route",
        "replace",
        "127.0.0.9",
        "via",
        nodeAddress,
        "src",
        "192.0.2.2",
      );
      await expect(
        outside.connect({
          ...to("127.0.0.9", port),
          from: "192.0.2.2",
          waitMs: 300,
        }),
      ).resolves.not.toMatch(/^a/);
    });

    test("an external policy of Local keeps the client's address, and drops without a local endpoint", async () => {
      const here = await service(["a"], {
        type: "NodePort",
        externalTrafficPolicy: "Local",
      });
      const port = here.nodePorts[protocol === "tcp" ? "t" : "u"]!;
      await expect(outside.connect(to(nodeAddress, port))).resolves.toBe(
        "a 192.0.2.2",
      );
      const away = await service(
        ["a"],
        { type: "NodePort", externalTrafficPolicy: "Local" },
        () => ({ nodeName: "node-2" }),
      );
      const other = away.nodePorts[protocol === "tcp" ? "t" : "u"]!;
      await expect(
        outside.connect({ ...to(nodeAddress, other), waitMs: 300 }),
      ).resolves.toBe("timeout");
      // Pods are inside of the cluster: the policy is not for them.
      await expect(b.connect(to(nodeAddress, other))).resolves.toMatch(/^a /);
    });

    test("an internal policy of Local", async () => {
      const here = await service(
        ["a", "b"],
        { internalTrafficPolicy: "Local" },
        (pod) => ({ nodeName: pod === "a" ? "node-1" : "node-2" }),
      );
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => b.connect(to(here.ip))),
      );
      expect(new Set(answers.map((each) => each[0]))).toEqual(new Set(["a"]));
      const away = await service(
        ["a"],
        { internalTrafficPolicy: "Local" },
        () => ({ nodeName: "node-2" }),
      );
      await expect(b.connect({ ...to(away.ip), waitMs: 300 })).resolves.toBe(
        "timeout",
      );
    });

    test("an external address, and a load balancer's with its source ranges", async () => {
      const [first, second] =
        protocol === "tcp"
          ? ["198.51.100.1", "198.51.100.2"]
          : ["198.51.100.3", "198.51.100.4"];
      const external = await service(["a"], { externalIPs: [first!] });
      expect(external.ip).not.toBe("");
      await expect(outside.connect(to(first!))).resolves.toMatch(/^a /);
      const made = await service(["b"], {
        type: "LoadBalancer",
        loadBalancerSourceRanges: ["203.0.113.0/24"],
      });
      const set = (ip: string): Promise<unknown> =>
        cluster.client.resource(services).patch(
          made.name,
          "shop",
          {
            type: "merge",
            body: { status: { loadBalancer: { ingress: [{ ip }] } } },
          },
          { subresource: "status" },
        );
      await set(second!);
      await settled();
      await expect(
        outside.connect({ ...to(second!), waitMs: 300 }),
      ).resolves.toBe("timeout");
      await cluster.client.resource(services).patch(made.name, "shop", {
        type: "merge",
        body: { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } },
      });
      await settled();
      await expect(outside.connect(to(second!))).resolves.toMatch(/^b /);
    });

    test("endpoints that end serve while no other does; hints keep to the zone", async () => {
      const ending = await service(["a", "b"], {}, (pod) => ({
        nodeName: "node-1",
        conditions:
          pod === "a"
            ? { ready: false, serving: true, terminating: true }
            : { ready: false, serving: false, terminating: true },
      }));
      await expect(outside.connect(to(ending.ip))).resolves.toMatch(/^a /);
      const near = await service(["a", "b"], {}, (pod) => ({
        nodeName: "node-1",
        conditions: { ready: true },
        hints: { forZones: [{ name: pod === "a" ? "z1" : "z2" }] },
      }));
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => outside.connect(to(near.ip))),
      );
      expect(new Set(answers.map((each) => each[0]))).toEqual(new Set(["a"]));
    });

    test("an address of the range that no Service has is refused", async () => {
      await expect(b.connect(to("10.43.255.254"))).resolves.toBe(refused);
    });
  });

  test("a UDP client that goes on from one port is served by the next endpoint", async () => {
    const made = await service(["a"]);
    const target = {
      protocol: "udp" as const,
      host: made.ip,
      port: 80,
      from: "192.0.2.2",
      fromPort: 40_001,
    };
    await expect(outside.connect(target)).resolves.toMatch(/^a /);
    await setEndpoints(made.name, ["b"]);
    await settled();
    await eventually(async () =>
      (await outside.connect({ ...target, waitMs: 300 })).startsWith("b"),
    );
  });

  test("addresses in other spellings, and what is no address, keep nobody's rules from the kernel", async () => {
    const ours = (ips: readonly string[]): Partial<ServiceSpec> => ({
      ipFamilyPolicy: "RequireDualStack",
      ipFamilies: ["IPv4", "IPv6"],
      externalIPs: ips as string[],
    });
    const odd = await service(["a"], ours(["2001:db8:77::1"]));
    await service(["b"], ours(["2001:0DB8:77:0::1"]));
    const slices = cluster.client.resource(endpointSlices);
    for (const [n, address] of ["010.042.0.2", "10.42.0.2"].entries())
      await slices.create({
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: {
          name: `${odd.name}-odd-${n}`,
          namespace: "shop",
          labels: { "kubernetes.io/service-name": odd.name },
        },
        addressType: "IPv4",
        endpoints: [{ addresses: [address] }],
        ports: [{ name: "t", protocol: "TCP", port: 8080 }],
      });
    const { ip } = await service(["b"]);
    const to = (host: string) => ({ protocol: "tcp" as const, host, port: 80 });
    await expect(a.connect(to(ip))).resolves.toMatch(/^b /);
    await expect(b.connect(to(odd.ip))).resolves.toMatch(/^a /);
    await expect(b.connect(to("2001:db8:77::1"))).resolves.toMatch(/^a /);
  });

  test("others' rules stay, and ours come back after a flush", async () => {
    const { ip } = await service(["a"]);
    kernel.addForeign(node);
    kernel.removeOurs(node);
    await eventually(async () =>
      (
        await b.connect({ protocol: "tcp", host: ip, port: 80, waitMs: 300 })
      ).startsWith("a"),
    );
    kernel.flushAll(node);
    await eventually(async () =>
      (
        await b.connect({ protocol: "tcp", host: ip, port: 80, waitMs: 300 })
      ).startsWith("a"),
    );
    kernel.addForeign(node);
    kernel.flushServices(node);
    await eventually(async () =>
      (
        await b.connect({ protocol: "tcp", host: ip, port: 80, waitMs: 300 })
      ).startsWith("a"),
    );
    await service(["b"]);
    expect(kernel.listed(node)).toContain("somebody");
  });

  test("a change of endpoints is measured until it is in the kernel", async () => {
    const programmed = (): string =>
      metricsText(proxy.metrics.families())
        .split("\n")
        .find((line) => line.includes("programming_duration_seconds_count"))!;
    expect(programmed()).toMatch(/ 0$/);
    const { name, ip } = await service([]);
    const slices = cluster.client.resource(endpointSlices);
    const slice = await slices.get(`${name}-4`, "shop");
    await slices.update({
      ...slice,
      metadata: {
        ...slice.metadata,
        annotations: {
          "endpoints.kubernetes.io/last-change-trigger-time":
            new Date().toISOString(),
        },
      },
      endpoints: [{ addresses: [addresses.a], nodeName: "node-1" }],
    });
    await eventually(() => programmed().endsWith(" 1"));
    await expect(
      b.connect({ protocol: "tcp", host: ip, port: 80 }),
    ).resolves.toMatch(/^a /);
  });

  test("node ports on some addresses alone, and all connections from the node's address", async () => {
    const other = network.node("node2");
    const pods = ["c", "d"].map((name, n) =>
      network.pod(other, name, [n === 0 ? addresses.a : addresses.b]),
    );
    await pods[0]!.serve("tcp", 8080);
    const far = network.neighbour(other, "out2", {
      own: "192.0.2.2",
      nodes: nodeAddress,
    });
    const limited = new ServiceProxy({
      client: cluster.client,
      nodeName: "node-1",
      tableName,
      ...kernel.options,
      podRanges: ["10.42.0.0/16", "fd42::/64"],
      serviceRanges: ["10.43.0.0/16", "fd43::/112"],
      nodePortRanges: ["192.0.2.0/24", "198.51.100.7/16"],
      masqueradeAll: true,
      wrapper: ["ip", "netns", "exec", other.namespace],
      clock: systemClock,
      logger,
    });
    try {
      await limited.start();
      const { ip, nodePorts } = await service(["a"], { type: "NodePort" });
      await eventually(() => limited.inStep);
      const to = (host: string, port: number) => ({
        protocol: "tcp" as const,
        host,
        port,
      });
      await expect(far.connect(to(nodeAddress, nodePorts.t!))).resolves.toMatch(
        /^c /,
      );
      await expect(
        other.connect(to(nodeAddress, nodePorts.t!)),
      ).resolves.toMatch(/^c /);
      await expect(other.connect(to("127.0.0.1", nodePorts.t!))).resolves.toBe(
        refused,
      );
      await expect(pods[1]!.connect(to(ip, 80))).resolves.toMatch(
        /^c (?!10\.42\.0\.3)/,
      );
    } finally {
      await limited.stop();
    }
  });
}
