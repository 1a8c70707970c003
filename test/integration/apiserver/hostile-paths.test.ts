// Ways of writing a path that look like one place to the authorizer and another to the handler: none leads past it.
// Written to bare sockets, as clients would tidy them up.
import * as net from "node:net";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const marker = "the-value-of-the-secret";
const asked: { path: string; resource: string; namespace: string }[] = [];
let server: TestServer;

/** ConfigMaps of the namespace "default" are allowed, and nothing else, to anybody but the one who prepares. */
beforeAll(async () => {
  server = await startTestServer({
    parts: () => ({
      authenticators: [
        {
          authenticate: ({ headers }) => ({
            user: {
              name: String(headers["x-user"] ?? "mallory"),
              groups: [],
              extra: {},
            },
          }),
        },
      ],
      authorizer: {
        authorize: ({ user, path, resource, namespace, subresource }) => {
          const allowed =
            user.name === "owner" ||
            (resource === "configmaps" &&
              namespace === "default" &&
              subresource === "");
          if (user.name !== "owner") asked.push({ path, resource, namespace });
          return { decision: allowed ? "allow" : "no-opinion", reason: "" };
        },
      },
    }),
  });
  const owner = { "x-user": "owner" };
  for (const namespace of ["default", "kube-system"]) {
    const made = await server.call(
      "POST",
      `/api/v1/namespaces/${namespace}/secrets`,
      { metadata: { name: "s" }, stringData: { value: marker } },
      owner,
    );
    expect(made.status).toBe(201);
    await server.call(
      "POST",
      `/api/v1/namespaces/${namespace}/configmaps`,
      { metadata: { name: "c" }, data: { value: `${namespace}-value` } },
      owner,
    );
  }
});
afterAll(() => server.stop());

