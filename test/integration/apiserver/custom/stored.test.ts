// Objects that are in the store when a definition changes, or when the server starts: they are read in the shape of today's
// schema, with its defaults, without being written.
import * as path from "node:path";
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { createFileStore } from "../../../../storage/file/file-store.ts";
import { startTestServer, type TestServer } from "../support.ts";

const tempDirectory = useTempDirectories();
const name = `${definitions}/crontabs.stable.example.com`;
const schemaWith = (fields: object): object => ({
  type: "object",
  properties: { spec: { type: "object", properties: fields } },
});
const text = { type: "string" };
const merge = { "content-type": "application/merge-patch+json" };

async function redefine(server: TestServer, schema: object): Promise<void> {
  const patched = await server.call(
    "PATCH",
    name,
    { spec: crd({ schema })["spec"] },
    merge,
  );
  expect(patched.status).toBe(200);
}

test("a schema that changed, and a start", async () => {
  const directory = path.join(tempDirectory(), "s");
  const start = (): Promise<TestServer> =>
    startTestServer({ store: createFileStore({ directory }) });
  let server = await start();
  const spec = async (): Promise<unknown> =>
    (await server.call("GET", `${cronTabs}/a`)).body.spec;
  await server.call(
    "POST",
    definitions,
    crd({ schema: schemaWith({ a: text, b: text }) }),
  );
  await eventually(
    async () => (await server.call("GET", cronTabs)).status === 200,
  );
  const made = await server.call(
    "POST",
    cronTabs,
    cronTab("a", { spec: { a: "1", b: "2", c: "3" } }),
  );
  expect(made.body.spec).toEqual({ a: "1", b: "2" });
  const watch = await server.watch(`${cronTabs}?watch=1`);
  await watch.next();
  await redefine(server, schemaWith({ a: text, d: { ...text, default: "4" } }));
  await eventually(
    async () => JSON.stringify(await spec()) === '{"a":"1","d":"4"}',
  );
  // Clients list again.
  expect(await watch.next()).toBeUndefined();
  const { body } = await server.call("GET", `${cronTabs}/a`);
  expect(body.metadata.resourceVersion).toBe(
    made.body.metadata.resourceVersion,
  );
  await server.stop();

  server = await start();
  // Served before the server says that it is ready.
  expect(await spec()).toEqual({ a: "1", d: "4" });
  await redefine(server, schemaWith({ a: text, b: text }));
  await eventually(
    async () => JSON.stringify(await spec()) === '{"a":"1","b":"2"}',
  );
  await server.stop();
});
