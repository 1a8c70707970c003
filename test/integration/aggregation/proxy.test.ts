// Requests that an aggregated server answers: who asks and how it is known, streams in both directions, upgrades, and what
// clients get from servers that fail.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type { RequestAuthenticator } from "../../../http-kit/authentication/authenticator.ts";
import { eventually } from "../../support/eventually.ts";
import type {
  ExtensionTestServer,
  SeenRequest,
} from "../../support/extension-server.ts";
import { rawRequest } from "../../support/raw-request.ts";
import type { TestServer } from "../apiserver/support.ts";
import {
  apiService,
  apiServices,
  condition,
  createService,
  register,
  startAggregator,
  startExtension,
} from "./support.ts";

const group = "wardle.test";
const flunders = `/apis/${group}/v1/namespaces/default/flunders`;

let server: TestServer;
let extension: ExtensionTestServer;
const sockets: Socket[] = [];

/** Without what the aggregator asks for itself. */
const asked = (): SeenRequest[] =>
  extension.seen.filter(
    ({ headers }) => headers["user-agent"] !== "orbit-aggregator",
  );

/** A user named by a header, with everything a user can have. */
const authenticator: RequestAuthenticator = {
  authenticate({ headers }) {
    const name = headers["x-test-user"];
    if (typeof name !== "string") return undefined;
    const extra = { "example.com/a b": ["1", "2"], plain: ["ü"] };
    const groups = ["one", "two"];
    const user = { name: decodeURIComponent(name), uid: "u1", groups, extra };
    return { user };
  },
};

/** What is to happen when the time for a discovery document is over. */
const overdue = new Set<() => void>();
const clock: Clock = {
  ...systemClock,
  after(delayMs, callback) {
    if (delayMs !== 5000) return systemClock.after(delayMs, callback);
    overdue.add(callback);
    return { cancel: () => void overdue.delete(callback) };
  },
};
/** A document that a part of this process asks for. */
const partAsks = (path: string): Promise<unknown> =>
  server.server
    .transport({ name: "part", groups: ["system:masters"], extra: {} })
    .raw("GET", path);

beforeAll(async () => {
  server = await startAggregator({
    clock,
    parts: () => ({ authenticators: [authenticator] }),
    aggregation: {
      identityFields: { names: ["x-test-user"], prefixes: ["x-test-extra-"] },
    },
  });
  extension = await startExtension(group);
  await createService(server);
  await register(server, extension, group);
});
beforeEach(() => {
  extension.seen.length = 0;
  extension.answer = undefined;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
  await extension.stop();
});

test("the extension knows the caller by headers, and the server by its certificate", async () => {
  const { status, body } = await server.call("GET", flunders, undefined, {
    "x-test-user": "j%C3%BCrgen",
    "x-test-extra-own": "mine",
    "x-remote-user": "root",
    "x-remote-group": "system:masters",
    "x-remote-uid": "0",
    "x-remote-extra-scopes": "all",
    authorization: "Basic eDp5",
    accept: "application/json",
  });
  expect([status, body.kind]).toEqual([200, "FlunderList"]);
  const [seen] = asked();
  expect(seen!.client).toBe("front-proxy-client");
  const shown = pairs(seen!.rawHeaders).filter(([name]) =>
    /^(x-|authorization)/i.test(name),
  );
  expect(shown).toEqual(
    expect.arrayContaining([
      ["x-remote-user", "jürgen"],
      ["x-remote-group", "one"],
      ["x-remote-group", "two"],
      ["x-remote-extra-example.com%2fa%20b", "1"],
      ["x-remote-extra-example.com%2fa%20b", "2"],
      ["x-remote-extra-plain", "ü"],
      ["x-forwarded-for", "127.0.0.1"],
      ["x-forwarded-uri", flunders],
    ]),
  );
  const names = new Set(shown.map(([name]) => name));
  for (const stripped of [
    "authorization",
    "x-remote-uid",
    "x-remote-extra-scopes",
    "x-test-user",
    "x-test-extra-own",
  ])
    expect(names).not.toContain(stripped);
  expect(shown).not.toContainEqual(["x-remote-group", "system:masters"]);
});

test("a name that no header can have is no way to say more", async () => {
  const { status, text } = await server.call("GET", flunders, undefined, {
    "x-test-user": encodeURIComponent("a\r\nx-remote-group: system:masters"),
  });
  expect([status, text]).toEqual([
    503,
    expect.stringContaining("error trying to reach service"),
  ]);
  expect(asked()).toEqual([]);
});

