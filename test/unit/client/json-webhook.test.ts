import * as http from "node:http";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  WebhookCallError,
  WebhookStatusError,
  WebhookTimeoutError,
} from "../../../client/webhook/call-failure.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import { freePort } from "../../support/free-port.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { startHttpsServer, type Answer } from "../../support/https-server.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Options = ConstructorParameters<typeof JsonWebhook>[1];

function webhookTo(
  server: string,
  ca: string | undefined,
  options: Partial<Options> = {},
  more: object = {},
): JsonWebhook {
  const webhook = new JsonWebhook(
    { server, tls: ca ? { ca, ...more } : {} },
    { timeoutMs: 10_000, ...options },
  );
  closing.push(() => webhook.close());
  return webhook;
}

async function serve(
  answer: Answer,
  names?: Parameters<typeof startHttpsServer>[1],
): ReturnType<typeof startHttpsServer> {
  const server = await startHttpsServer(answer, names);
  closing.push(() => server.close());
  return server;
}

async function failure(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => {
      throw new Error("the call was expected to fail");
    },
    (error: Error) => error,
  );
}

test("calls post JSON over kept connections, with the time they have", async () => {
  const seen: string[] = [];
  const server = await serve((body, request) => {
    seen.push(`${request.method} ${request.url} ${body}`);
    return { got: JSON.parse(body) as unknown };
  });
  const webhook = webhookTo(`${server.url}/a/b`, server.authority);
  expect(await webhook.post('{"n":1}')).toBe('{"got":{"n":1}}');
  expect(await webhook.post("{}", { timeoutMs: 1500 })).toBe('{"got":{}}');
  // No call may take longer than the webhook's own limit.
  await webhook.post("{}", { timeoutMs: 60_000 });
  expect(seen).toEqual([
    'POST /a/b?timeout=10s {"n":1}',
    "POST /a/b?timeout=2s {}",
    "POST /a/b?timeout=10s {}",
  ]);
  // The first one is free again only in the loop's next turn.
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test("credentials are shown", async () => {
  const seen: (string | undefined)[] = [];
  const server = await serve((_, request) => {
    seen.push(request.headers.authorization);
    return {};
  });
  const tls = { ca: server.authority };
  for (const shown of [{ token: "t" }, { username: "u", password: "p" }]) {
    const webhook = new JsonWebhook(
      { server: server.url, tls, ...shown },
      { timeoutMs: 5000 },
    );
    closing.push(() => webhook.close());
    await webhook.post("{}");
  }
  expect(seen).toEqual(["Bearer t", "Basic dTpw"]);
});

test("the address comes from resolve, for each new connection; the certificate must be the name's", async () => {
  const server = await serve(() => ({}), { dnsNames: ["svc.ns.svc"] });
  const resolve = jest.fn(() => ({ host: "127.0.0.1", port: server.port }));
  const options = { resolve, shownServer: "https://svc.ns.svc:443" };
  const webhook = webhookTo(
    "https://svc.ns.svc:443/x",
    server.authority,
    options,
    { serverName: "svc.ns.svc" },
  );
  await webhook.post("{}");
  await webhook.post("{}");
  await webhook.post("{}");
  expect(resolve.mock.calls.length).toBeLessThanOrEqual(2);
  const other = webhookTo(
    "https://svc.other.svc:443/x",
    server.authority,
    { ...options, shownServer: "https://svc.other.svc:443" },
    { serverName: "svc.other.svc" },
  );
  expect((await failure(other.post("{}"))).message).toBe(
    'Post "https://svc.other.svc:443/x?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for svc.ns.svc, not svc.other.svc',
  );
});

test("what resolve throws is the failure", async () => {
  const webhook = webhookTo("https://svc.ns.svc:443/", undefined, {
    shownServer: "https://svc.ns.svc:443",
    resolve: () => {
      throw new Error('service "svc" not found');
    },
  });
  expect((await failure(webhook.post("{}"))).message).toBe(
    'Post "https://svc.ns.svc:443/?timeout=10s": service "svc" not found',
  );
});

test("servers that can't be reached or trusted are failures with the reference's texts", async () => {
  const server = await serve(() => ({}));
  const stranger = await serve(() => ({}));
  const plain = http.createServer((_, response) => response.end("{}"));
  await new Promise<void>((done) => plain.listen(0, "127.0.0.1", done));
  closing.push(() => new Promise((done) => plain.close(done)));
  const { port: plainPort } = plain.address() as AddressInfo;
  const port = await freePort();
  const textOf = async (url: string, ca?: string): Promise<string> => {
    const error = await failure(webhookTo(url, ca).post("{}"));
    expect(error).toBeInstanceOf(WebhookCallError);
    return error.message;
  };
  expect(await textOf(`https://127.0.0.1:${port}/x`)).toBe(
    `Post "https://127.0.0.1:${port}/x?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  );
  expect(await textOf(server.url, stranger.authority)).toMatch(
    /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
  expect(await textOf(server.url)).toMatch(
    /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
  expect(
    await textOf(`https://localhost:${server.port}`, server.authority),
  ).toMatch(
    /x509: certificate is not valid for any names, but wanted to match localhost$/,
  );
  expect(await textOf(`https://127.0.0.1:${plainPort}`)).toMatch(
    /: http: server gave HTTP response to HTTPS client$/,
  );
  expect(await textOf("https://nowhere.invalid/x")).toBe(
    'Post "https://nowhere.invalid/x?timeout=10s": dial tcp: lookup nowhere.invalid: no such host',
  );
});

test("a server that does not answer, or not to the end, is left at the call's time limit", async () => {
  const reached: (() => void)[] = [];
  const server = await serve((_, request, response) => {
    if (request.url!.startsWith("/half")) {
      response.writeHead(200, { "content-length": "10" });
      response.write("{");
    }
    reached.shift()?.();
  });
  for (const path of ["/none", "/half"]) {
    const clock = new FakeClock();
    const webhook = webhookTo(`${server.url}${path}`, server.authority, {
      clock,
    });
    const arrived = new Promise<void>((resolve) => reached.push(resolve));
    const failing = failure(webhook.post("{}", { timeoutMs: 3000 }));
    await arrived;
    clock.advance(3000);
    const error = await failing;
    expect(error).toBeInstanceOf(WebhookTimeoutError);
    expect(error.message).toBe(
      `Post "${server.url}${path}?timeout=3s": context deadline exceeded`,
    );
  }
});

test("a caller can end the call", async () => {
  const server = await serve(() => undefined);
  const webhook = webhookTo(server.url, server.authority);
  const abort = new AbortController();
  const failing = failure(webhook.post("{}", { signal: abort.signal }));
  abort.abort();
  expect((await failing).message).toMatch(/: context canceled$/);
});

test("an answer that is too large is not received", async () => {
  let sent = 0;
  const server = await serve(async (_, __, response) => {
    response.on("error", () => undefined);
    const chunk = Buffer.alloc(64 * 1024, "x");
    while (!response.destroyed && sent < 256) {
      sent++;
      if (!response.write(chunk))
        await Promise.race([
          new Promise((done) => response.once("drain", done)),
          new Promise((done) => response.once("close", done)),
        ]);
    }
  });
  const webhook = webhookTo(server.url, server.authority);
  const error = await failure(webhook.post("{}", { maxAnswerBytes: 100_000 }));
  expect(error.message).toBe("the answer is larger than 100000 bytes");
  expect(sent).toBeLessThan(200);
});

test.each([
  [
    302,
    "",
    "",
    "the server responded with the status code 302 but did not return more information",
  ],
  [
    404,
    "text/plain",
    "nope",
    "the server could not find the requested resource",
  ],
  [403, "text/plain", "go away ", "go away"],
  [
    500,
    "text/plain",
    "oh\nno",
    'an error on the server ("oh\\nno") has prevented the request from succeeding',
  ],
  [
    500,
    "application/json",
    "[]",
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  [
    503,
    "application/json",
    '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not now","code":503}',
    "not now",
  ],
])("an answer of %i with %s %s", async (code, type, body, message) => {
  const server = await serve((_, __, response) => {
    const more = code === 302 ? { location: "/elsewhere" } : {};
    response.writeHead(code, type ? { "content-type": type, ...more } : more);
    response.end(body);
  });
  const error = await failure(
    webhookTo(server.url, server.authority).post("{}"),
  );
  expect(error).toBeInstanceOf(WebhookStatusError);
  expect(error.message).toBe(message);
  expect((error as WebhookStatusError).statusCode).toBe(code);
});

test("a server may ask for another try", async () => {
  let calls = 0;
  const server = await serve((_, __, response) => {
    if (++calls > 2) return { calls };
    response.writeHead(calls === 1 ? 429 : 503, { "retry-after": "0" });
    response.end();
    return undefined;
  });
  const webhook = webhookTo(server.url, server.authority);
  expect(await webhook.post("{}")).toBe('{"calls":3}');
});

test("a call whose connection breaks off is not sent again: it may have had its effect", async () => {
  let calls = 0;
  const server = await serve((_, request) => {
    calls++;
    if (calls !== 2) return { calls };
    request.socket.destroy();
    return undefined;
  });
  const webhook = webhookTo(server.url, server.authority);
  await webhook.post("{}");
  expect((await failure(webhook.post("{}"))).message).toMatch(/: EOF$/);
  expect(await webhook.post("{}")).toBe('{"calls":3}');
});

test("what is no HTTP is a failure", async () => {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("hello\r\n\r\n", () => socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(() => new Promise((done) => server.close(done)));
  const { port } = server.address() as AddressInfo;
  const error = await failure(
    webhookTo(`http://127.0.0.1:${port}`, undefined).post("{}"),
  );
  expect(error.message).toMatch(/malformed HTTP response/);
});

test("closing ends what runs", async () => {
  const server = await serve(() => undefined);
  const webhook = webhookTo(server.url, server.authority);
  const failing = failure(webhook.post("{}"));
  await pause(50);
  await webhook.close();
  expect(await failing).toBeInstanceOf(WebhookCallError);
  expect(await failure(webhook.post("{}"))).toBeInstanceOf(WebhookCallError);
});
