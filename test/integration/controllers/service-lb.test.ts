// The load balancer controller on the real API server: Services get addresses, keep them over restarts, and give them back.
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { Service, ServiceSpec } from "../../../api/types/core-v1.ts";
import { events, nodes, services } from "../../../client/resources.ts";
import {
  createControllerManager,
  type ControllerManager,
} from "../../../controllers/manager.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { passes, testNode } from "../../support/control-plane.ts";

const logger = pino({ level: "silent" });
const finalizer = "service.kubernetes.io/load-balancer-cleanup";
let cluster: Cluster;
let manager: ControllerManager | undefined;
let count = 0;

beforeAll(async () => {
  cluster = await startCluster({
    controllers: false,
    scheduler: false,
    args: ["--service-cluster-ip-range=10.43.0.0/16,fd43::/112"],
  });
});
afterAll(() => cluster?.stop());
afterEach(async () => {
  await manager?.stop();
  manager = undefined;
  const client = cluster.client.resource(services);
  const { items } = await client.list({ namespace: "default" });
  for (const { metadata } of items) {
    if (metadata.name === "kubernetes") continue;
    await client.patch(metadata.name, "default", {
      type: "merge",
      body: { metadata: { finalizers: null } },
    });
    await client.delete(metadata.name, "default").catch(() => undefined);
  }
});

async function control(...ranges: string[]): Promise<void> {
  await manager?.stop();
  manager = createControllerManager({
    client: cluster.client,
    clock: systemClock,
    logger,
    options: {
      controllers: ["service-lb-controller"],
      loadBalancer: { ranges, reservedPorts: [6443] },
    },
  });
  await manager.start();
}

async function create(spec: Partial<ServiceSpec> = {}): Promise<string> {
  const name = `s${++count}`;
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec },
  });
  return name;
}

const get = (name: string): Promise<Service> =>
  cluster.client.resource(services).get(name, "default");

async function addresses(name: string): Promise<string[]> {
  const { status } = await get(name);
  return (status?.loadBalancer?.ingress ?? []).map(
    ({ ip, ipMode }) => `${ip} ${ipMode}`,
  );
}

async function change(name: string, spec: object): Promise<void> {
  await cluster.client
    .resource(services)
    .patch(name, "default", { type: "merge", body: { spec } });
}

async function reasons(name: string): Promise<string[]> {
  const { items } = await cluster.client
    .resource(events)
    .list({ namespace: "default" });
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason ?? "");
}

const has = (name: string, ...expected: string[]) =>
  passes(async () =>
    expect(await addresses(name)).toEqual(
      expected.map((address) => `${address} VIP`),
    ),
  );

