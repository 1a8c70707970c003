/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
// Both dialects of every name against a real server: groups in paths and bodies, media types, tables.
import pino from "pino";
import {
  createApiServer,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import { decodeProtobuf } from "../../../api/codec/protobuf.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";

let server: ApiServer;
let base: string;

beforeAll(async () => {
  server = createApiServer({
    store: createMemoryStore(),
    logger: pino({ level: "silent" }),
  });
  await server.start();
  base = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());

async function call(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; type: string; json: any }> {
  const response = await fetch(base + path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    json: await response.json(),
  };
}

const role = (group: string, name: string): object => ({
  apiVersion: `rbac.authorization.${group}/v1`,
  kind: "ClusterRole",
  metadata: { name },
  rules: [
    {
      apiGroups: [`storage.${group}`],
      resources: ["storageclasses"],
      verbs: ["get"],
    },
  ],
});
const path = (group: string): string =>
  `/apis/rbac.authorization.${group}/v1/clusterroles`;

test("a group of the specification is an alias, spoken in answers", async () => {
  const created = await call("POST", path("orbit.io"), role("orbit.io", "one"));
  expect(created.status).toBe(201);
  expect(created.json).toMatchObject({
    apiVersion: "rbac.authorization.orbit.io/v1",
    rules: [{ apiGroups: ["storage.orbit.io"] }],
  });
  const canonical = await call("GET", `${path("k8s.io")}/one`);
  expect(canonical.json).toMatchObject({
    apiVersion: "rbac.authorization.k8s.io/v1",
    rules: [{ apiGroups: ["storage.k8s.io"] }],
  });
  const list = await call("GET", path("orbit.io"));
  expect(list.json).toMatchObject({
    kind: "ClusterRoleList",
    apiVersion: "rbac.authorization.orbit.io/v1",
  });
});

test("bodies of either dialect are taken under either path", async () => {
  expect(
    (await call("POST", path("k8s.io"), role("orbit.io", "two"))).status,
  ).toBe(201);
  expect(
    (await call("POST", path("orbit.io"), role("k8s.io", "three"))).status,
  ).toBe(201);
  expect(
    (await call("GET", `${path("k8s.io")}/two`)).json.rules[0].apiGroups,
  ).toEqual(["storage.k8s.io"]);
});

test("patches and apply", async () => {
  const patched = await call(
    "PATCH",
    `${path("orbit.io")}/one`,
    {
      rules: [
        { apiGroups: ["node.orbit.io"], resources: ["*"], verbs: ["get"] },
      ],
    },
    { "Content-Type": "application/merge-patch+json" },
  );
  expect(patched.json).toMatchObject({
    apiVersion: "rbac.authorization.orbit.io/v1",
    rules: [{ apiGroups: ["node.orbit.io"] }],
  });
  const applied = await call(
    "PATCH",
    `${path("orbit.io")}/four?fieldManager=me`,
    role("orbit.io", "four"),
    { "Content-Type": "application/apply-patch+yaml" },
  );
  expect(applied.status).toBe(201);
});

test("watches and protobuf", async () => {
  const response = await fetch(
    `${base}${path("orbit.io")}?watch=true&timeoutSeconds=1`,
  );
  const events = (await response.text()).trim().split("\n");
  for (const line of events)
    expect(JSON.parse(line)).toMatchObject({
      object: { apiVersion: "rbac.authorization.orbit.io/v1" },
    });
  const answer = await fetch(`${base}${path("orbit.io")}/one`, {
    headers: { Accept: "application/vnd.orbit.protobuf" },
  });
  expect(answer.headers.get("content-type")).toBe(
    "application/vnd.orbit.protobuf",
  );
  const object = decodeProtobuf(Buffer.from(await answer.arrayBuffer()));
  expect(object).toMatchObject({
    apiVersion: "rbac.authorization.orbit.io/v1",
    kind: "ClusterRole",
  });
});

test("tables", async () => {
  const table = await call("GET", path("k8s.io"), undefined, {
    Accept: "application/json;as=Table;g=meta.orbit.io;v=v1",
  });
  expect(table.json).toMatchObject({
    kind: "Table",
    apiVersion: "meta.orbit.io/v1",
  });
});

test("aliases are not advertised", async () => {
  expect(JSON.stringify((await call("GET", "/apis")).json)).not.toContain(
    "orbit.io",
  );
});
