import { metricsText } from "../../../../api/metrics/family.ts";
import { allocatorFamilies } from "../../../../apiserver-lite/resources/core/service/allocator-metrics.ts";
import type { ApiError } from "../../../../api/errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Service, ServiceSpec } from "../../../../api/types/core-v1.ts";
import {
  adoptServices,
  createServiceAllocators,
  IpAllocator,
  PortAllocator,
} from "../../../../apiserver-lite/resources/core/service/service-ip-allocator.ts";
import { createServiceStrategy } from "../../../../apiserver-lite/resources/core/service/service.ts";
import { strategyContext, withDefaults } from "./strategy-context.ts";

const allocators = () =>
  createServiceAllocators({
    serviceCidrs: ["10.96.0.0/24"],
    nodePorts: { from: 30000, to: 30063 },
    random: () => 0,
  });

function service(spec: Partial<ServiceSpec> = {}, name = "s"): AnyObject {
  return withDefaults({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports: [{ port: 80 }], selector: { app: "x" }, ...spec },
  } as unknown as AnyObject);
}
const specOf = (object: AnyObject): ServiceSpec =>
  (object as unknown as Service).spec!;

describe("allocators", () => {
  test("low band last, ends never", () => {
    const ips = new IpAllocator("10.0.0.0/27", () => 0);
    const taken = Array.from({ length: 30 }, () => ips.takeAny("o"));
    expect(taken[0]).toBe("10.0.0.17");
    expect(new Set(taken).size).toBe(30);
    expect(taken).not.toContain("10.0.0.0");
    expect(taken).not.toContain("10.0.0.31");
    expect(ips.takeAny("o")).toBeUndefined();
    ips.release("10.0.0.5", "someone else");
    expect(ips.takeAny("o")).toBeUndefined();
    ips.release("10.0.0.5", "o");
    expect(ips.takeAny("o")).toBe("10.0.0.5");
  });
  test.each([
    [
      "10.1.0.1",
      "not in the valid range. The range of valid IPs is 10.0.0.0/24",
    ],
    ["::1", "not in the valid range"],
    ["rubbish", "not in the valid range"],
  ])("%s is refused", (ip, text) =>
    expect(new IpAllocator("10.0.0.0/24").take(ip, "o")).toContain(text),
  );
  test("IPv6", () =>
    expect(new IpAllocator("fd00::/112", () => 0).takeAny("o")).toBe(
      "fd00::101",
    ));
  test("ports", () => {
    const ports = new PortAllocator(30000, 30001, () => 0);
    expect(ports.take(80, "a")).toBe(
      "provided port is not in the valid range. The range of valid ports is 30000-30001",
    );
    expect(ports.take(30000, "a")).toBeUndefined();
    expect(ports.take(30000, "b")).toBe("provided port is already allocated");
    expect(ports.takeAny("b")).toBe(30001);
    expect(ports.takeAny("b")).toBeUndefined();
  });
});

test("create assigns, delete gives back", async () => {
  const pool = allocators();
  const strategy = createServiceStrategy(pool);
  const object = service({ type: "NodePort" });
  await strategy.prepareForCreate!(object, strategyContext());
  expect(specOf(object)).toMatchObject({
    clusterIP: "10.96.0.17",
    clusterIPs: ["10.96.0.17"],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    ports: [{ port: 80, nodePort: 30016 }],
  });
  expect(strategy.validate!(object, strategyContext())).toEqual([]);
  expect([pool.ips[0]!.used, pool.ports.used]).toEqual([1, 1]);
  await strategy.afterDelete!(object, strategyContext());
  expect([pool.ips[0]!.used, pool.ports.used]).toEqual([0, 0]);
});

test("one number serves two protocols", async () => {
  const object = service({
    type: "NodePort",
    ports: [
      { name: "t", port: 53, protocol: "TCP" },
      { name: "u", port: 53, protocol: "UDP" },
    ] as ServiceSpec["ports"],
  });
  await createServiceStrategy(allocators()).prepareForCreate!(
    object,
    strategyContext(),
  );
  const [first, second] = specOf(object).ports!;
  expect(first!.nodePort).toBe(second!.nodePort);
});

