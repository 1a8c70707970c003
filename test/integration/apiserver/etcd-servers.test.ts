// API servers on one real etcd: the reference's keys and bytes, reads that are consistent across servers, watches,
// conflicts and values in every encoding the reference writes.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { decodeStored } from "../../../api/codec/stored-form.ts";
import {
  adoptServices,
  createServiceAllocators,
  followService,
} from "../../../apiserver-lite/resources/core/service/service-ip-allocator.ts";
import { shareAllocators } from "../../../apiserver-lite/resources/core/service/service-ranges.ts";
import { createStrategies } from "../../../apiserver-lite/resources/index.ts";
import { createEtcdStore } from "../../../storage/etcd/etcd-store.ts";
import { etcdctlTimes, startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { eventually } from "../../support/eventually.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

let etcd: TestEtcd;
const servers: TestServer[] = [];

beforeAll(async () => {
  etcd = await startEtcd();
  await eventually(() => etcdctl("get", "x").then(() => true), {
    what: "etcd",
    timeoutMs: 30_000,
  });
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await etcdctl("del", "", "--from-key");
});
afterAll(() => etcd.stop());

async function server(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<TestServer> {
  const started = await startTestServer({
    store: createEtcdStore({ servers: [etcd.url], compactionIntervalMs: 0 }),
    shutdownGraceMs: 100,
    ...options,
  });
  servers.push(started);
  return started;
}

async function etcdctl(...args: string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(
    "etcdctl",
    [...etcdctlTimes, "--endpoints", etcd.url, ...args],
    { encoding: "buffer", env: { ...process.env, ETCDCTL_API: "3" } },
  );
  return stdout;
}

const valueOf = async (key: string): Promise<Buffer> => {
  const value = await etcdctl("get", key, "--print-value-only");
  return value.subarray(0, -1);
};

it("stores under the reference's keys", async () => {
  const { call } = await server();
  const create = async (path: string, body: object): Promise<void> =>
    expect((await call("POST", path, body)).status).toBe(201);
  const ns = "/api/v1/namespaces/default";
  await create("/api/v1/nodes", {
    kind: "Node",
    apiVersion: "v1",
    metadata: { name: "n" },
  });
  await create(`${ns}/services`, {
    kind: "Service",
    apiVersion: "v1",
    metadata: { name: "s" },
    spec: { ports: [{ port: 80 }], clusterIP: "None" },
  });
  await create(`${ns}/endpoints`, {
    kind: "Endpoints",
    apiVersion: "v1",
    metadata: { name: "e" },
  });
  await create(`${ns}/events`, {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name: "ev" },
    involvedObject: { namespace: "default" },
  });
  await create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: { name: "l" },
    spec: {},
  });
  await create("/apis/apps/v1/namespaces/default/replicasets", {
    kind: "ReplicaSet",
    apiVersion: "apps/v1",
    metadata: { name: "r" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  const keys = (await etcdctl("get", "/registry/", "--prefix", "--keys-only"))
    .toString()
    .split("\n");
  expect(keys).toEqual(
    expect.arrayContaining([
      "/registry/minions/n",
      "/registry/services/specs/default/s",
      "/registry/services/endpoints/default/e",
      "/registry/events/default/ev",
      "/registry/leases/default/l",
      "/registry/replicasets/default/r",
      "/registry/namespaces/kube-system",
    ]),
  );
  const lease = JSON.parse(
    (
      await etcdctl("get", "/registry/events/default/ev", "-w", "json")
    ).toString(),
  ) as { kvs: { lease?: number }[] };
  expect(lease.kvs[0]!.lease).toBeTruthy();
});

it("stores the reference's bytes", async () => {
  const { call } = await server();
  const { body } = await call(
    "POST",
    configMaps,
    configMap("golden", { data: { k: "v" } }),
    { "user-agent": "test/1" },
  );
  const string = (field: number, text: string): Buffer =>
    message(field, Buffer.from(text));
  const message = (field: number, ...parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    const length: number[] = [];
    for (let left = content.length; ; left >>= 7) {
      length.push(left > 127 ? (left & 127) | 128 : left);
      if (left <= 127) break;
    }
    return Buffer.concat([
      // Fields above 15 have a tag of two bytes.
      Buffer.from(
        field > 15
          ? [((field << 3) & 127) | 130, field >> 4, ...length]
          : [(field << 3) | 2, ...length],
      ),
      content,
    ]);
  };
  const seconds = (time: string): Buffer => {
    const bytes: number[] = [];
    for (let left = BigInt(Date.parse(time) / 1000); ; left >>= 7n) {
      bytes.push(Number(left > 127n ? (left & 127n) | 128n : left));
      if (left <= 127n) break;
    }
    return Buffer.from([8, ...bytes, 16, 0]);
  };
  const { uid, creationTimestamp, managedFields } = body.metadata;
  const managed = managedFields[0];
  const expected = Buffer.concat([
    Buffer.from("k8s\0"),
    message(1, string(1, "v1"), string(2, "ConfigMap")),
    message(
      2,
      message(
        1,
        string(1, "golden"),
        string(2, ""),
        string(3, "default"),
        string(4, ""),
        string(5, uid),
        string(6, ""),
        Buffer.from([7 << 3, 0]),
        message(8, seconds(creationTimestamp)),
        message(
          17,
          string(1, "test"),
          string(2, "Update"),
          string(3, "v1"),
          message(4, seconds(managed.time)),
          string(6, "FieldsV1"),
          message(7, string(1, JSON.stringify(managed.fieldsV1))),
          string(8, ""),
        ),
      ),
      message(2, string(1, "k"), string(2, "v")),
    ),
    string(3, ""),
    string(4, ""),
  ]);
  expect(
    (await valueOf("/registry/configmaps/default/golden")).toString("hex"),
  ).toBe(expected.toString("hex"));
});

it.each([
  ["json", /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"m"/],
  ["yaml", /^apiVersion: v1\n(.|\n)*^kind: ConfigMap$/m],
] as const)("writes %s and reads it again", async (encoding, form) => {
  const one = await server({ storedEncoding: encoding });
  await one.call("POST", configMaps, configMap("m", { data: { yes: "no" } }));
  const text = (await valueOf("/registry/configmaps/default/m")).toString();
  expect(text).toMatch(form);
  expect(text).not.toMatch(/resourceVersion|selfLink/);
  const two = await server();
  const answer = await two.call("GET", `${configMaps}/m`);
  expect(answer.body.data).toEqual({ yes: "no" });
  expect(answer.body.metadata.resourceVersion).toMatch(/^[1-9]/);
});

it("reads JSON and YAML values that other servers wrote", async () => {
  const json = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"j","namespace":"default","uid":"u","resourceVersion":"7","selfLink":"/x","creationTimestamp":null},"data":{"a":"1"}}`;
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  creationTimestamp: null\n  name: plain\n  namespace: default\n`;
  await etcdctl("put", "/registry/configmaps/default/j", json);
  const { call } = await server();
  await etcdctl("put", "/registry/configmaps/default/plain", yaml);
  const [j, y] = [
    await call("GET", `${configMaps}/j`),
    await call("GET", `${configMaps}/plain`),
  ];
  expect(j.body.data).toEqual({ a: "1" });
  expect(Number(j.body.metadata.resourceVersion)).not.toBe(7);
  expect(y.status).toBe(200);
  expect(y.body.metadata.name).toBe("plain");
});

