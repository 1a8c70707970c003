// Nulls that a webhook writes into a custom resource, as Knative's do with every pointer of their types that is unset:
// validation meets them, and what is stored is without them. The request's own nulls are dropped before.
import { patching } from "../../../support/webhooks.ts";
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import type { Json } from "../support.ts";
import { useWebhooks } from "./support.ts";

const setup = useWebhooks();

const rules = [
  {
    apiGroups: ["stable.example.com"],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: ["crontabs", "crontabs/status"],
  },
];
const anything = { "x-kubernetes-preserve-unknown-fields": true };
const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        text: { type: "string" },
        filled: { type: "string", default: "x" },
        free: { ...anything },
        nullable: { type: "string", nullable: true },
      },
    },
    status: {
      type: "object",
      required: ["source"],
      properties: { source: { ...anything }, data: { type: "string" } },
    },
  },
};

beforeAll(async () => {
  const { server } = setup;
  const version = { subresources: { status: {} } };
  await server.call("POST", definitions, crd({ schema, version }));
  await eventually(
    async () => (await server.call("GET", cronTabs)).status === 200,
  );
});
afterEach(() => setup.server.call("DELETE", cronTabs));

const add = (path: string, value: unknown): object => ({
  op: "add",
  path,
  value,
});

test("a required field may be null when a webhook says so, and is stored without", async () => {
  const { hooks, server, configure } = setup;
  const made = (await server.call("POST", cronTabs, cronTab("a"))).body as Json;
  const path = `${cronTabs}/a/status`;
  const body = { ...made, status: { data: "d", source: null } };
  expect(await server.call("PUT", path, body)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining("status.source: Required value") },
  });
  hooks.on["/m"] = () => patching(add("/status/source", null));
  await configure("Mutating", { "/m": { rules } });
  await configure("Validating", { "/v": { rules } });
  const put = await server.call("PUT", path, body);
  expect(put).toMatchObject({ status: 200, body: { status: { data: "d" } } });
  expect((put.body as Json).status).toEqual({ data: "d" });
  const shown = hooks.seen.map(({ request }) => request.object.status);
  expect(shown).toEqual([{ data: "d" }, { data: "d", source: null }]);
  const read = (await server.call("GET", `${cronTabs}/a`)).body as Json;
  expect(read.status).toEqual({ data: "d" });
});

test("other nulls of a webhook are defaulted, kept, dropped or refused by what the schema says", async () => {
  const { hooks, server, configure } = setup;
  await configure("Mutating", { "/m": { rules } });
  hooks.on["/m"] = () =>
    patching(add("/spec", { filled: null, free: null, nullable: null }));
  const made = await server.call("POST", cronTabs, cronTab("a"));
  expect(made.status).toBe(201);
  expect((made.body as Json).spec).toEqual({ filled: "x", nullable: null });
  hooks.on["/m"] = () => patching(add("/spec", { text: null }));
  expect(await server.call("POST", cronTabs, cronTab("b"))).toMatchObject({
    status: 422,
    body: {
      message: expect.stringContaining(
        'spec.text: Invalid value: "null": spec.text in body must be of type string: "null"',
      ),
    },
  });
});