test("path, query and body arrive as they were sent", async () => {
  const body = randomBytes(500_000).toString("hex");
  const answer = await server.call(
    "POST",
    `${flunders}?dryRun=All&x=%2F`,
    body,
  );
  expect(answer.status).toBe(201);
  expect(answer.text === body).toBe(true);
  expect(asked()[0]!.url).toBe(`${flunders}?dryRun=All&x=%2F`);
});

test("a body without a length stays one request", async () => {
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${flunders}/one`,
      { method: "DELETE", headers: { "transfer-encoding": "chunked" } },
      (response) => resolve(response.resume().statusCode),
    );
    sent.on("error", reject);
    sent.end("GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n");
  });
  expect(status).toBe(200);
  await server.call("GET", flunders);
  expect(asked().map(({ url }) => url)).toEqual([`${flunders}/one`, flunders]);
});

test("a body is not waited for", async () => {
  let first: Buffer | undefined;
  extension.answer = (incoming) => {
    incoming.on("data", (chunk: Buffer) => (first ??= chunk));
    return true;
  };
  const sent = request(server.url + flunders, { method: "POST" });
  sent.on("error", () => undefined);
  sent.write("the beginning");
  await eventually(() => first !== undefined);
  expect(first!.toString()).toBe("the beginning");
  sent.destroy();
});

test("a watch is passed on as it comes, and ends with its client", async () => {
  const watch = await server.watch(`${flunders}?watch=1`);
  await eventually(() => extension.watches.size === 1);
  const event = { type: "ADDED", object: { metadata: { name: "three" } } };
  extension.emit(event);
  expect(await watch.next()).toEqual(event);
  watch.close();
  await eventually(() => extension.watches.size === 0, {
    what: "end of the watch",
  });
});

test.each(["websocket", "SPDY/3.1"])("%s is switched to", async (upgrade) => {
  const { status, head } = await rawRequest(
    server.server.port,
    {
      path: `${flunders}/one/echo`,
      method: "GET",
      headers: { "x-test-user": "ann", "x-remote-user": "root" },
      upgrade,
    },
    sockets,
  );
  expect([status, head]).toEqual([
    101,
    expect.stringContaining(`Upgrade: ${upgrade}`),
  ]);
  const socket = sockets.at(-1)!;
  const bytes = randomBytes(200_000);
  const parts: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => parts.push(chunk));
  socket.write(bytes);
  await eventually(() => Buffer.concat(parts).length === bytes.length);
  expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  expect(asked()[0]!.headers["x-remote-user"]).toBe("ann");
  socket.destroy();
});

test("an upgrade that is refused is answered in full", async () => {
  const offer = { method: "GET", headers: {}, upgrade: "websocket" };
  const refused = await rawRequest(
    server.server.port,
    { ...offer, path: `${flunders}/one` },
    sockets,
  );
  expect([refused.status, refused.body, refused.ended]).toEqual([
    403,
    "no",
    true,
  ]);
});

test("a redirect is not passed on", async () => {
  extension.answer = (_, response) => {
    response.writeHead(302, { location: "https://evil.test/" }).end();
    return true;
  };
  const { status, text, headers } = await server.call("GET", flunders);
  expect([status, text, headers.get("location")]).toEqual([
    502,
    "the backend attempted to redirect this request, which is not permitted",
    null,
  ]);
});

test("a redirect is passed on where that is allowed", async () => {
  const lenient = await startAggregator({
    aggregation: { rejectForwardingRedirect: false },
  });
  await createService(lenient);
  await register(lenient, extension, group);
  extension.answer = (_, response) => {
    response.writeHead(307, { location: `${flunders}/other` }).end();
    return true;
  };
  const { status, headers } = await fetch(lenient.url + flunders, {
    redirect: "manual",
  });
  expect([status, headers.get("location")]).toEqual([307, `${flunders}/other`]);
  await lenient.stop();
});

test("what the extension says of other origins is not passed on", async () => {
  extension.answer = (_, response) => {
    response.writeHead(200, {
      "access-control-allow-origin": "*",
      "x-own": "yes",
    });
    response.end("{}");
    return true;
  };
  const { headers } = await server.call("GET", flunders);
  expect([
    headers.get("access-control-allow-origin"),
    headers.get("x-own"),
  ]).toEqual([null, "yes"]);
});

const breaksOff: ExtensionTestServer["answer"] = (_, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("half");
  setImmediate(() => response.destroy());
  return true;
};

test("an answer that breaks off does not look whole", async () => {
  extension.answer = breaksOff;
  await expect(server.call("GET", flunders)).rejects.toThrow();
});

test("a part of this process hears of an answer that breaks off", async () => {
  extension.answer = breaksOff;
  await expect(partAsks(flunders)).rejects.toThrow("the answer was cut off");
});

test("a part of this process reads no answer without end", async () => {
  let ended = false;
  extension.answer = (_, response) => {
    response.writeHead(200);
    const block = Buffer.alloc(1 << 20, " ");
    const more = (): void => {
      while (response.write(block));
    };
    response.on("drain", more).once("close", () => (ended = true));
    more();
    return true;
  };
  await expect(partAsks(flunders)).rejects.toThrow(
    "the answer has more than 16777216 bytes",
  );
  await eventually(() => ended);
});

test("a list of resources that never ends is cut off", async () => {
  extension.answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{");
    return true;
  };
  const asking = expect(partAsks(`/apis/${group}/v1`)).rejects.toThrow();
  await eventually(() => overdue.size > 0);
  await eventually(() => asked().length > 0);
  for (const end of overdue) end();
  await asking;
  await eventually(() => overdue.size === 0);
});

test("a kept connection that was closed is no failure", async () => {
  const used = new WeakSet<object>();
  let closed = 0;
  extension.answer = ({ socket, url }) => {
    // The first request that comes over a connection that is kept: it ends under it.
    if (url === flunders && used.has(socket) && closed === 0) {
      closed++;
      socket.destroy();
      return true;
    }
    used.add(socket);
    return false;
  };
  await eventually(async () => {
    expect((await server.call("GET", flunders)).status).toBe(200);
    return closed === 1;
  });
});

test("a server that hangs keeps only its own clients waiting", async () => {
  extension.answer = () => true;
  const hanging = server.call("GET", `${flunders}?timeout=1s`);
  const others = await Promise.all(
    ["/api/v1/namespaces", "/apis/apps/v1", "/version"].map((path) =>
      server.call("GET", path),
    ),
  );
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await hanging).status).toBe(504);
});

test("paths beside the group version are this server's", async () => {
  for (const [path, status] of [
    [`/apis/${group}/v2/flunders`, 404],
    [`/apis/${group}/v1`, 200],
    ["/api/v1", 200],
  ] as const)
    expect((await server.call("GET", path)).status).toBe(status);
  expect(asked().map(({ url }) => url)).toEqual([`/apis/${group}/v1`]);
});

test("an authority that did not sign the certificate is refused", async () => {
  const other = await startExtension("other.test");
  const caBundle = Buffer.from(extension.authority).toString("base64");
  await server.call(
    "POST",
    apiServices,
    apiService("other.test", other.port, { caBundle }),
  );
  // The server is there, whoever it is.
  await eventually(
    async () => (await condition(server, "v1.other.test"))?.status === "True",
  );
  const refused = await server.call("GET", "/apis/other.test/v1/things");
  expect([refused.status, refused.text]).toEqual([
    503,
    "error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n",
  ]);
  const patched = await server.call(
    "PATCH",
    `${apiServices}/v1.other.test`,
    { spec: { caBundle: null, insecureSkipTLSVerify: true } },
    { "content-type": "application/merge-patch+json" },
  );
  expect(patched.status).toBe(200);
  expect((await server.call("GET", "/apis/other.test/v1/things")).status).toBe(
    404,
  );
  await server.call("DELETE", `${apiServices}/v1.other.test`);
  await other.stop();
});

test("a certificate for another name is refused", async () => {
  await server.call("POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "renamed" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  const caBundle = Buffer.from(extension.authority).toString("base64");
  const service = {
    namespace: "default",
    name: "renamed",
    port: extension.port,
  };
  await server.call(
    "POST",
    apiServices,
    apiService(group, extension.port, { caBundle, service }, "v3"),
  );
  extension.answer = (_, response) => {
    response.end("{}");
    return true;
  };
  await eventually(
    async () => (await condition(server, `v3.${group}`))?.status === "True",
  );
  const { status, text } = await server.call("GET", `/apis/${group}/v3/x`);
  expect([status, text]).toEqual([
    503,
    "error trying to reach service: tls: failed to verify certificate: x509: certificate is valid for extension.default.svc, not renamed.default.svc\n",
  ]);
  await server.call("DELETE", `${apiServices}/v3.${group}`);
});

test("a client that goes away ends its request at the extension", async () => {
  let closed = false;
  extension.answer = (_, response) => {
    response.once("close", () => (closed = true));
    return true;
  };
  const sent = request(server.url + flunders);
  sent.on("error", () => undefined);
  sent.end();
  await eventually(() => asked().length === 1);
  await wait(10);
  sent.destroy();
  await eventually(() => closed);
});

function pairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2)
    found.push([
      raw[at]!.toLowerCase(),
      Buffer.from(raw[at + 1]!, "latin1").toString(),
    ]);
  return found;
}
