/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
// All encodings against a real server on a real port: bodies, answers, lists, watches, and what bad bodies get.
import pino from "pino";
import {
  createApiServer,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { encodeCbor, parseCbor } from "../../../api/codec/cbor.ts";
import { decodeProtobuf, encodeProtobuf } from "../../../api/codec/protobuf.ts";
import { encodeYaml } from "../../../api/codec/yaml.ts";
import { parseYaml } from "../../../api/codec/yaml-text.ts";
import {
  CborSequenceDecoder,
  WatchFrameDecoder,
} from "../../support/stream-decoders.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
let server: ApiServer;
let base: string;

beforeAll(async () => {
  const logger = pino({ level: "silent" });
  server = createApiServer({
    store: createMemoryStore(),
    logger,
    featureGates: { CBORServingAndStorage: true },
  });
  await server.start();
  base = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());

interface Answer {
  status: number;
  type: string;
  bytes: Buffer;
  warnings: string | null;
}

async function call(
  method: string,
  path: string,
  options: { type?: string; accept?: string; body?: Uint8Array | string } = {},
): Promise<Answer> {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(options.type ? { "Content-Type": options.type } : {}),
      Accept: options.accept ?? "application/json",
    },
    ...(options.body === undefined ? {} : { body: options.body as string }),
  });
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    bytes: Buffer.from(await response.arrayBuffer()),
    warnings: response.headers.get("warning"),
  };
}

const configMap = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { a: "1" },
});
const maps = "/api/v1/namespaces/default/configmaps";

const codecs: [
  string,
  string,
  (object: object) => Uint8Array,
  (bytes: Buffer) => any,
][] = [
  [
    "JSON",
    "application/json",
    (object) => Buffer.from(JSON.stringify(object)),
    (bytes) => JSON.parse(bytes.toString()),
  ],
  [
    "YAML",
    "application/yaml",
    encodeYaml,
    (bytes) => parseYaml(bytes.toString())[0]!.value,
  ],
  ["protobuf", PROTOBUF, encodeProtobuf, (bytes) => decodeProtobuf(bytes)],
  [
    "protobuf, the specification's name",
    "application/vnd.orbit.protobuf",
    encodeProtobuf,
    (bytes) => decodeProtobuf(bytes),
  ],
  ["CBOR", "application/cbor", encodeCbor, (bytes) => parseCbor(bytes).value],
];

describe.each(codecs)("%s", (label, type, encode, decode) => {
  const name = `m-${label
    .toLowerCase()
    .replace(/[^a-z]+/g, "-")
    .slice(0, 20)}x`;
  test("create, read, list, delete", async () => {
    const created = await call("POST", maps, {
      type,
      accept: type,
      body: encode(configMap(name)),
    });
    expect([created.status, created.type]).toEqual([201, type]);
    expect(decode(created.bytes)).toMatchObject({
      kind: "ConfigMap",
      metadata: { name, namespace: "default" },
      data: { a: "1" },
    });
    const read = await call("GET", `${maps}/${name}`, { accept: type });
    expect(decode(read.bytes)).toEqual(decode(created.bytes));
    const list = await call("GET", maps, { accept: type });
    const { kind, items } = decode(list.bytes);
    expect(kind).toBe("ConfigMapList");
    expect(items.map((item: any) => item.metadata.name)).toContain(name);
    const removed = await call("DELETE", `${maps}/${name}`, {
      type,
      accept: type,
      body: encode({ apiVersion: "v1", kind: "DeleteOptions" }),
    });
    expect([removed.status, decode(removed.bytes).kind]).toEqual([
      200,
      "Status",
    ]);
    expect(
      decode((await call("GET", `${maps}/${name}`, { accept: type })).bytes),
    ).toMatchObject({ kind: "Status", code: 404, reason: "NotFound" });
  });
});

test("watch frames in protobuf and CBOR", async () => {
  const watch = async (accept: string): Promise<Buffer> => {
    const response = await fetch(`${base}${maps}?watch=true&timeoutSeconds=1`, {
      headers: { Accept: accept },
    });
    return Buffer.from(await response.arrayBuffer());
  };
  await call("POST", maps, {
    type: "application/json",
    body: JSON.stringify(configMap("watched")),
  });
  const [frames, sequence] = await Promise.all([
    watch(`${PROTOBUF};stream=watch`),
    watch("application/cbor-seq, application/cbor"),
  ]);
  const events = new WatchFrameDecoder().push(frames);
  expect(
    events.map(({ type, object }) => [type, (object as any).metadata.name]),
  ).toContainEqual(["ADDED", "watched"]);
  const items = new CborSequenceDecoder().push(sequence) as any[];
  expect(
    items.map(({ type, object }) => [type, object.metadata.name]),
  ).toContainEqual(["ADDED", "watched"]);
});