/** The status and text of the answer to a request line. */
function ask(
  target: string,
  { method = "GET", headers = "", body = "" } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect(server.server.port, "127.0.0.1", () =>
      socket.write(
        `${method} ${target} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n${body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`}\r\n${body}`,
      ),
    );
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }),
    );
  });
}

test("what is allowed is there", async () => {
  expect((await ask(`${configMaps}/c`)).text).toContain("default-value");
  expect((await ask("/api/v1/namespaces/default/secrets/s")).status).toBe(403);
});

const allowed = "/api/v1/namespaces/default/configmaps";
test.each([
  `${allowed}/../secrets/s`,
  `${allowed}/c/../../secrets/s`,
  `${allowed}/%2e%2e/secrets/s`,
  `${allowed}/%2E%2E/secrets`,
  `${allowed}/.%2e/secrets/s`,
  `${allowed}/..%2fsecrets%2fs`,
  `${allowed}%2f..%2fsecrets`,
  `${allowed}/./../secrets/s`,
  `${allowed}/;/../secrets/s`,
  `${allowed};/../secrets/s`,
  `${allowed}/..;/secrets/s`,
  `${allowed}/%00/../secrets/s`,
  `${allowed}/c%00/secrets`,
  `${allowed}\\..\\secrets\\s`,
  `${allowed}/%5c..%5csecrets`,
  "/api/v1/namespaces/default//secrets/s",
  "//api/v1/namespaces/default/secrets/s",
  "/api//v1/namespaces/default/secrets/s",
  "/api/v1//namespaces/default/secrets",
  "/api/v1/./namespaces/default/secrets/s",
  "/%61pi/v1/namespaces/default/secrets/s",
  "/api/v1/namespaces/default/%73ecrets/s",
  "/api/v1/namespaces/default/secrets%2fs",
  "/api/v1/namespaces/default%2fsecrets%2fs",
  "/api/v1/namespaces%2fdefault/secrets/s",
  "/api/v1/namespaces/default/SECRETS/s",
  "/api/v1/namespaces/default/secrets/s/",
  "/api/v1/namespaces/default/secrets/s?x=/configmaps",
  "/api/v1/namespaces/default/secrets/s#/configmaps/c",
  "/api/v1/namespaces/default/secrets/s%23",
  "/api/v1/namespaces/default/secrets/s%3fx",
  "/api/v1/watch/namespaces/default/secrets/s",
  "/api/v1/watch/secrets",
  "/api/v1/secrets?watch=1",
  "/api/v1/secrets?fieldSelector=metadata.name%3Ds",
  "http://x/api/v1/namespaces/default/secrets/s",
  "https://evil.example/api/v1/namespaces/default/secrets/s",
  "http://api/v1/namespaces/default/configmaps@x/api/v1/secrets",
  "/api/v1/namespaces/kube-system/configmaps/c",
  "/api/v1/namespaces/default/../kube-system/configmaps/c",
  "/api/v1/namespaces/default%2f..%2fkube-system/configmaps/c",
  "/api/v1/namespaces/kube-system%00default/configmaps/c",
  "/api/v1/namespaces//configmaps",
  "/api/v1/configmaps?namespace=default",
  "/apis//v1/namespaces/default/secrets/s",
  "/apis/core/v1/namespaces/default/secrets/s",
  "/api/v1/namespaces/default/configmaps/c/../../../../namespaces/kube-system/secrets/s",
  "/api/v1/namespaces/default/pods/p/proxy/../../../secrets/s",
  "/api/v1/namespaces/default/services/s/proxy/%2e%2e/%2e%2e/secrets/s",
  "/apis/events.orbit.io/../../api/v1/secrets",
  "*",
  "",
  "api/v1/secrets",
])("GET %s shows nothing", async (target) => {
  const answer = await ask(target);
  expect(answer.text).not.toContain(marker);
  expect(answer.text).not.toContain("kube-system-value");
  expect([400, 403, 404, 301, 307, NaN]).toContain(answer.status);
});

test.each([
  ["X-HTTP-Method-Override: GET", "/api/v1/namespaces/default/secrets/s"],
  ["X-Original-URL: /api/v1/secrets", "/api/v1/secrets"],
  ["X-Rewrite-URL: /api/v1/namespaces/default/configmaps", "/api/v1/secrets"],
  [
    "X-Forwarded-Prefix: /api/v1/namespaces/default/configmaps",
    "/api/v1/secrets",
  ],
  ["X-User: mallory\r\nX-Remote-User: owner", "/api/v1/secrets"],
])("the header %s changes nothing", async (header, target) => {
  const answer = await ask(target, { headers: `${header}\r\n` });
  expect(answer.status).toBe(403);
});

test("an object goes where its path says, or nowhere", async () => {
  const other = { metadata: { name: "x", namespace: "kube-system" } };
  for (const [method, target] of [
    ["POST", allowed],
    ["PUT", `${allowed}/x`],
    ["POST", `${allowed}?namespace=kube-system`],
  ] as const) {
    const answer = await ask(target, { method, body: JSON.stringify(other) });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("does not match the namespace");
  }
  const renamed = await ask(`${allowed}/c`, {
    method: "PUT",
    body: JSON.stringify(configMap("other")),
  });
  expect(renamed.status).toBe(400);
  for (const [type, patch] of [
    [
      "application/merge-patch+json",
      { metadata: { namespace: "kube-system" } },
    ],
    ["application/merge-patch+json", { metadata: { name: "other" } }],
    [
      "application/json-patch+json",
      [{ op: "replace", path: "/metadata/namespace", value: "kube-system" }],
    ],
  ] as const) {
    const answer = await server.call("PATCH", `${allowed}/c`, patch, {
      "content-type": type,
    });
    expect([400, 422]).toContain(answer.status);
  }
});

test("the authorizer saw what was served", () => {
  for (const { path, resource, namespace } of asked)
    if (resource === "configmaps" && namespace === "default")
      expect(path.split("/").slice(0, 6).join("/")).toBe(allowed);
});