it("reads on one server what another has just written", async () => {
  const [one, two] = [await server(), await server()];
  for (let round = 0; round < 30; round++) {
    const name = `c${round}`;
    const created = await one.call("POST", configMaps, configMap(name));
    // Outside the prefix: leaves every watch behind.
    if (round % 3 === 0) await etcdctl("put", "/elsewhere", "x");
    const got = await two.call("GET", `${configMaps}/${name}`);
    expect(got.status).toBe(200);
    expect(got.body.metadata.resourceVersion).toBe(
      created.body.metadata.resourceVersion,
    );
    const listed = await two.call("GET", configMaps);
    expect(
      listed.body.items.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      ),
    ).toContain(name);
    await one.call("DELETE", `${configMaps}/${name}`);
    expect((await two.call("GET", `${configMaps}/${name}`)).status).toBe(404);
  }
});

it("reads at a version newer than the last write below the prefix", async () => {
  const { call } = await server();
  await etcdctl("put", "/elsewhere", "x");
  const { header } = JSON.parse(
    (await etcdctl("get", "/elsewhere", "-w", "json")).toString(),
  ) as { header: { revision: number } };
  const listed = await call(
    "GET",
    `${configMaps}?resourceVersion=${header.revision}`,
  );
  expect(listed.status).toBe(200);
  expect(Number(listed.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
    header.revision,
  );
});

it("changes on one server what another has just written", async () => {
  const [one, two] = [await server(), await server()];
  await one.call("POST", configMaps, configMap("shared", { data: { n: "0" } }));
  for (let round = 1; round <= 20; round++) {
    const [from, to] = round % 2 ? [one, two] : [two, one];
    const { body } = await from.call("GET", `${configMaps}/shared`);
    expect(body.data.n).toBe(String(round - 1));
    body.data.n = String(round);
    const put = await to.call("PUT", `${configMaps}/shared`, body);
    expect(put.status).toBe(200);
    const stale = await from.call("PUT", `${configMaps}/shared`, body);
    expect(stale.status).toBe(409);
  }
  // Both at once, without a version: none gets lost.
  const patches = Array.from({ length: 20 }, (_, index) =>
    (index % 2 ? one : two).call(
      "PATCH",
      `${configMaps}/shared`,
      { data: { [`k${index}`]: "x" } },
      { "content-type": "application/merge-patch+json" },
    ),
  );
  for (const { status } of await Promise.all(patches)) expect(status).toBe(200);
  const { body } = await one.call("GET", `${configMaps}/shared`);
  expect(Object.keys(body.data)).toHaveLength(21);
});

it("watches what another server writes", async () => {
  const [one, two] = [await server(), await server()];
  const { body } = await two.call("GET", configMaps);
  const { resourceVersion } = body.metadata;
  const reader = await two.watch(
    `${configMaps}?watch=1&resourceVersion=${resourceVersion}`,
  );
  await one.call("POST", configMaps, configMap("w"));
  await one.call("DELETE", `${configMaps}/w`);
  await two.call("POST", configMaps, configMap("own"));
  expect(await reader.take(3)).toEqual(["ADDED w", "DELETED w", "ADDED own"]);
  reader.close();
});

it("makes the kubernetes service's endpoints of all servers that are there", async () => {
  const serving = (advertiseAddress: string): Promise<TestServer> =>
    server({ advertiseAddress, kubernetesServiceAddress: "10.96.0.1" });
  const one = await serving("10.1.2.3");
  const two = await serving("10.1.2.4");
  const addresses = async (): Promise<string[]> => {
    const ns = "namespaces/default";
    const { body } = await one.call(
      "GET",
      `/api/v1/${ns}/endpoints/kubernetes`,
    );
    const slice = await one.call(
      "GET",
      `/apis/discovery.k8s.io/v1/${ns}/endpointslices/kubernetes`,
    );
    const found = body.subsets[0].addresses.map(({ ip }: { ip: string }) => ip);
    expect(
      slice.body.endpoints.flatMap(
        (each: { addresses: string[] }) => each.addresses,
      ),
    ).toEqual(found);
    return found;
  };
  /** One that looks around meanwhile may write what it saw before. */
  const shows = (...expected: string[]): Promise<boolean> =>
    eventually(async () => {
      expect(await addresses()).toEqual(expected);
      return true;
    });
  await shows("10.1.2.3", "10.1.2.4");
  const value = await valueOf("/registry/masterleases/10.1.2.4");
  expect(value.toString("hex")).toBe(
    "6b3873000a0f0a0276311209456e64706f696e7473" +
      "12220a100a0012001a0022002a003200380142" +
      "00120e0a0c0a0831302e312e322e341a001a002200",
  );
  const { kvs } = JSON.parse(
    (
      await etcdctl("get", "/registry/masterleases/10.1.2.4", "-w", "json")
    ).toString(),
  ) as { kvs: { lease?: number }[] };
  expect(kvs[0]!.lease).toBeTruthy();
  await two.stop();
  servers.splice(servers.indexOf(two), 1);
  await shows("10.1.2.3");
});

describe("addresses and ports of services", () => {
  const path = "/api/v1/namespaces/default/services";
  const service = (name: string, port: object = {}): object => ({
    kind: "Service",
    apiVersion: "v1",
    metadata: { name },
    spec: { type: "NodePort", ports: [{ port: 80, ...port }] },
  });
  async function allocating(cidr = "10.96.0.0/28"): Promise<TestServer> {
    const store = createEtcdStore({
      servers: [etcd.url],
      compactionIntervalMs: 0,
    });
    const allocators = shareAllocators(
      createServiceAllocators({
        serviceCidrs: [cidr],
        nodePorts: { from: 30000, to: 30039 },
      }),
      {
        store,
        encoding: "protobuf",
        clock: systemClock,
        logger: pino({ level: "silent" }),
      },
    );
    return server({
      store,
      parts: (state) => ({
        strategyFor: createStrategies({ services: allocators }),
        start: async () => {
          const services = () => state.list("", "services") as never[];
          await allocators.ranges.start(services);
          adoptServices(allocators, services());
          state.onChange("", "services", ({ object, previous }) =>
            followService(allocators, object as never, previous as never),
          );
        },
        stop: () => allocators.ranges.stop(),
      }),
    });
  }
  /** Offsets of the numbers the range's value holds. */
  async function offsets(range: string): Promise<number[]> {
    const { data } = decodeStored(
      await valueOf(`/registry/ranges/${range}`),
    ) as { data?: string };
    const bits = [...Buffer.from(data ?? "", "base64")].reverse();
    return bits.flatMap((byte, index) =>
      [0, 1, 2, 3, 4, 5, 6, 7]
        .filter((bit) => byte & (1 << bit))
        .map((bit) => index * 8 + bit),
    );
  }

  /** What services had is given back after they have gone. */
  const holds = (
    range: string,
    check: (found: number[]) => void,
  ): Promise<boolean> =>
    eventually(async () => {
      check(await offsets(range));
      return true;
    });

  it("are given to one service only, whichever server is asked", async () => {
    const both = [await allocating(), await allocating()];
    const ips = new Set<string>();
    // 14 addresses: all of them, and then none is left on either server.
    for (let index = 0; index < 14; index++) {
      const made = await both[index % 2]!.call(
        "POST",
        path,
        service(`s${index}`),
      );
      expect(made.status).toBe(201);
      ips.add(made.body.spec.clusterIP);
    }
    expect(ips.size).toBe(14);
    await holds("serviceips", (found) => expect(found).toHaveLength(14));
    for (const { call } of both)
      expect((await call("POST", path, service("full"))).status).toBe(422);
    const { body } = await both[0]!.call("GET", `${path}/s0`);
    await both[1]!.call("DELETE", `${path}/s0`);
    await both[0]!.call("DELETE", `${path}/s1`);
    await holds("serviceips", (found) => expect(found).toHaveLength(12));
    await holds("servicenodeports", (found) => expect(found).toHaveLength(12));
    const { nodePort } = body.spec.ports[0];
    const again = await both[0]!.call("POST", path, service("a", { nodePort }));
    expect(again.status).toBe(201);
    const twice = await both[1]!.call("POST", path, service("b", { nodePort }));
    expect(twice.status).toBe(422);
    expect(twice.body.message).toContain("provided port is already allocated");
    // Only what the refused service would have got is free.
    await holds("servicenodeports", (found) => expect(found).toHaveLength(13));
  });

  it("do not clash when both servers are asked in the same moment", async () => {
    const both = [
      await allocating("10.96.0.0/27"),
      await allocating("10.96.0.0/27"),
    ];
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        both[index % 2]!.call("POST", path, service(`m${index}`)),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    const ips = made.map(({ body }) => body.spec.clusterIP);
    const ports = made.map(({ body }) => body.spec.ports[0].nodePort);
    expect(new Set(ips).size).toBe(24);
    expect(new Set(ports).size).toBe(24);
    // One port asked for by name: one of the two gets it.
    const asked = await Promise.all(
      both.map(({ call }, index) =>
        call(
          "POST",
          path,
          service(`same${index}`, {
            nodePort: Array.from({ length: 40 }, (_, at) => 30000 + at).find(
              (port) => !ports.includes(port),
            ),
          }),
        ),
      ),
    );
    expect(asked.map(({ status }) => status).sort()).toEqual([201, 422]);
    await Promise.all(
      made.map((_, index) =>
        both[(index + 1) % 2]!.call("DELETE", `${path}/m${index}`),
      ),
    );
    await holds("serviceips", (found) => expect(found).toHaveLength(1));
    await holds("servicenodeports", (found) => expect(found).toHaveLength(1));
  });

  it("keep what another server has entered and what services have", async () => {
    // Address 10.96.0.3 is entered and nobody's; the service's 10.96.0.9 is not entered.
    await etcdctl(
      "put",
      "/registry/ranges/serviceips",
      `{"kind":"RangeAllocation","apiVersion":"v1","metadata":{"creationTimestamp":null},"range":"10.96.0.0/28","data":"BA=="}`,
    );
    await etcdctl(
      "put",
      "/registry/services/specs/default/old",
      `{"kind":"Service","apiVersion":"v1","metadata":{"name":"old","namespace":"default","uid":"u"},"spec":{"clusterIP":"10.96.0.9","clusterIPs":["10.96.0.9"],"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"type":"ClusterIP"}}`,
    );
    const { call } = await allocating();
    await holds("serviceips", (found) => expect(found).toEqual([2, 8]));
    for (const [clusterIP, status] of [
      ["10.96.0.3", 422],
      ["10.96.0.9", 422],
      ["10.96.0.4", 201],
    ] as const) {
      const answer = await call("POST", path, {
        kind: "Service",
        apiVersion: "v1",
        metadata: { name: `at-${clusterIP.replaceAll(".", "-")}` },
        spec: { clusterIP, ports: [{ port: 80 }] },
      });
      expect([clusterIP, answer.status]).toEqual([clusterIP, status]);
    }
    await holds("serviceips", (found) => expect(found).toEqual([2, 3, 8]));
  });
});