test("unknown and duplicate fields: warned, refused, ignored", async () => {
  const body = (name: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"foo":1,"data":{"a":"1","a":"2"}}`;
  const warned = await call("POST", maps, {
    type: "application/json",
    body: body("warned"),
  });
  expect(warned.status).toBe(201);
  expect(warned.warnings).toContain('unknown field \\"foo\\"');
  expect(warned.warnings).toContain('duplicate field \\"data.a\\"');
  const strict = await call("POST", `${maps}?fieldValidation=Strict`, {
    type: "application/json",
    body: body("strict"),
  });
  expect(JSON.parse(strict.bytes.toString())).toMatchObject({
    code: 400,
    reason: "BadRequest",
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo", duplicate field "data.a"',
  });
  const ignored = await call("POST", `${maps}?fieldValidation=Ignore`, {
    type: "application/json",
    body: body("ignored"),
  });
  expect([ignored.status, ignored.warnings]).toEqual([201, null]);
});

test.each([
  ["JSON", "application/json", "{"],
  [
    "a wrong type",
    "application/json",
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}',
  ],
  ["YAML", "application/yaml", "a: b: c"],
  ["protobuf", PROTOBUF, Buffer.from("6b38730012ffffffff0f", "hex")],
  ["no magic", PROTOBUF, "hello"],
  ["CBOR", "application/cbor", Buffer.from("9b00000000ffffffff", "hex")],
  ["deep JSON", "application/json", "[".repeat(100_000)],
])("malformed %s is a 400", async (_label, type, body) => {
  const answer = await call("POST", maps, { type, body });
  expect(JSON.parse(answer.bytes.toString())).toMatchObject({
    kind: "Status",
    status: "Failure",
    code: 400,
    reason: "BadRequest",
  });
});

test("an unknown encoding is a 415, one that can't be answered a 406", async () => {
  expect(
    (await call("POST", maps, { type: "text/csv", body: "a,b" })).status,
  ).toBe(415);
  expect((await call("GET", maps, { accept: "text/csv" })).status).toBe(406);
});

test("OpenAPI is served", async () => {
  const index = JSON.parse((await call("GET", "/openapi/v3")).bytes.toString());
  const document = await call(
    "GET",
    index.paths["apis/apps/v1"].serverRelativeURL,
  );
  expect(
    JSON.parse(document.bytes.toString()).paths["/apis/apps/v1/deployments"],
  ).toBeDefined();
  expect((await call("GET", "/openapi/v3/apis/nope/v1")).status).toBe(404);
  expect(
    JSON.parse((await call("GET", "/openapi/v2")).bytes.toString()).swagger,
  ).toBe("2.0");
});

test.each([
  [
    "merge",
    { data: { a: "2" }, foo: 1 },
    /^ "" is invalid: patch: Invalid value: "\{.*\}": strict decoding error: unknown field "foo"$/,
  ],
  [
    "strategic-merge",
    { data: { a: "2" }, foo: [1, { b: null }] },
    ' "" is invalid: patch: Invalid value: "map[data:map[a:2] foo:[1 map[b:<nil>]]]": strict decoding error: unknown field "foo"',
  ],
  [
    "merge",
    { data: { a: 2 } },
    /json: cannot unmarshal number into Go struct field ConfigMap.data of type string$/,
  ],
])("a %s patch that does not fit is a 422", async (kind, patch, message) => {
  await call("POST", maps, {
    type: "application/json",
    body: JSON.stringify(configMap("patched")),
  });
  const answer = await call("PATCH", `${maps}/patched?fieldValidation=Strict`, {
    type: `application/${kind}-patch+json`,
    body: JSON.stringify(patch),
  });
  const status = JSON.parse(answer.bytes.toString()) as {
    code: number;
    message: string;
  };
  expect(status.code).toBe(422);
  if (typeof message === "string") expect(status.message).toBe(message);
  else expect(status.message).toMatch(message);
});

test("apply owns only what it says, and the object is complete", async () => {
  const body = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "applied" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "x" }] },
      },
    },
  };
  const answer = await call(
    "PATCH",
    "/apis/apps/v1/namespaces/default/deployments/applied?fieldManager=me",
    { type: "application/apply-patch+yaml", body: JSON.stringify(body) },
  );
  const object = JSON.parse(answer.bytes.toString()) as any;
  expect(object.spec.strategy.type).toBe("RollingUpdate");
  expect(object.spec.template.spec.containers[0].resources).toEqual({});
  const { fieldsV1 } = object.metadata.managedFields[0];
  expect(Object.keys(fieldsV1["f:spec"]).sort()).toEqual([
    "f:selector",
    "f:template",
  ]);
});

test("apply refuses fields that are not declared", async () => {
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "bad", namespace: "default" },
    spec: { containers: [{ name: "c", imag: "x" }] },
  };
  const answer = await call(
    "PATCH",
    "/api/v1/namespaces/default/pods/bad?fieldManager=me&fieldValidation=Ignore",
    { type: "application/apply-patch+yaml", body: JSON.stringify(body) },
  );
  expect(JSON.parse(answer.bytes.toString())).toMatchObject({
    code: 400,
    message:
      'failed to create typed patch object (default/bad; /v1, Kind=Pod): .spec.containers[name="c"].imag: field not declared in schema',
  });
});
