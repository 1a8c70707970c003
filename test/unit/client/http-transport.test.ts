import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import pino from "pino";
import { isExpired, isNotFound } from "../../../api/errors.ts";
import { systemClock } from "../../../api/clock.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { lines } from "../../../client/content/watch-frames.ts";
import { configMaps, pods } from "../../../client/resources.ts";

const logger = pino({ level: "silent" });
let server: Server | undefined;
let close: (() => Promise<void>) | undefined;

async function clientOf(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) {
  server = createServer(handle);
  await new Promise<void>((resolve) =>
    server!.listen(0, "127.0.0.1", () => resolve()),
  );
  const { port } = server.address() as AddressInfo;
  const client = createClient(
    createHttpTransport({ server: `http://127.0.0.1:${port}`, token: "t" }),
    { clock: systemClock, logger },
  );
  close = () => client.close();
  return client;
}

afterEach(async () => {
  await close?.();
  server?.closeAllConnections();
  if (server) await new Promise((resolve) => server!.close(resolve));
  server = close = undefined;
});

const json = (response: ServerResponse, body: unknown, code = 200) => {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

test("requests go to the reference's paths with credentials and content types", async () => {
  const seen: string[] = [];
  const client = await clientOf((request, response) => {
    seen.push(
      `${request.method} ${request.url} ${request.headers["content-type"] ?? ""} ${request.headers.authorization}`,
    );
    json(response, { metadata: {} });
  });
  await client.resource(pods).get("a", "n");
  await client
    .resource(pods)
    .patch(
      "a",
      "n",
      { type: "merge", body: {} },
      { subresource: "status", dryRun: true },
    );
  await client
    .resource(pods)
    .createSubresource("a", "n", "binding", { target: {} });
  await client.resource(pods).list({ labelSelector: "a=b,c" });
  expect(seen).toEqual([
    "GET /api/v1/namespaces/n/pods/a  Bearer t",
    "PATCH /api/v1/namespaces/n/pods/a/status?dryRun=All application/merge-patch+json Bearer t",
    "POST /api/v1/namespaces/n/pods/a/binding application/json Bearer t",
    "GET /api/v1/pods?labelSelector=a%3Db%2Cc  Bearer t",
  ]);
});

test("a Status becomes an ApiError; Retry-After is waited out", async () => {
  let calls = 0;
  const client = await clientOf((request, response) => {
    if (request.url?.endsWith("/busy")) {
      if (calls++ === 0) {
        response.writeHead(429, { "retry-after": "0" });
        return response.end("busy");
      }
      return json(response, { metadata: { name: "busy" } });
    }
    json(
      response,
      {
        kind: "Status",
        status: "Failure",
        reason: "NotFound",
        code: 404,
        message: "no",
      },
      404,
    );
  });
  const error = await client
    .resource(pods)
    .get("x", "n")
    .catch((caught: unknown) => caught);
  expect(isNotFound(error)).toBe(true);
  expect((await client.resource(pods).get("busy", "n")).metadata.name).toBe(
    "busy",
  );
});

test("an informer lists, follows, resumes and relists after 410", async () => {
  let lists = 0;
  const watches: string[] = [];
  let push: (event: unknown) => void = () => {};
  const client = await clientOf((request, response) => {
    const url = new URL(request.url ?? "", "http://x");
    const item = (name: string, version: string) => ({
      metadata: { name, namespace: "n", uid: name, resourceVersion: version },
    });
    if (url.searchParams.get("sendInitialEvents"))
      return json(
        response,
        { kind: "Status", reason: "Invalid", code: 422 },
        422,
      );
    if (!url.searchParams.has("watch")) {
      lists++;
      return json(response, {
        kind: "ConfigMapList",
        apiVersion: "v1",
        metadata: { resourceVersion: String(lists * 10) },
        items:
          lists === 1 ? [item("a", "1"), item("b", "2")] : [item("b", "12")],
      });
    }
    watches.push(url.searchParams.get("resourceVersion") ?? "");
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    push = (event) => response.write(JSON.stringify(event) + "\n");
    if (watches.length === 1)
      push({
        type: "ADDED",
        object: { kind: "ConfigMap", ...item("c", "11") },
      });
    if (watches.length === 2)
      push({
        type: "ERROR",
        object: { kind: "Status", code: 410, reason: "Expired" },
      });
    if (watches.length <= 2) response.end();
  });
  const informer = client.informer(configMaps, {
    indexes: { first: (object) => [object.metadata.name[0]!] },
  });
  const log: string[] = [];
  const done = new Promise<void>((resolve) => {
    informer.addHandler({
      onAdd: (object) => {
        log.push(`+${object.kind} ${object.metadata.name}`);
        expect(Object.isFrozen(object.metadata)).toBe(true);
      },
      onUpdate: (_, object) => log.push(`~${object.metadata.name}`),
      onDelete: (object) => {
        log.push(`-${object.metadata.name}`);
        if (object.metadata.name === "c") resolve();
      },
    });
  });
  await done;
  expect(log).toEqual([
    "+ConfigMap a",
    "+ConfigMap b",
    "+ConfigMap c",
    "~b",
    "-a",
    "-c",
  ]);
  expect(watches.slice(0, 2)).toEqual(["10", "11"]);
  expect(informer.lister.byIndex("first", "b")).toHaveLength(1);
  expect(informer.lister.byIndex("first", "a")).toHaveLength(0);
});

test("an ERROR event throws, close ends a watch quietly", async () => {
  const client = await clientOf((request, response) => {
    response.writeHead(200);
    if (
      request.url?.includes("resourceVersion=1&") ||
      request.url?.endsWith("=1")
    )
      return response.end(
        '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n',
      );
    response.flushHeaders();
  });
  const read = async (version: string, closeAfter: boolean) => {
    const stream = client.resource(pods).watch({ resourceVersion: version });
    if (closeAfter) setImmediate(() => stream.close());
    for await (const _ of stream) throw new Error("no event expected");
  };
  await expect(read("1", false)).rejects.toThrow();
  expect(
    isExpired(await read("1", false).catch((error: unknown) => error)),
  ).toBe(true);
  await read("2", true);
});

test("lines are split across chunks and bounded", async () => {
  async function* chunks(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text);
  }
  const all: string[] = [];
  for await (const line of lines(chunks("a", "b\nc\n", "\nd"))) all.push(line);
  expect(all).toEqual(["ab", "c", "", "d"]);
  const long = async () => {
    for await (const _ of lines(chunks("12345", "678"), 6));
  };
  await expect(long()).rejects.toThrow("longer than 6 bytes");
});
