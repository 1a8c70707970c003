// Definitions of a few kilobytes that ask for more than there is: defaults which multiply each other, columns which go
// every way down. Each gets an answer at once, and the server goes on.
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type TestServer } from "../support.ts";

const name = `${definitions}/crontabs.stable.example.com`;
const merge = { "content-type": "application/merge-patch+json" };
const tooLarge = "etcdserver: request is too large";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

async function define(schema: object, version: object = {}): Promise<void> {
  const made = await server.call("POST", definitions, crd({ schema, version }));
  expect(made.status).toBe(201);
  await eventually(
    async () => (await server.call("GET", cronTabs)).status === 200,
  );
}

const specWith = (properties: object): object => ({
  type: "object",
  properties: { spec: { type: "object", properties } },
});

test("defaults that multiply each other", async () => {
  let a: object = { type: "string", default: "x" };
  for (let depth = 0; depth < 6; depth++)
    a = {
      type: "array",
      items: { type: "object", properties: { a } },
      default: Array.from({ length: 300 }, () => ({})),
    };
  await define(specWith({ a }));
  for (const [verb, path] of [
    ["POST", cronTabs],
    ["PATCH", `${cronTabs}/applied?fieldManager=t`],
  ] as const) {
    const answer = await server.call(
      verb,
      path,
      cronTab(verb === "PATCH" ? "applied" : "a", { spec: {} }),
      verb === "PATCH"
        ? { "content-type": "application/apply-patch+yaml" }
        : {},
    );
    expect(answer.body).toMatchObject({ code: 500, message: tooLarge });
  }
  // Where nothing asks for them there are none.
  const plain = await server.call("POST", cronTabs, cronTab("b"));
  expect(plain.status).toBe(201);
});

test("a default that stored objects multiply", async () => {
  const list = (properties: object): object =>
    specWith({ l: { type: "array", items: { type: "object", properties } } });
  const a = { type: "string" };
  await define(list({ a }));
  const l = Array.from({ length: 2000 }, () => ({}));
  const made = await server.call(
    "POST",
    cronTabs,
    cronTab("a", { spec: { l } }),
  );
  expect(made.status).toBe(201);
  const redefine = async (schema: object): Promise<void> => {
    const patch = { spec: crd({ schema })["spec"] };
    expect((await server.call("PATCH", name, patch, merge)).status).toBe(200);
  };
  await redefine(list({ a: { ...a, default: "x".repeat(10_000) } }));
  await eventually(
    async () => (await server.call("GET", `${cronTabs}/a`)).status === 500,
  );
  const read = await server.call("GET", `${cronTabs}/a`);
  expect(read.body.message).toContain(tooLarge);
  expect((await server.call("GET", `${definitions}`)).status).toBe(200);
  // Another schema shows it again.
  await redefine(list({ a }));
  await eventually(
    async () => (await server.call("GET", `${cronTabs}/a`)).status === 200,
  );
});

test("columns that go every way down", async () => {
  const column = (jsonPath: string): object => ({
    name: jsonPath,
    type: "string",
    jsonPath,
  });
  await define(
    {
      type: "object",
      properties: {
        spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    {
      additionalPrinterColumns: [
        column(".spec.b"),
        column(".spec..a..a..a..a..c"),
        column(".spec.b"),
      ],
    },
  );
  let a: object = {};
  for (let depth = 0; depth < 500; depth++) a = { a };
  await server.call("POST", cronTabs, cronTab("deep", { spec: { a, b: "1" } }));
  await server.call("POST", cronTabs, cronTab("flat", { spec: { b: "2" } }));
  const { body } = await server.call("GET", cronTabs, undefined, {
    accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
  });
  const cells = (body.rows as { cells: unknown[] }[]).map((row) => row.cells);
  // What is spent is spent for all columns of the object.
  expect(cells).toEqual([
    ["deep", "1", null, null],
    ["flat", "2", null, "2"],
  ]);
});
