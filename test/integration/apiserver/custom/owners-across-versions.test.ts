// Owners of fields in two versions of a definition, with a real webhook between them: what a manager owns is compared in
// the version it wrote. What is expected here is what a kube-apiserver 1.32 answered to the same requests.
import {
  convertedBy,
  crd,
  definitions,
  versionOf,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import { startTestServer, type Json, type TestServer } from "../support.ts";

const group = "stable.example.com";
const at = (version: string, name = ""): string =>
  `/apis/${group}/${version}/namespaces/default/crontabs${name && `/${name}`}`;

const text = { type: "string" };
const schemaWith = (properties: Json): Json => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties },
      status: { type: "object", properties: { phase: text } },
    },
  },
});
const texts = (listType: string): Json => ({
  type: "array",
  items: text,
  "x-kubernetes-list-type": listType,
});
const v1 = { a: text, both: text, one: text, list: texts("atomic") };
const nest = { type: "object", properties: { one: text } };
const v2 = { b: text, both: text, nest, list: texts("set") };

/** v2 calls `a` of v1 `b`, and has `one` in `nest`. */
function convert({ spec = {}, ...object }: Json, apiVersion: string): Json {
  const { a, b, one, nest: nested, ...rest } = spec;
  const set = (name: string, value: unknown): Json =>
    value === undefined ? {} : { [name]: value };
  const first = a ?? b;
  const inner = one ?? nested?.one;
  const made = apiVersion.endsWith("v2")
    ? { ...set("b", first), ...(inner ? { nest: { one: inner } } : {}) }
    : { ...set("a", first), ...set("one", inner) };
  return { ...object, apiVersion, spec: { ...rest, ...made } };
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
/** "v2 2": two objects were asked for in v2. */
const calls: string[] = [];

beforeAll(async () => {
  webhook = await startHttpsServer((body) => {
    const { apiVersion, kind, request } = JSON.parse(body);
    calls.push(
      `${request.desiredAPIVersion.split("/")[1]} ${request.objects.length}`,
    );
    return { apiVersion, kind, response: answer(request) };
  });
  server = await startTestServer();
  const subresources = { status: {} };
  const made = await server.call(
    "POST",
    definitions,
    crd({
      versions: [
        { ...versionOf("v1", { storage: true }), schema: schemaWith(v1) },
        { ...versionOf("v2", { storage: false }), schema: schemaWith(v2) },
      ].map((version) => ({ ...version, subresources })),
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
  calls.length = 0;
});

const patch = (
  type: string,
  path: string,
  query: string,
  body: Json,
): Promise<Json> =>
  server.call("PATCH", `${path}?${query}`, body, {
    "content-type": `application/${type}`,
  });

function apply(
  version: string,
  [name, manager]: readonly [string, string],
  content: Json,
  { force = false, part = "" } = {},
): Promise<Json> {
  const object = {
    apiVersion: `${group}/${version}`,
    kind: "CronTab",
    metadata: { name },
    ...(part === "" ? { spec: content } : content),
  };
  return patch(
    "apply-patch+yaml",
    at(version, name) + part,
    `fieldManager=${manager}&force=${force}`,
    object,
  );
}

const merge = (
  version: string,
  [name, manager]: readonly [string, string],
  body: Json,
): Promise<Json> =>
  patch("merge-patch+json", at(version, name), `fieldManager=${manager}`, body);

/** { "m2 v2": what m2 owns there } */
const owners = ({ body }: Json): Json =>
  Object.fromEntries(
    (body.metadata.managedFields ?? []).map((entry: Json) => [
      `${entry.manager} ${entry.apiVersion.split("/")[1]}`,
      entry.fieldsV1["f:spec"] ?? entry.fieldsV1,
    ]),
  );

test("an apply conflicts with what another owns through another version, and takes it by force", async () => {
  await apply("v2", ["a", "m2"], { b: "x", both: "z" });
  const refused = await apply("v1", ["a", "m1"], { a: "y" });
  expect(refused.status).toBe(409);
  expect(refused.body.message).toBe(
    'Apply failed with 1 conflict: conflict with "m2": .spec.b',
  );
  calls.length = 0;
  const forced = await apply("v1", ["a", "m1"], { a: "y" }, { force: true });
  expect(forced.body.spec).toEqual({ a: "y", both: "z" });
  expect(owners(forced)).toEqual({
    "m1 v1": { "f:a": {} },
    "m2 v2": { "f:both": {} },
  });
  expect(calls).toEqual(["v2 2"]);
});

test("a list is compared as each version has it", async () => {
  await apply("v2", ["l", "m2"], { b: "x" });
  await merge("v2", ["l", "u2"], { spec: { list: ["p", "q"] } });
  const applied = await apply("v1", ["l", "m1"], { list: ["p", "r"] });
  expect(owners(applied)).toEqual({
    "m1 v1": { "f:list": {} },
    "m2 v2": { "f:b": {} },
    "u2 v2": { "f:list": { ".": {}, 'v:"p"': {} } },
  });
});

test("an update takes what it changes from owners in every version", async () => {
  await apply("v2", ["u", "m2"], { b: "x", both: "z" });
  const first = await merge("v1", ["u", "u1"], { spec: { a: "y" } });
  expect(owners(first)).toEqual({
    "m2 v2": { "f:both": {} },
    "u1 v1": { "f:a": {} },
  });
  const second = await merge("v2", ["u", "u1"], { spec: { b: "y2" } });
  expect(owners(second)).toEqual({
    "m2 v2": { "f:both": {} },
    "u1 v2": { "f:b": {} },
  });
  const gone = await merge("v1", ["u", "u3"], { spec: { a: null } });
  expect(owners(gone)).toEqual({ "m2 v2": { "f:both": {} } });
});

test("what was applied in another version and is applied no more goes, unless it is owned in any", async () => {
  const name = "p";
  await apply("v2", [name, "m"], { nest: { one: "1" }, list: ["s"] });
  await merge("v2", [name, "u"], { spec: { list: ["s", "t"] } });
  const left = await apply("v1", [name, "m"], { both: "q" });
  expect(left.body.spec).toEqual({ both: "q", list: ["s", "t"] });
  const name2 = "p2";
  await apply("v2", [name2, "m"], { b: "x" });
  await apply("v1", [name2, "o"], { a: "x" });
  const kept = await apply("v1", [name2, "m"], { both: "k" });
  expect(kept.body.spec).toEqual({ a: "x", both: "k" });
  expect(owners(kept)).toEqual({
    "o v1": { "f:a": {} },
    "m v1": { "f:both": {} },
  });
  const name3 = "p3";
  await apply("v2", [name3, "m"], { b: "x", both: "z" });
  const pruned = await apply("v1", [name3, "m"], { both: "z" });
  expect(pruned.body.spec).toEqual({ both: "z" });
});

test("a status in the request counts for owners in other versions, as at the reference", async () => {
  await apply("v2", ["s", "m2"], { both: "z" });
  const part = "/status";
  await apply("v2", ["s", "s2"], { status: { phase: "1" } }, { part });
  const body = { status: { phase: "8" }, spec: { both: "z" } };
  const written = await merge("v1", ["s", "u"], body);
  expect(written.body.status).toEqual({ phase: "1" });
  expect(owners(written)).toEqual({ "m2 v2": { "f:both": {} } });
});

test("nothing is converted for owners when nothing changes or all speak one version", async () => {
  await apply("v1", ["n", "m1"], { a: "x" });
  await apply("v1", ["n", "o1"], { both: "x" });
  expect(calls).toEqual([]);
  await apply("v2", ["n", "m2"], { list: ["p"] });
  calls.length = 0;
  await merge("v1", ["n", "u"], { spec: { a: "x" } });
  expect(calls).toEqual([]);
});

const failing =
  (what: (request: Json) => Json) =>
  (request: Json): Json =>
    request.desiredAPIVersion.endsWith("v2") ? what(request) : honest(request);

test.each<[string, (request: Json) => Json, string]>([
  [
    "fails",
    ({ uid }) => ({ uid, result: { status: "Failed", message: "no mood" } }),
    `conversion webhook for ${group}/v1, Kind=CronTab failed: no mood`,
  ],
  [
    "gives back another object",
    (request) => {
      const response = honest(request);
      for (const object of response["convertedObjects"])
        object.metadata = { ...object.metadata, name: "liar" };
      return response;
    },
    `conversion webhook for ${group}/v1, Kind=CronTab returned invalid object: must have the same name: NAME != liar`,
  ],
  [
    "gives back what the schema does not allow",
    (request) => {
      const response = honest(request);
      for (const object of response["convertedObjects"]) object.spec.b = 5;
      return response;
    },
    ".spec.b: expected string, got &value.valueUnstructured{Value:5}",
  ],
  [
    "gives back one object too few",
    (request) => ({
      ...honest(request),
      convertedObjects: honest(request)["convertedObjects"].slice(1),
    }),
    `conversion webhook for ${group}/v1, Kind=CronTab returned 1 objects, expected 2`,
  ],
])(
  "a webhook that %s fails an apply, and an update ends all ownership",
  async (what, bad, message) => {
    const name = what.replaceAll(" ", "-");
    await apply("v2", [name, "m2"], { b: "x", both: "z" });
    answer = failing(bad);
    for (const force of [false, true]) {
      const refused = await apply("v1", [name, "m1"], { a: "y" }, { force });
      expect(refused.status).toBe(500);
      expect(refused.body.message).toBe(message.replace("NAME", name));
    }
    const pruning = await apply("v1", [name, "m2"], { both: "z" });
    expect(pruning.status).toBe(500);
    const live = await server.call("GET", at("v1", name));
    expect(live.body.spec).toEqual({ a: "x", both: "z" });
    expect(owners(live)).toEqual({ "m2 v2": { "f:b": {}, "f:both": {} } });
    const updated = await merge("v1", [name, "u1"], { spec: { both: "y" } });
    expect(updated.status).toBe(200);
    expect(updated.body.spec).toEqual({ a: "x", both: "y" });
    expect(updated.body.metadata.managedFields).toBeUndefined();
  },
);

test("without a webhook, versions of other types are compared as each has them, and what does not fit ends ownership", async () => {
  const plain = `/apis/plain.example.com`;
  const count = { type: "integer" };
  const made = await server.call("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "plains.plain.example.com" },
    spec: {
      group: "plain.example.com",
      scope: "Cluster",
      names: { plural: "plains", kind: "Plain" },
      versions: [
        {
          ...versionOf("v1", { storage: true }),
          schema: schemaWith({ both: text, odd: text, list: texts("atomic") }),
        },
        {
          ...versionOf("v2", { storage: false }),
          schema: schemaWith({ both: text, odd: count, list: texts("set") }),
        },
      ],
    },
  });
  expect(made.status).toBe(201);
  const one = (version: string): string => `${plain}/${version}/plains/one`;
  await eventually(
    async () => (await server.call("GET", `${plain}/v2/plains`)).status === 200,
  );
  const applying = (version: string, manager: string, spec: Json) =>
    patch(
      "apply-patch+yaml",
      one(version),
      `fieldManager=${manager}&force=true`,
      {
        apiVersion: `plain.example.com/${version}`,
        kind: "Plain",
        metadata: { name: "one" },
        spec,
      },
    );
  await applying("v2", "m2", { both: "x", list: ["p", "q"] });
  const taken = await applying("v1", "m1", { list: ["p", "r"] });
  expect(owners(taken)).toEqual({
    "m1 v1": { "f:list": {} },
    "m2 v2": { "f:both": {}, "f:list": { 'v:"p"': {} } },
  });
  const refused = await applying("v1", "m1", { odd: "text" });
  expect(refused.status).toBe(500);
  const body = { spec: { odd: "text" } };
  const query = "fieldManager=u";
  const written = await patch("merge-patch+json", one("v1"), query, body);
  expect(written.body.spec.odd).toBe("text");
  expect(written.body.metadata.managedFields).toBeUndefined();
});

/** As Cluster API's: the other version carries a trace of the stored one, which sorts what it is given. */
const tracing = ({ uid, objects, desiredAPIVersion }: Json): Json => ({
  uid,
  result: { status: "Success" },
  convertedObjects: objects.map((object: Json) => {
    const { metadata, ...made } = convert(object, desiredAPIVersion);
    const { annotations: _, ...rest } = metadata;
    if (!desiredAPIVersion.endsWith("v2"))
      return {
        ...made,
        metadata: rest,
        spec: { ...made.spec, list: made.spec.list.toSorted() },
      };
    const annotations = { trace: object.spec.list.join() };
    return { ...made, metadata: { ...rest, annotations } };
  }),
});

test("what a conversion leaves in an object is not owned by who did not send it", async () => {
  answer = tracing;
  const owners = async (): Promise<string[]> => {
    const { body } = await server.call("GET", at("v1", "traced"));
    return body.metadata.managedFields
      .filter(({ fieldsV1 }: Json) => fieldsV1["f:metadata"]?.["f:annotations"])
      .map(({ manager }: Json) => manager);
  };
  const metadata = { name: "traced" };
  const made = await server.call("POST", `${at("v2")}?fieldManager=maker`, {
    apiVersion: `${group}/v2`,
    kind: "CronTab",
    metadata,
    spec: { b: "x", list: ["b", "a"] },
  });
  expect(made.status).toBe(201);
  expect(await owners()).toEqual([]);
  const added = [{ op: "add", path: "/spec/list/0", value: "z" }];
  const path = at("v2", "traced");
  const changed = await patch(
    "json-patch+json",
    path,
    "fieldManager=changer",
    added as unknown as Json,
  );
  expect(changed.body.spec.list).toContain("z");
  expect(await owners()).toEqual([]);
});
