// The in-process transport under the client: informers on the watch cache, writes, watches, raw paths.
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { isConflict, isNotFound } from "../../../api/errors.ts";
import { configMaps } from "../../../client/resources.ts";
import { createClient } from "../../../client/create-client.ts";
import type { Client } from "../../../client/client.ts";
import { startTestServer, type TestServer } from "./support.ts";

let server: TestServer;
let client: Client;
beforeEach(async () => {
  server = await startTestServer();
  client = createClient(
    server.server.transport({
      name: "tester",
      groups: ["system:masters"],
      extra: {},
    }),
    { clock: systemClock, logger: pino({ level: "silent" }) },
  );
});
afterEach(async () => {
  await client.close();
  await server.stop();
});

const body = (name: string) => ({
  metadata: { name, namespace: "default" },
  data: { a: "1" },
});

test("informers see every change at once, frozen and shared", async () => {
  const informer = client.informer(configMaps);
  await informer.synced();
  const seen: string[] = [];
  informer.addHandler({
    onAdd: (object) => seen.push(`add ${object.metadata.name}`),
    onUpdate: (old, object) =>
      seen.push(`update ${old.data?.["a"]}→${object.data?.["a"]}`),
    onDelete: (object) => seen.push(`delete ${object.metadata.name}`),
  });
  const refs = client.resource(configMaps);
  const made = await refs.create(body("x"));
  expect(informer.lister.get("x", "default")).toBe(
    await refs.get("x", "default"),
  );
  expect(Object.isFrozen(informer.lister.get("x", "default")!.data)).toBe(true);
  await refs.update({ ...made, data: { a: "2" } });
  const stale = await refs
    .update({ ...made, data: { a: "3" } })
    .catch((error: unknown) => error);
  expect(isConflict(stale)).toBe(true);
  await refs.delete("x", "default");
  const gone = await refs.get("x", "default").catch((error: unknown) => error);
  expect(isNotFound(gone)).toBe(true);
  expect(seen).toEqual(["add x", "update 1→2", "delete x"]);
});

test("watches, lists and raw paths", async () => {
  const refs = client.resource(configMaps);
  const watch = refs.watch({ namespace: "default" });
  await refs.create(body("w"));
  for await (const event of watch) {
    expect(event.type).toBe("ADDED");
    expect(event.object.metadata.name).toBe("w");
    break;
  }
  const list = await refs.list({ namespace: "default" });
  expect(list.items).toHaveLength(1);
  const version = await client.raw("GET", "/version");
  expect(version.body).toMatchObject({ major: "1" });
  await expect(client.raw("GET", "/nothing")).rejects.toMatchObject({
    code: 404,
    reason: "NotFound",
    message: "404 page not found",
  });
  await expect(
    client.raw("GET", "/api/v1/namespaces/nowhere"),
  ).rejects.toMatchObject({
    code: 404,
    message: 'namespaces "nowhere" not found',
    status: { details: { name: "nowhere", kind: "namespaces" } },
  });
  await expect(
    client.raw("POST", "/api/v1/namespaces", { metadata: { name: "A" } }),
  ).rejects.toMatchObject({ code: 422, reason: "Invalid" });
});
