// What hostile and careless clients send, over real sockets: every answer is a proper Status, nothing leaks from one
// request into the next, and the server goes on.
import * as net from "node:net";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const yaml = { "content-type": "application/yaml" };
const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
const merge = { "content-type": "application/merge-patch+json" };
const strategic = { "content-type": "application/strategic-merge-patch+json" };
const jsonPatch = { "content-type": "application/json-patch+json" };
const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"]
  .concat(
    ["b", "c", "d", "e", "f", "g"].map(
      (name, index) =>
        `${name}: &${name} [${Array(9).fill(`*${"abcdef"[index]}`).join()}]`,
    ),
  )
  .join("\n");
const token = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

test.each<
  [
    string,
    string,
    string,
    string | Uint8Array | object | undefined,
    object,
    number,
    string,
  ]
>([
  ["broken JSON", "POST", configMaps, '{"a":', {}, 400, "BadRequest"],
  ["no body", "POST", configMaps, "", {}, 400, "BadRequest"],
  ["a list", "POST", configMaps, "[]", {}, 400, "BadRequest"],
  ["null", "POST", configMaps, "null", {}, 422, "Invalid"],
  ["deep nesting", "POST", configMaps, deep, {}, 400, "BadRequest"],
  [
    "unclosed nesting",
    "POST",
    configMaps,
    "[".repeat(1e6),
    {},
    400,
    "BadRequest",
  ],
  ["broken YAML", "POST", configMaps, "a: [\n b", yaml, 400, "BadRequest"],
  ["a YAML bomb", "POST", configMaps, bomb, yaml, 400, "BadRequest"],
  [
    "no protobuf",
    "POST",
    configMaps,
    Buffer.from([1, 2, 3]),
    protobuf,
    400,
    "BadRequest",
  ],
  [
    "broken protobuf",
    "POST",
    configMaps,
    Buffer.from("k8s\0\xff\xff\xff\xff\xff", "latin1"),
    protobuf,
    400,
    "BadRequest",
  ],
  [
    "a foreign type",
    "POST",
    configMaps,
    "x",
    { "content-type": "text/plain" },
    415,
    "UnsupportedMediaType",
  ],
  [
    "no patch type",
    "PATCH",
    `${configMaps}/x`,
    "{}",
    { "content-type": "application/json" },
    415,
    "UnsupportedMediaType",
  ],
  [
    "too many operations",
    "PATCH",
    "/api/v1/namespaces/default",
    Array(10_001).fill({ op: "test", path: "/kind", value: "Namespace" }),
    jsonPatch,
    413,
    "RequestEntityTooLarge",
  ],
  [
    "a name with a path",
    "POST",
    configMaps,
    configMap("../../etc"),
    {},
    422,
    "Invalid",
  ],
  [
    "a path in a name",
    "GET",
    `${configMaps}/..%2f..%2fsecrets`,
    undefined,
    {},
    404,
    "NotFound",
  ],
  [
    "an escape that is no UTF-8",
    "GET",
    `${configMaps}/%ff`,
    undefined,
    {},
    404,
    "NotFound",
  ],
  [
    "a bad label selector",
    "GET",
    `${configMaps}?labelSelector=a+in+(`,
    undefined,
    {},
    400,
    "BadRequest",
  ],
  [
    "a bad field selector",
    "GET",
    `${configMaps}?fieldSelector=spec.x%3Db`,
    undefined,
    {},
    400,
    "BadRequest",
  ],
  [
    "a junk token",
    "GET",
    `${configMaps}?limit=1&continue=abc`,
    undefined,
    {},
    400,
    "BadRequest",
  ],
  [
    "a token of another place",
    "GET",
    `${configMaps}?limit=1&continue=${token({ v: "meta.k8s.io/v1", rv: 1, start: "../../secrets/\0" })}`,
    undefined,
    {},
    400,
    "BadRequest",
  ],
  [
    "no version in a token",
    "GET",
    `${configMaps}?limit=1&continue=${token({ v: "meta.k8s.io/v1", rv: 0, start: "a\0" })}`,
    undefined,
    {},
    400,
    "BadRequest",
  ],
  [
    "an unprintable manager",
    "POST",
    `${configMaps}?fieldManager=%01`,
    configMap("manager"),
    {},
    422,
    "Invalid",
  ],
  [
    "a foreign media type",
    "GET",
    configMaps,
    undefined,
    { accept: "text/html" },
    406,
    "NotAcceptable",
  ],
  [
    "an unknown method",
    "PROPFIND",
    configMaps,
    undefined,
    {},
    405,
    "MethodNotAllowed",
  ],
])(
  "%s is refused with a Status",
  async (_what, method, path, body, headers, code, reason) => {
    const answer = await server.call(
      method,
      path,
      body,
      headers as Record<string, string>,
    );
    expect([answer.status, answer.body.reason]).toEqual([code, reason]);
    expect(answer.body).toMatchObject({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code,
    });
  },
);

