// Requests that offer an upgrade where none is taken are answered like others; streams still upgrade.
import { request } from "node:http";
import { startTestServer, type TestServer } from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

function ask(
  method: string,
  path: string,
  body = "",
  upgrade = "h2c",
  chunked = false,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      server.url + path,
      {
        method,
        agent: false,
        headers: {
          connection: "Upgrade",
          upgrade,
          "content-type": "application/json",
          ...(body && !chunked
            ? { "content-length": String(Buffer.byteLength(body)) }
            : {}),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode!, text }),
        );
      },
    );
    sent.on("error", reject);
    if (chunked) sent.write(body.slice(0, 3));
    sent.end(chunked ? body.slice(3) : body);
  });
}

const configMaps = "/api/v1/namespaces/default/configmaps";

test.each([
  ["GET", "/version", 200],
  ["GET", "/api/v1/namespaces/default", 200],
  ["GET", "/nothing", 404],
  ["GET", `${configMaps}?watch=1&timeoutSeconds=1`, 200],
  ["DELETE", `${configMaps}/none`, 404],
])("%s %s", async (method, path, status) => {
  expect((await ask(method, path)).status).toBe(status);
});

test("WebSocket is declined where there is no stream", async () => {
  const { status, text } = await ask("GET", configMaps, "", "websocket");
  expect([status, (JSON.parse(text) as { kind: string }).kind]).toEqual([
    200,
    "ConfigMapList",
  ]);
});

test.each([10, 300_000])("a body of %i bytes arrives", async (bytes) => {
  const body = JSON.stringify({
    metadata: { generateName: "big-" },
    data: { text: "x".repeat(bytes) },
  });
  const { status, text } = await ask("POST", configMaps, body);
  expect(status).toBe(201);
  expect((JSON.parse(text) as typeof body & { data: object }).data).toEqual({
    text: "x".repeat(bytes),
  });
});

test.each([10, 300_000])("and in chunks, of %i bytes", async (bytes) => {
  const data = { text: "x".repeat(bytes) };
  const body = JSON.stringify({ metadata: { generateName: "big-" }, data });
  const { status, text } = await ask("POST", configMaps, body, "h2c", true);
  expect(status).toBe(201);
  expect((JSON.parse(text) as { data: object }).data).toEqual(data);
});

test("a body that is too large is refused", async () => {
  const body = JSON.stringify({ data: { text: "x".repeat(4 * 1024 * 1024) } });
  const answer = await ask("POST", configMaps, body).catch(
    (error: NodeJS.ErrnoException) => ({ status: error.code }),
  );
  // Who is still sending may be cut off before it can read the answer.
  expect([413, "EPIPE", "ECONNRESET"]).toContain(answer.status);
});
