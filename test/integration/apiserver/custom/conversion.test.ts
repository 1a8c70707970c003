// Several versions of a definition, with a real webhook between them: objects are stored in one and read, listed, watched,
// patched and selected in all, in batches; a webhook that fails, hangs up or lies is named.
import {
  convertedBy,
  crd,
  cronTab,
  definitions,
  versionOf,
} from "../../../support/definitions.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type Json, type TestServer } from "../support.ts";

const at = (version: string): string =>
  `/apis/stable.example.com/${version}/namespaces/default/crontabs`;

/** v1 has spec.host and spec.port, v2 has spec.hostPort. */
function convert(object: Json, apiVersion: string): Json {
  const { host, port, hostPort, ...rest } = object.spec ?? {};
  if (apiVersion.endsWith("/v2"))
    return {
      ...object,
      apiVersion,
      spec: { ...rest, hostPort: `${host}:${port}` },
    };
  const [toHost, toPort] = String(hostPort).split(":");
  return {
    ...object,
    apiVersion,
    spec: { ...rest, host: toHost, port: Number(toPort) },
  };
}

const honest = ({ uid, objects, desiredAPIVersion }: Json): Json => ({
  uid,
  result: { status: "Success" },
  convertedObjects: objects.map((object: Json) =>
    convert(object, desiredAPIVersion),
  ),
});

let server: TestServer;
let webhook: TestHttpsServer;
let answer: (request: Json) => Json = honest;
const batches: number[] = [];

beforeAll(async () => {
  webhook = await startHttpsServer((body) => {
    const { apiVersion, kind, request } = JSON.parse(body);
    batches.push(request.objects.length);
    return { apiVersion, kind, response: answer(request) };
  });
  server = await startTestServer();
  const made = await server.call(
    "POST",
    definitions,
    crd({
      versions: [
        versionOf("v1", { storage: true }),
        versionOf("v2", { storage: false }),
      ],
      spec: convertedBy(webhook, "/convert"),
    }),
  );
  expect(made.status).toBe(201);
  await eventually(
    async () => (await server.call("GET", at("v2"))).status === 200,
  );
});
afterAll(async () => {
  await server.stop();
  await webhook.close();
});
beforeEach(() => {
  answer = honest;
  batches.length = 0;
});

const v2 = (name: string, hostPort: string): Json =>
  cronTab(name, { spec: { hostPort } }, "stable.example.com/v2");

test("an object is written in one version and read in the other", async () => {
  const watch = await server.watch(`${at("v2")}?watch=1`);
  const made = await server.call("POST", at("v2"), v2("a", "x:1"));
  expect(made.body.spec).toEqual({ hostPort: "x:1" });
  const read = await server.call("GET", `${at("v1")}/a`);
  expect(read.body).toMatchObject({
    apiVersion: "stable.example.com/v1",
    spec: { host: "x", port: 1 },
  });
  const patched = await server.call(
    "PATCH",
    `${at("v2")}/a`,
    { spec: { hostPort: "y:2" } },
    { "content-type": "application/merge-patch+json" },
  );
  expect(patched.body.spec).toEqual({ hostPort: "y:2" });
  expect((await watch.next())!.object.spec).toEqual({ hostPort: "x:1" });
  expect((await watch.next())!.object.spec).toEqual({ hostPort: "y:2" });
});

test("a list is converted in batches", async () => {
  for (let index = 0; index < 150; index++)
    await server.call(
      "POST",
      at("v1"),
      cronTab(`l${index}`, { spec: { host: "l", port: index } }),
    );
  batches.length = 0;
  const listed = await server.call("GET", at("v2"));
  expect(listed.body.items.length).toBeGreaterThanOrEqual(150);
  for (const item of listed.body.items)
    expect(item).toMatchObject({
      apiVersion: "stable.example.com/v2",
      spec: { hostPort: expect.any(String) as string },
    });
  expect(batches.length).toBeLessThanOrEqual(3);
});