test.each<[string, Partial<ServiceSpec>, string]>([
  [
    "a taken address",
    { clusterIP: "10.96.0.1" },
    "failed to allocate IP 10.96.0.1: provided IP is already allocated",
  ],
  [
    "out of range",
    { clusterIP: "10.97.0.1" },
    "The range of valid IPs is 10.96.0.0/24",
  ],
  [
    "a port out of range",
    { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
    "The range of valid ports is 30000-30063",
  ],
  [
    "dual stack",
    { ipFamilyPolicy: "RequireDualStack" },
    "this cluster is not configured for dual-stack services",
  ],
  ["IPv6", { ipFamilies: ["IPv6"] }, "not configured on this cluster"],
])("%s is refused and nothing kept", async (_, spec, text) => {
  const pool = allocators();
  adoptServices(pool, [
    service({ clusterIP: "10.96.0.1" }, "kubernetes") as unknown as Service,
  ]);
  const strategy = createServiceStrategy(pool);
  const object = service(spec);
  const failure = await Promise.resolve(
    strategy.prepareForCreate!(object, strategyContext()),
  ).catch((error: unknown) => error as ApiError);
  expect(failure?.code).toBe(422);
  expect(failure?.message).toContain(text);
  await strategy.rollback!(object, strategyContext());
  expect([pool.ips[0]!.used, pool.ports.used]).toEqual([1, 0]);
});

test("headless and external names get no address", async () => {
  const pool = allocators();
  const strategy = createServiceStrategy(pool);
  const headless = service({ clusterIP: "None" });
  await strategy.prepareForCreate!(headless, strategyContext());
  expect(specOf(headless)).toMatchObject({
    clusterIP: "None",
    clusterIPs: ["None"],
    ipFamilies: ["IPv4"],
  });
  const external = service({
    type: "ExternalName",
    externalName: "example.com",
    ports: [],
  });
  await strategy.prepareForCreate!(external, strategyContext());
  expect(specOf(external).clusterIP).toBeUndefined();
  expect([
    ...strategy.validate!(headless, strategyContext()),
    ...strategy.validate!(external, strategyContext()),
  ]).toEqual([]);
  expect(pool.ips[0]!.used).toBe(0);
});

test("dry runs and failed writes keep nothing", async () => {
  const pool = allocators();
  const strategy = createServiceStrategy(pool);
  await strategy.prepareForCreate!(
    service({ type: "NodePort" }),
    strategyContext([], true),
  );
  expect([pool.ips[0]!.used, pool.ports.used]).toEqual([0, 0]);
  const object = service();
  await strategy.prepareForCreate!(object, strategyContext());
  await strategy.rollback!(object, strategyContext());
  expect(pool.ips[0]!.used).toBe(0);
});

describe("updates", () => {
  async function stored(spec: Partial<ServiceSpec>) {
    const pool = allocators();
    const strategy = createServiceStrategy(pool);
    const old = service(spec);
    await strategy.prepareForCreate!(old, strategyContext());
    return { pool, strategy, old, context: strategyContext([old]) };
  }
  test("a manifest without assigned fields keeps them", async () => {
    const { strategy, old, context } = await stored({ type: "NodePort" });
    const object = service({ type: "NodePort" });
    await strategy.prepareForUpdate!(object, old, context);
    expect(specOf(object)).toEqual(specOf(old));
    expect(strategy.validateUpdate!(object, old, context)).toEqual([]);
  });
  test("to ClusterIP the ports go back when it is stored", async () => {
    const { pool, strategy, old, context } = await stored({ type: "NodePort" });
    const object = service({ ports: specOf(old).ports });
    await strategy.prepareForUpdate!(object, old, context);
    expect(specOf(object).ports![0]!.nodePort).toBeUndefined();
    await strategy.rollback!(object, context, old);
    expect([pool.ips[0]!.used, pool.ports.used]).toEqual([1, 1]);
    await strategy.afterUpdate!(object, old, context);
    expect([pool.ips[0]!.used, pool.ports.used]).toEqual([1, 0]);
  });
  test("changing the one field is changing the address", async () => {
    const { strategy, old, context } = await stored({});
    const object = service({
      clusterIP: "10.96.0.99",
      clusterIPs: specOf(old).clusterIPs,
    });
    await strategy.prepareForUpdate!(object, old, context);
    expect(strategy.validateUpdate!(object, old, context)[0]).toMatchObject({
      field: "spec.clusterIPs[0]",
      detail: expect.stringContaining("may not change once set"),
    });
  });
  test("the address stays", async () => {
    const { strategy, old, context } = await stored({});
    const object = service({ clusterIP: "10.96.0.99" });
    await strategy.prepareForUpdate!(object, old, context);
    expect(strategy.validateUpdate!(object, old, context)[0]).toMatchObject({
      field: "spec.clusterIPs[0]",
    });
  });
});

test.each<[string, Partial<ServiceSpec>, string]>([
  ["no ports", { ports: [] }, "spec.ports: Required value"],
  [
    "names",
    { ports: [{ port: 1 }, { port: 2 }] },
    "spec.ports[0].name: Required value",
  ],
  [
    "type",
    { type: "Other" },
    'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  [
    "node port",
    { ports: [{ port: 1, nodePort: 30001 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  [
    "external",
    { type: "ExternalName", ports: [] },
    "spec.externalName: Required value",
  ],
])("validation of %s", (_, spec, text) => {
  const found = createServiceStrategy().validate!(
    service(spec),
    strategyContext(),
  );
  expect(found.map(({ field, detail }) => `${field}: ${detail}`)).toContain(
    text,
  );
});

test("what is given out, free, and refused is counted by range and by how it was asked for", () => {
  const made = createServiceAllocators({
    serviceCidrs: ["10.96.0.0/29", "fd00::/126"],
    nodePorts: { from: 30000, to: 30001 },
  });
  const [ipv4] = made.ips;
  ipv4!.take("10.96.0.1", "a");
  ipv4!.take("10.96.0.1", "b");
  ipv4!.adopt("10.96.0.6", "c");
  // Any but those two.
  ipv4!.takeAny("b");
  for (let left = 3; left > 0; left--) made.ports.takeAny("a");
  made.ports.release(30000, "a");
  const text = metricsText(allocatorFamilies(made));
  const ips = "kube_apiserver_clusterip_allocator";
  const ports = "kube_apiserver_nodeport_allocator";
  const samples = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const v4 = 'cidr="10.96.0.0/29"';
  expect(samples.sort()).toEqual(
    [
      `${ips}_allocated_ips{${v4}} 3`,
      `${ips}_allocated_ips{cidr="fd00::/126"} 0`,
      `${ips}_allocation_errors_total{${v4},scope="static"} 1`,
      `${ips}_allocation_total{${v4},scope="dynamic"} 1`,
      `${ips}_allocation_total{${v4},scope="static"} 1`,
      `${ips}_available_ips{${v4}} 3`,
      `${ips}_available_ips{cidr="fd00::/126"} 3`,
      `${ports}_allocated_ports 1`,
      `${ports}_allocation_errors_total{scope="dynamic"} 1`,
      `${ports}_allocation_total{scope="dynamic"} 2`,
      `${ports}_available_ports 1`,
    ].sort(),
  );
});
