// Values in the store that are no objects: the server starts, reads fail with the reference's texts, and only a delete
// that says so, behind its gate, removes them. And resources behind gates.
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { Store } from "../../../storage/store.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const key = "/registry/configmaps/default/bad";
const force = "?ignoreStoreReadErrorWithClusterBreakingPotential=true";
const gate = { featureGates: { AllowUnsafeMalformedObjectDeletion: true } };

function putGarbage(store: Store): Promise<unknown> {
  return store.write({
    key,
    expectedRevision: undefined,
    encode: () => Buffer.from('{"kind":"ConfigMap","metad'),
  });
}

/** With a damaged ConfigMap `bad` in the store beside a good one. */
async function start(
  options: Parameters<typeof startTestServer>[0],
  damagedAt: "start" | "later" = "start",
): Promise<TestServer & { store: Store }> {
  const store = createMemoryStore();
  const { start: open } = store;
  if (damagedAt === "start")
    store.start = async () => {
      await open.call(store);
      await putGarbage(store);
    };
  const server = await startTestServer({ store, ...options });
  servers.push(server);
  if (damagedAt === "later") await putGarbage(store);
  await server.call("POST", configMaps, configMap("good"));
  return { ...server, store };
}

describe.each(["start", "later"] as const)("damaged at %s", (damagedAt) => {
  it("fails reads of it, and of lists that hold it", async () => {
    const { call } = await start(gate, damagedAt);
    const got = await call("GET", `${configMaps}/bad`);
    expect(got.status).toBe(500);
    expect(got.body.message).toMatch(
      /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/configmaps\/default\/bad, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=\d+: unexpected end of JSON input$/,
    );
    const listed = await call("GET", configMaps);
    expect(listed.status).toBe(500);
    expect(listed.body).toMatchObject({
      reason: "StorageReadError",
      message: "failed to read one or more configmaps from the storage",
      details: {
        kind: "configmaps",
        causes: [{ reason: "UnexpectedServerResponse", field: key }],
      },
    });
    expect((await call("GET", `${configMaps}/good`)).status).toBe(200);
    expect(
      (await call("GET", "/api/v1/namespaces/other/configmaps")).status,
    ).toBe(200);
    expect((await call("GET", "/api/v1/secrets")).status).toBe(200);
    expect((await call("POST", configMaps, configMap("bad"))).status).toBe(409);
    expect((await call("DELETE", `${configMaps}/bad`)).status).toBe(500);
    expect((await call("GET", "/readyz")).status).toBe(200);
  });

  it("is removed by a delete that says so", async () => {
    const { call, store } = await start(gate, damagedAt);
    const deleted = await call("DELETE", `${configMaps}/bad${force}`);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toMatchObject({ status: "Success" });
    expect(await store.get(key)).toBeUndefined();
    expect((await call("GET", `${configMaps}/bad`)).status).toBe(404);
    expect((await call("GET", configMaps)).body.items).toHaveLength(1);
    expect((await call("POST", configMaps, configMap("bad"))).status).toBe(201);
  });
});

it("is not removed without the gate", async () => {
  const { call, store } = await start({});
  for (const path of [`${configMaps}/bad`, configMaps])
    expect((await call("GET", path)).body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "unexpected end of JSON input",
      code: 500,
    });
  expect((await call("DELETE", `${configMaps}/bad${force}`)).status).toBe(500);
  expect(await store.get(key)).toBeDefined();
});

it("refuses to force what can be read, other options beside it, and collections", async () => {
  const { call } = await start(gate);
  const good = await call("DELETE", `${configMaps}/good${force}`);
  expect(good.status).toBe(422);
  expect(good.body.message).toContain(
    "is exclusively used to delete corrupt object(s), try again by removing this option",
  );
  const grace = await call("DELETE", `${configMaps}/bad`, {
    kind: "DeleteOptions",
    apiVersion: "v1",
    ignoreStoreReadErrorWithClusterBreakingPotential: true,
    gracePeriodSeconds: 0,
    propagationPolicy: "Background",
  });
  expect(grace.status).toBe(422);
  expect(grace.body.details.causes).toHaveLength(2);
  expect((await call("DELETE", `${configMaps}${force}`)).status).toBe(422);
});

it("asks the authorizer for the forced delete", async () => {
  const { call } = await start({
    ...gate,
    parts: () => ({
      authorizer: {
        authorize: ({ verb }: { verb: string }) => ({
          decision: verb.startsWith("unsafe") ? "deny" : "allow",
          reason: "",
        }),
      } as never,
    }),
  });
  const refused = await call("DELETE", `${configMaps}/bad${force}`);
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain("unsafe-delete-ignore-read-errors");
});

it("serves a subresource only when its gate is on", async () => {
  for (const [featureGates, status] of [
    [{}, 404],
    [{ InPlacePodVerticalScaling: true }, 200],
  ] as const) {
    const { call } = await start({ featureGates });
    await call("POST", "/api/v1/namespaces/default/pods", {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    const path = "/api/v1/namespaces/default/pods/p/resize";
    const { status: got, body } = await call("GET", path);
    expect([got, body.message ?? ""]).toEqual([
      status,
      status === 200 ? "" : "the server could not find the requested resource",
    ]);
  }
});