test.each<[string, (request: Json) => Json, string]>([
  [
    "fails",
    ({ uid }) => ({ uid, result: { status: "Failure", message: "no way" } }),
    "conversion webhook for stable.example.com/v1, Kind=CronTab failed: no way",
  ],
  [
    "answers for another request",
    (request) => ({ ...honest(request), uid: "x" }),
    'expected response.uid="',
  ],
  [
    "leaves an object out",
    (request) => ({ ...honest(request), convertedObjects: [] }),
    "returned 0 objects, expected 1",
  ],
  [
    "answers in another version",
    (request) => ({ ...honest(request), convertedObjects: request.objects }),
    "returned invalid object at index 0: invalid groupVersion (expected stable.example.com/v2, received stable.example.com/v1)",
  ],
  [
    "renames an object",
    (request) => {
      const response = honest(request);
      response.convertedObjects[0].metadata.name = "other";
      return response;
    },
    "returned invalid object: must have the same name: renames-an-object != other",
  ],
  [
    "makes labels of numbers",
    (request) => {
      const response = honest(request);
      response.convertedObjects[0].metadata.labels = { a: 1 };
      return response;
    },
    "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
  ],
  [
    "makes bad labels",
    (request) => {
      const response = honest(request);
      response.convertedObjects[0].metadata.labels = { "a b": "c d" };
      return response;
    },
    'returned invalid metadata: [metadata.labels: Invalid value: "a b": name part',
  ],
  [
    "drops metadata",
    (request) => {
      const response = honest(request);
      delete response.convertedObjects[0].metadata;
      return response;
    },
    "returned invalid object: must have the same name: drops-metadata != ",
  ],
  [
    "converts to a text",
    (request) => ({ ...honest(request), convertedObjects: ["x"] }),
    "json: cannot unmarshal string into Go value of type map[string]interface {}",
  ],
  ["says nothing", () => undefined, "no response provided"],
])("a webhook that %s is named", async (label, lie, text) => {
  const name = label.replaceAll(" ", "-");
  await server.call(
    "POST",
    at("v1"),
    cronTab(name, { spec: { host: "h", port: 1 } }),
  );
  answer = lie;
  const refused = await server.call("GET", `${at("v2")}/${name}`);
  expect(refused.status).toBe(500);
  expect(refused.body.message).toContain(text);
  // The version it is stored in needs no webhook.
  expect((await server.call("GET", `${at("v1")}/${name}`)).status).toBe(200);
});

test("calls are counted, with what went wrong", async () => {
  const shown = async (): Promise<string> =>
    (await server.call("GET", "/metrics")).text;
  const failures = async (type: string): Promise<number> =>
    Number(
      new RegExp(
        `apiserver_conversion_webhook_request_total\\{failure_type="${type}",result="\\w+"\\} (\\d+)`,
      ).exec(await shown())?.[1] ?? 0,
    );
  for (const name of ["counted", "lost"]) {
    const spec = { host: "h", port: 1 };
    const object = { ...cronTab(name), spec };
    expect((await server.call("POST", at("v1"), object)).status).toBe(201);
  }
  const good = await failures("");
  const bad = await failures("conversion_webhook_partial_response_failure");
  await server.call("GET", `${at("v2")}/counted`);
  expect(await failures("")).toBe(good + 1);
  answer = ({ uid }) => ({
    uid,
    result: { status: "Success" },
    convertedObjects: [],
  });
  try {
    await server.call("GET", `${at("v2")}/lost`);
  } finally {
    answer = honest;
  }
  expect(
    await failures("conversion_webhook_partial_response_failure"),
  ).toBeGreaterThan(bad);
  expect(await shown()).toContain(
    'apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="crontabs.stable.example.com",from_version="v1",succeeded="true",to_version="v2"}',
  );
  for (const name of ["counted", "lost"])
    await server.call("DELETE", `${at("v1")}/${name}`);
});

test("other metadata than labels and annotations is kept", async () => {
  await server.call(
    "POST",
    at("v1"),
    cronTab("meta", { spec: { host: "h", port: 1 } }),
  );
  answer = (request) => {
    const response = honest(request);
    Object.assign(response.convertedObjects[0].metadata, {
      generation: 99,
      finalizers: ["a/b"],
      labels: { from: "webhook" },
    });
    return response;
  };
  const { body } = await server.call("GET", `${at("v2")}/meta`);
  expect(body.metadata).toMatchObject({
    generation: 1,
    labels: { from: "webhook" },
  });
  expect(body.metadata.finalizers).toBeUndefined();
});