test("a bad escape is refused before anything is looked at", async () => {
  const answer = await server.call("GET", `${configMaps}/%zz`);
  expect([answer.status, answer.text]).toEqual([400, "400 Bad Request"]);
});

test("names that objects of JavaScript have are data like any other", async () => {
  const body =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto"},"data":{"__proto__":"v","constructor":"c"},"__proto__":{"polluted":1}}';
  const created = await server.call("POST", configMaps, body);
  expect(created.status).toBe(201);
  expect(created.text).toContain('"data":{"__proto__":"v","constructor":"c"}');
  const at = `${configMaps}/proto`;
  const patches: [object, string][] = [
    [merge, '{"data":{"__proto__":"w","hasOwnProperty":"q"}}'],
    [strategic, '{"data":{"__proto__":"x"},"__proto__":{"a":1}}'],
  ];
  for (const [headers, patch] of patches)
    expect(
      (await server.call("PATCH", at, patch, headers as Record<string, string>))
        .status,
    ).toBe(200);
  expect((await server.call("GET", at)).text).toContain('"__proto__":"x"');
  expect(({} as Json).polluted).toBeUndefined();
  expect(({} as Json).a).toBeUndefined();
});

test("a subresource's object has to name what the URL names", async () => {
  for (const [path, text] of [
    ["eviction", "name in URL does not match name in Eviction object"],
    ["binding", "name in URL does not match name in Binding object"],
  ])
    expect(
      (
        await server.call(
          "POST",
          `/api/v1/namespaces/default/pods/p/${path}`,
          {},
        )
      ).body,
    ).toMatchObject({ code: 400, message: text });
});

test('a version of "0" in an update asks for nothing', async () => {
  await server.call("POST", configMaps, configMap("zero"));
  const answer = await server.call("PUT", `${configMaps}/zero`, {
    metadata: { name: "zero", resourceVersion: "0" },
    data: { a: "b" },
  });
  expect([answer.status, answer.body.data]).toEqual([200, { a: "b" }]);
});

/** Writes bytes on a plain socket and reads until the server closes. */
function talk(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect(server.server.port, "127.0.0.1", () =>
      socket.write(bytes),
    );
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

test("what a body too large is never waited for: 413, and the connection ends", async () => {
  const text = await talk(
    `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{}`,
  );
  expect(text).toMatch(/^HTTP\/1.1 413 /);
  expect(text).toContain('"reason":"RequestEntityTooLarge"');
});

test("what is no HTTP ends its own connection only", async () => {
  expect(await talk("\x16\x03\x01\x02\x00\x01\r\n\r\n")).toMatch(
    /^HTTP\/1.1 400 /,
  );
  expect((await server.call("GET", "/readyz")).text).toBe("ok");
});

test("clients that break off in the middle leave nothing behind", async () => {
  await Promise.all(
    Array.from(
      { length: 50 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = net.connect(server.server.port, "127.0.0.1", () => {
            socket.write(
              index % 2
                ? `GET ${configMaps}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n`
                : `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a`,
            );
            setTimeout(() => socket.resetAndDestroy(), 20);
          });
          socket.on("error", () => undefined);
          socket.on("close", () => resolve());
        }),
    ),
  );
  const answer = await server.call("POST", configMaps, configMap("after"));
  expect(answer.status).toBe(201);
});

test("long selectors are read; headers beyond any need are refused", async () => {
  const values = Array.from({ length: 3000 }, (_, index) => `value-${index}`);
  const long = await server.call(
    "GET",
    `${configMaps}?labelSelector=${encodeURIComponent(`a in (${values.join()})`)}`,
  );
  expect([long.status, long.body.items]).toEqual([200, []]);
  expect(
    await talk(
      `GET /readyz HTTP/1.1\r\nHost: x\r\nX-Much: ${"y".repeat(2_000_000)}\r\n\r\n`,
    ),
  ).toMatch(/^HTTP\/1.1 431 |^$/);
  expect((await server.call("GET", "/readyz")).text).toBe("ok");
});