describe("the nodes' addresses", () => {
  const node = (name: string, ready: string, ...ips: string[]) => ({
    apiVersion: "v1",
    kind: "Node",
    ...testNode(name, {
      status: {
        conditions: [{ type: "Ready", status: ready }],
        addresses: ips.map((address) => ({ type: "InternalIP", address })),
      },
    }),
  });
  afterEach(async () => {
    const { items } = await cluster.client.resource(nodes).list();
    for (const { metadata } of items)
      await cluster.client.resource(nodes).delete(metadata.name);
  });

  test("are those of ready nodes, and follow them", async () => {
    const client = cluster.client.resource(nodes);
    await control();
    const name = await create({ ipFamilyPolicy: "PreferDualStack" });
    await passes(async () =>
      expect(await reasons(name)).toContain("UnAvailableLoadBalancer"),
    );
    await client.create(node("n1", "True", "192.0.2.1", "fd00::1"));
    await has(name, "192.0.2.1", "fd00::1");
    expect((await get(name)).metadata.finalizers).toEqual([finalizer]);
    await client.create(node("n2", "False", "192.0.2.2"));
    const { metadata } = await client.get("n2");
    await client.updateStatus({ ...node("n2", "True", "192.0.2.2"), metadata });
    await has(name, "192.0.2.1", "192.0.2.2", "fd00::1");
    await client.delete("n1");
    await has(name, "192.0.2.2");
    await passes(async () =>
      expect(await reasons(name)).toEqual(
        expect.arrayContaining([
          "EnsuringLoadBalancer",
          "EnsuredLoadBalancer",
          "UpdatedLoadBalancer",
        ]),
      ),
    );
    await cluster.client.resource(services).delete(name, "default");
    await passes(() => expect(get(name)).rejects.toMatchObject({ code: 404 }));
    await passes(async () =>
      expect(await reasons(name)).toEqual(
        expect.arrayContaining(["DeletingLoadBalancer", "DeletedLoadBalancer"]),
      ),
    );
  });

  test("have one Service for each port; the next one waits", async () => {
    await cluster.client
      .resource(nodes)
      .create(node("n1", "True", "192.0.2.1"));
    await control();
    const first = await create();
    await has(first, "192.0.2.1");
    const second = await create();
    const third = await create({ ports: [{ port: 6443 }] });
    for (const name of [second, third]) {
      await passes(async () =>
        expect(await reasons(name)).toContain("SyncLoadBalancerFailed"),
      );
      await has(name);
    }
    await change(first, { ports: [{ port: 81 }] });
    await has(second, "192.0.2.1");
    await has(first, "192.0.2.1");
  });
});

describe("a pool", () => {
  test("gives each Service one, over restarts, and again when one is gone", async () => {
    await control("192.0.2.0/30", "fd00::/120");
    const a = await create();
    await has(a, "192.0.2.1");
    const b = await create({ ipFamilyPolicy: "RequireDualStack" });
    await has(b, "192.0.2.2", "fd00::1");
    const c = await create();
    await passes(async () =>
      expect(await reasons(c)).toContain("SyncLoadBalancerFailed"),
    );
    await control("192.0.2.0/30", "fd00::/120");
    await has(a, "192.0.2.1");
    await has(b, "192.0.2.2", "fd00::1");
    await has(c);
    await cluster.client.resource(services).delete(a, "default");
    await has(c, "192.0.2.1");
    // By age b would now get the first one: only its status says which it had.
    await control("192.0.2.0/30", "fd00::/120");
    const d = await create();
    await passes(async () =>
      expect(await reasons(d)).toContain("SyncLoadBalancerFailed"),
    );
    await has(b, "192.0.2.2", "fd00::1");
    await has(c, "192.0.2.1");
  });

  test("respects loadBalancerIP", async () => {
    await control("192.0.2.0/28");
    const a = await create({ loadBalancerIP: "192.0.2.9" });
    await has(a, "192.0.2.9");
    const b = await create({ loadBalancerIP: "192.0.2.9" });
    await passes(async () =>
      expect(await reasons(b)).toContain("SyncLoadBalancerFailed"),
    );
    await has(b);
    await change(a, { loadBalancerIP: "192.0.2.8" });
    await has(a, "192.0.2.8");
    await has(b, "192.0.2.9");
  });

  test("clears the status when the type changes, and gives the address to another", async () => {
    await control("192.0.2.5/32");
    const a = await create();
    await has(a, "192.0.2.5");
    const b = await create();
    await change(a, { type: "ClusterIP" });
    await has(b, "192.0.2.5");
    await passes(async () => {
      const { status, metadata } = await get(a);
      expect(status).toEqual({ loadBalancer: {} });
      expect(metadata.finalizers).toBeUndefined();
    });
  });

  test("leaves other classes alone", async () => {
    await control("192.0.2.0/28");
    const other = await create({ loadBalancerClass: "example.org/other" });
    const own = await create({ loadBalancerClass: "orbit.io/node" });
    await has(own, "192.0.2.1");
    const { metadata, status } = await get(other);
    expect(metadata.finalizers).toBeUndefined();
    expect(status).toEqual({ loadBalancer: {} });
    expect(await reasons(other)).toEqual([]);
  });
});