test("fields are selected by the version that is asked for", async () => {
  const sites = (version: string): string =>
    `/apis/stable.example.com/${version}/namespaces/default/sites`;
  const selectable = (name: string, storage: boolean, field: string): object =>
    versionOf(name, {
      storage,
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: { [field]: { type: "string" } },
          },
        },
      },
      selectableFields: [{ jsonPath: `.spec.${field}` }],
    });
  const { spec } = (
    await server.call("GET", `${definitions}/crontabs.stable.example.com`)
  ).body;
  const made = await server.call(
    "POST",
    definitions,
    crd({
      plural: "sites",
      kind: "Site",
      versions: [
        selectable("v1", true, "host"),
        selectable("v2", false, "hostPort"),
      ],
      spec: { conversion: spec.conversion },
    }),
  );
  expect(made.status).toBe(201);
  const selected = `${sites("v2")}?fieldSelector=${encodeURIComponent("spec.hostPort=a:1")}`;
  await eventually(
    async () => (await server.call("GET", selected)).status === 200,
  );
  const watched = await server.watch(`${selected}&watch=1`);
  const site = (name: string, host: string, port: number): Json => ({
    ...cronTab(name, { spec: { host, port } }),
    kind: "Site",
  });
  await server.call("POST", sites("v1"), site("one", "a", 1));
  await server.call("POST", sites("v1"), site("two", "a", 2));
  const names = async (path: string): Promise<string[]> =>
    (await server.call("GET", path)).body.items.map(
      ({ metadata }: Json) => metadata.name,
    );
  expect(await names(selected)).toEqual(["one"]);
  expect(await names(`${sites("v1")}?fieldSelector=spec.host=a`)).toEqual([
    "one",
    "two",
  ]);
  const set = (name: string, port: number): Promise<unknown> =>
    server.call(
      "PATCH",
      `${sites("v1")}/${name}`,
      { spec: { port } },
      { "content-type": "application/merge-patch+json" },
    );
  await set("two", 1);
  await set("one", 3);
  await server.call("DELETE", `${sites("v1")}/two`);
  const seen = [];
  for (let n = 0; n < 4; n++) {
    const { type, object } = (await watched.next())!;
    seen.push([type, object.metadata.name, object.apiVersion]);
  }
  const apiVersion = "stable.example.com/v2";
  expect(seen).toEqual([
    ["ADDED", "one", apiVersion],
    ["ADDED", "two", apiVersion],
    ["DELETED", "one", apiVersion],
    ["DELETED", "two", apiVersion],
  ]);
  const refused = await server.call(
    "GET",
    `${sites("v2")}?fieldSelector=spec.host=a`,
  );
  expect(refused.status).toBe(400);
  // A page's limit counts what is selected.
  await set("one", 1);
  const page = await server.call("GET", `${selected}&limit=1`);
  expect(page.body.items.map(({ metadata }: Json) => metadata.name)).toEqual([
    "one",
  ]);
  expect(page.body.metadata.continue).toBe("");
});

test("objects are checked by the rules of the version that is spoken", async () => {
  const hosts = (version: string): string =>
    `/apis/stable.example.com/${version}/namespaces/default/hosts`;
  const host = (version: string, spec: object): object => ({
    apiVersion: `stable.example.com/${version}`,
    kind: "Host",
    metadata: { name: "h" },
    spec,
  });
  const schema = (properties: object, rules?: object[]): object => ({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties,
        ...(rules ? { "x-kubernetes-validations": rules } : {}),
      },
    },
  });
  const { spec } = (
    await server.call("GET", `${definitions}/crontabs.stable.example.com`)
  ).body;
  const made = await server.call(
    "POST",
    definitions,
    crd({
      plural: "hosts",
      kind: "Host",
      versions: [
        versionOf("v1", {
          storage: true,
          schema: schema({
            host: { type: "string", maxLength: 5 },
            port: { type: "integer" },
          }),
        }),
        versionOf("v2", {
          storage: false,
          schema: schema({ hostPort: { type: "string", maxLength: 9 } }, [
            { rule: "self.hostPort == oldSelf.hostPort || true" },
            { rule: "!self.hostPort.startsWith('never')" },
          ]),
        }),
      ],
      spec: { conversion: spec.conversion },
    }),
  );
  expect(made.status).toBe(201);
  await eventually(
    async () => (await server.call("GET", hosts("v2"))).status === 200,
  );
  const refusal = async (version: string, given: object): Promise<string> =>
    (await server.call("POST", hosts(version), host(version, given))).body
      .message as string;
  expect(await refusal("v2", { hostPort: "never:1" })).toContain(
    "spec: Invalid value: \"object\": failed rule: !self.hostPort.startsWith('never')",
  );
  expect(await refusal("v2", { hostPort: "longer:1000" })).toContain(
    "spec.hostPort: Too long",
  );
  // Longer than the stored version allows.
  expect(
    (
      await server.call(
        "POST",
        hosts("v2"),
        host("v2", { hostPort: "medium:1" }),
      )
    ).status,
  ).toBe(201);
  const change = (
    version: string,
    given: object,
  ): ReturnType<typeof server.call> =>
    server.call(
      "PATCH",
      `${hosts(version)}/h`,
      { spec: given },
      { "content-type": "application/merge-patch+json" },
    );
  expect((await change("v2", { hostPort: "never:2" })).status).toBe(422);
  expect((await change("v1", { host: "never" })).status).toBe(200);
  expect((await change("v1", { host: "too-long" })).body.message).toContain(
    "spec.host: Too long",
  );
});
