// The proxy in front of a real TLS server that plays the node's agent.
import type * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable, type Duplex } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../../api/pki/certificate.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { ConnectRequest } from "../../../../apiserver-lite/proxy/connect-handler.ts";
import { proxyTarget } from "../../../../apiserver-lite/proxy/target.ts";
import { ProxyHandler } from "../../../../apiserver-lite/proxy/proxy-handler.ts";
import { FakeState } from "../fake-state.ts";

const nowMs = Date.now();
const ca = createCertificateAuthority({ subject: { commonName: "ca" }, nowMs });
const agentPair = issueCertificate(ca, {
  subject: { commonName: "agent" },
  usages: ["server auth"],
  ipAddresses: ["127.0.0.1"],
  validityMs: YEAR_MS,
  nowMs,
});
const clientPair = issueCertificate(ca, {
  subject: { commonName: "api" },
  usages: ["client auth"],
  validityMs: YEAR_MS,
  nowMs,
});

const state = new FakeState();
const seen: http.IncomingMessage[] = [];
const agentSockets = new Set<Duplex>();
const agent = https.createServer(
  {
    cert: agentPair.certificate,
    key: agentPair.key,
    ca: ca.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  },
  (request, response) => {
    seen.push(request);
    if (request.url?.includes("/waiting/")) {
      response
        .writeHead(400)
        .end(
          'container "c" in pod "waiting" is waiting to start: ContainerCreating',
        );
    } else if (request.url?.startsWith("/exec/ns/refused")) {
      response
        .writeHead(404, { "content-type": "text/plain" })
        .end("pod does not exist");
    } else if (request.url?.startsWith("/page")) {
      const gzip = request.url.endsWith("gzip");
      const page = Buffer.from(`<a href="/x">${"é".repeat(70_000)}</a>`);
      response
        .writeHead(200, {
          "content-type": "text/html; charset=utf-8",
          "content-length": gzip ? gzipSync(page).length : page.length,
          ...(gzip ? { "content-encoding": "gzip" } : {}),
        })
        .end(gzip ? gzipSync(page) : page);
    } else if (request.url?.startsWith("/moved")) {
      response.writeHead(302, { location: "/there" }).end();
    } else {
      response
        .writeHead(200, { "x-from": "agent" })
        .end(`${request.method} ${request.url}`);
    }
  },
);
agent.on("upgrade", (request: http.IncomingMessage, socket: Duplex) => {
  seen.push(request);
  if (request.url?.startsWith("/exec/ns/refused")) {
    socket.end(
      "HTTP/1.1 404 Not Found\r\ncontent-length: 18\r\n\r\npod does not exist",
    );
    return;
  }
  agentSockets.add(socket);
  socket.write(
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Echo: yes\r\n\r\nhello ",
  );
  socket.pipe(socket);
});

let handler: ProxyHandler;

function pod(name: string, spec: object = {}): void {
  state.put("", "pods", {
    metadata: { name, namespace: "ns" },
    spec: { nodeName: "n1", containers: [{ name: "c" }], ...spec },
    status: {},
  } as unknown as AnyObject);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => agent.listen(0, "127.0.0.1", resolve));
  const node = (name: string, port: number): void =>
    state.put("", "nodes", {
      metadata: { name },
      status: {
        addresses: [
          { type: "Hostname", address: name },
          { type: "InternalIP", address: "127.0.0.1" },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    } as unknown as AnyObject);
  node("n1", (agent.address() as AddressInfo).port);
  const closed = net.createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  node("gone", (closed.address() as AddressInfo).port);
  await new Promise((resolve) => closed.close(resolve));
  pod("a");
  pod("waiting");
  pod("refused");
  pod("unscheduled", { nodeName: undefined });
  pod("lost", { nodeName: "gone" });
  const two = {
    containers: [{ name: "x" }, { name: "y" }],
    initContainers: [{ name: "i" }],
  };
  pod("two", two);
  pod("two-unscheduled", { ...two, nodeName: undefined });
  handler = new ProxyHandler({
    state,
    logger: pino({ level: "silent" }),
    clientCertificate: clientPair,
    agentAuthority: ca.certificate,
    identityFields: { names: ["x-test-user"], prefixes: ["x-test-extra-"] },
  });
});

afterAll(() => {
  handler.close();
  agent.closeAllConnections();
  for (const socket of agentSockets) socket.destroy();
  agent.close();
});

function request(
  subresource: string,
  name: string,
  query = "",
  extra: Partial<ConnectRequest> = {},
): ConnectRequest {
  return {
    method: "GET",
    group: "",
    version: "v1",
    resource: "pods",
    subresource,
    namespace: "ns",
    name,
    proxyPath: "",
    query: new URLSearchParams(query),
    rawQuery: query,
    headers: {
      authorization: "Bearer secret",
      "x-kept": "1",
      "impersonate-user": "root",
      host: "api",
    },
    user: { name: "u", groups: [], extra: {} },
    remoteAddress: "10.1.1.1",
    signal: new AbortController().signal,
    read: (group, resource, namespace, object) =>
      state.read(group, resource, namespace, object),
    ...extra,
  };
}

async function serve(
  what: ConnectRequest,
  sent: readonly Buffer[] = [],
): Promise<{
  status: number;
  headers: http.OutgoingHttpHeaders;
  body: string;
  bytes: Buffer;
}> {
  const sink = new PassThrough();
  const answer = { status: 0, headers: {} as http.OutgoingHttpHeaders };
  const body = (async () => Buffer.concat(await sink.toArray()))();
  await handler.serve(what, Readable.from(sent), {
    start(status, headers) {
      Object.assign(answer, { status, headers });
      return sink;
    },
  });
  const bytes = await body;
  return { ...answer, body: bytes.toString(), bytes };
}

/** A socket pair: what the client holds, and what the handler gets. */
async function socketPair(): Promise<[net.Socket, net.Socket]> {
  const server = net.createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<net.Socket>((resolve) =>
    server.once("connection", resolve),
  );
  const client = net.connect({
    port: (server.address() as AddressInfo).port,
    allowHalfOpen: true,
  });
  const pair: [net.Socket, net.Socket] = [client, await accepted];
  server.close();
  return pair;
}

it("reads logs from the agent of the pod's node, without the client's credentials", async () => {
  const answer = await serve(
    request("log", "a", "follow=true&tailLines=5&pretty=1"),
  );
  expect(answer).toMatchObject({
    status: 200,
    body: "GET /containerLogs/ns/a/c?follow=true&tailLines=5",
  });
  const { headers } = seen.at(-1)!;
  expect([
    headers.authorization,
    headers["impersonate-user"],
    headers["x-kept"],
  ]).toEqual([undefined, undefined, "1"]);
});

describe("fields by which front proxies name users", () => {
  const forged = {
    "x-remote-user": "system:admin",
    "x-test-user": "system:admin",
    "x-test-extra-scopes": "all",
    "x-test-users": "kept",
  };
  const passedOn = (): unknown =>
    Object.keys(forged).map((name) => seen.at(-1)!.headers[name]);

  it("are not passed on with a plain request", async () => {
    await serve(request("log", "a", "", { headers: forged }));
    expect(passedOn()).toEqual([undefined, undefined, undefined, "kept"]);
  });

  it("are not passed on with an upgrade", async () => {
    const [client, accepted] = await socketPair();
    const headers = { ...forged, connection: "Upgrade", upgrade: "SPDY/3.1" };
    await handler
      .upgrade(
        request("exec", "refused", "container=c", { headers }),
        accepted,
        Buffer.alloc(0),
      )
      .catch(() => {});
    expect(passedOn()).toEqual([undefined, undefined, undefined, "kept"]);
    client.destroy();
    accepted.destroy();
  });
});

it("answers an unscheduled pod's logs with nothing", async () => {
  expect(await serve(request("log", "unscheduled"))).toMatchObject({
    status: 200,
    body: "",
  });
});

it.each<[string, ConnectRequest, number, string | RegExp]>([
  ["an unknown pod", request("log", "none"), 404, 'pods "none" not found'],
  [
    "an unknown container",
    request("log", "a", "container=z"),
    400,
    "container z is not valid for pod a",
  ],
  [
    "a choice of containers",
    request("log", "two"),
    400,
    "a container name must be specified for pod two, choose one of: [x y] or one of the init containers: [i]",
  ],
  [
    "a choice of containers before the pod has a node",
    request("log", "two-unscheduled"),
    400,
    "a container name must be specified for pod two-unscheduled, choose one of: [x y] or one of the init containers: [i]",
  ],
  [
    "an unknown container before the pod has a node",
    request("log", "unscheduled", "container=z"),
    400,
    "container z is not valid for pod unscheduled",
  ],
  [
    "a bad option",
    request("log", "a", "tailLines=-1"),
    422,
    /tailLines: Invalid value/,
  ],
  [
    "a bad option, also of an unknown container before the pod has a node",
    request("log", "unscheduled", "container=z&tailLines=-1"),
    422,
    /tailLines: Invalid value/,
  ],
  [
    "a waiting container",
    request("log", "waiting"),
    400,
    'container "c" in pod "waiting" is waiting to start: ContainerCreating',
  ],
  [
    "an unreachable node",
    request("log", "lost"),
    500,
    /^Internal error occurred: error dialing backend: dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/,
  ],
  [
    "exec without upgrade",
    request("exec", "a", "command=ls&stdout=1"),
    400,
    "Upgrade request required",
  ],
])("explains %s", async (_, what, code, message) => {
  const error = await serve(what).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code });
  if (typeof message === "string")
    expect((error as Error).message).toBe(message);
  else expect((error as Error).message).toMatch(message);
});

it("joins upgrades byte for byte", async () => {
  const [client, served] = await socketPair();
  const received = client.toArray();
  const headers = {
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "x-stream-protocol-version": "v4.channel.k8s.io",
  };
  await handler.upgrade(
    request(
      "exec",
      "a",
      "command=ls&command=-l&stdin=true&stdout=true&stderr=true",
      { method: "POST", headers },
    ),
    served,
    Buffer.from("early "),
  );
  expect(seen.at(-1)).toMatchObject({
    method: "POST",
    url: "/exec/ns/a/c?input=1&output=1&error=1&command=ls&command=-l",
  });
  expect(seen.at(-1)!.headers).toMatchObject({
    upgrade: "SPDY/3.1",
    "x-stream-protocol-version": "v4.channel.k8s.io",
  });
  client.end("world");
  const text = Buffer.concat((await received) as Buffer[]).toString();
  expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(text).toMatch(/X-Echo: yes\r\n/);
  expect(text.split("\r\n\r\n")[1]).toBe("hello early world");
});

it("passes a refused upgrade on as a plain answer and ends the connection", async () => {
  const [client, served] = await socketPair();
  const received = client.toArray();
  const headers = { connection: "Upgrade", upgrade: "websocket" };
  await handler.upgrade(
    request("exec", "refused", "command=ls&stdout=1", { headers }),
    served,
    Buffer.alloc(0),
  );
  client.end("GET /secrets HTTP/1.1\r\n\r\n");
  const text = Buffer.concat((await received) as Buffer[]).toString();
  expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(text).toMatch(/connection: close/);
  expect(text).toMatch(/pod does not exist$/);
});

it("rejects an upgrade to an unreachable node before anything is written", async () => {
  const [client, served] = await socketPair();
  const what = request("portforward", "lost", "", {
    headers: { connection: "Upgrade", upgrade: "SPDY/3.1" },
  });
  await expect(
    handler.upgrade(what, served, Buffer.alloc(0)),
  ).rejects.toMatchObject({ code: 500 });
  expect(served.bytesWritten).toBe(0);
  client.destroy();
  served.destroy();
});

describe("logs over a WebSocket", () => {
  const headersFor = (protocol?: string) => ({
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...(protocol ? { "sec-websocket-protocol": protocol } : {}),
  });
  /** The first message of the answer, by its opcode: 1 text, 2 binary. */
  const logOf = async (name: string, protocol?: string) => {
    const [client, served] = await socketPair();
    const received = client.toArray();
    const what = request("log", name, "", { headers: headersFor(protocol) });
    await handler.upgrade(what, served, Buffer.alloc(0));
    // The server closes when all is sent (a frame whose operation is 8); the client answers that by ending.
    client.on("data", (chunk: Buffer) => {
      if (chunk.includes(Buffer.from([0x88]))) client.end();
    });
    const bytes = Buffer.concat((await received) as Buffer[]);
    const end = bytes.indexOf("\r\n\r\n") + 4;
    return {
      head: bytes.subarray(0, end).toString(),
      opcode: bytes[end]! & 15,
      text: bytes.subarray(end + 2, end + 2 + bytes[end + 1]!).toString(),
    };
  };

  it.each([
    [undefined, 2, "GET /containerLogs/ns/a/c"],
    ["binary.k8s.io", 2, "GET /containerLogs/ns/a/c"],
    [
      "base64.binary.k8s.io",
      1,
      Buffer.from("GET /containerLogs/ns/a/c").toString("base64"),
    ],
  ])("speaks %s", async (protocol, opcode, text) => {
    const answer = await logOf("a", protocol);
    expect(answer).toMatchObject({ opcode, text });
    expect(answer.head).toMatch(/^HTTP\/1\.1 101 /);
    if (protocol)
      expect(answer.head).toContain(`Sec-WebSocket-Protocol: ${protocol}`);
  });

  it("ends at once for a pod that is not scheduled", async () => {
    expect((await logOf("unscheduled")).opcode).toBe(8);
  });

  it.each([
    ["a", "v9.channel.k8s.io", 400],
    ["waiting", "binary.k8s.io", 400],
    ["none", "binary.k8s.io", 404],
  ])(
    "refuses %s with %s before the handshake",
    async (name, protocol, code) => {
      const [client, served] = await socketPair();
      await expect(
        handler.upgrade(
          request("log", name, "", { headers: headersFor(protocol) }),
          served,
          Buffer.alloc(0),
        ),
      ).rejects.toMatchObject({ code });
      expect(served.bytesWritten).toBe(0);
      client.destroy();
      served.destroy();
    },
  );
});

it("proxies to nodes, keeping the path as it is", async () => {
  const node = { resource: "nodes", namespace: "", proxyPath: "/stats/a%2Fb" };
  const answer = await serve(request("proxy", "n1", "x=1", node));
  expect(answer).toMatchObject({
    status: 200,
    body: "GET /stats/a%2Fb?x=1",
    headers: { "x-from": "agent" },
  });
  expect(
    await serve(request("proxy", "n1", "", { ...node, proxyPath: "" })),
  ).toMatchObject({
    status: 301,
    headers: { location: "/api/v1/nodes/n1/proxy/" },
  });
});

it("leads links and redirects through the proxy", async () => {
  const ask = (proxyPath: string) =>
    serve(
      request("proxy", "n1", "", {
        resource: "nodes",
        namespace: "",
        proxyPath,
      }),
    );
  const page = `<a href="/api/v1/nodes/n1/proxy/x">${"é".repeat(70_000)}</a>`;
  const plain = await ask("/page");
  expect(plain.body).toBe(page);
  expect(plain.headers["content-length"]).toBeUndefined();
  expect(seen.at(-1)!.headers["x-forwarded-uri"]).toBe(
    "/api/v1/nodes/n1/proxy/page",
  );
  const packed = await ask("/page/gzip");
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(packed.bytes).toString()).toBe(page);
  expect(await ask("/moved")).toMatchObject({
    status: 302,
    headers: { location: "/api/v1/nodes/n1/proxy/there" },
  });
});

/** What leads to this machine, to its links, or to many; and what is no address. */
const notProxyable = [
  "127.0.0.1",
  "127.8.9.10",
  "::1",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::0",
  "0.0.0.0",
  "::ffff:0.0.0.0",
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "fe80::1",
  "224.0.0.1",
  "239.1.1.1",
  "ff02::1",
  "255.255.255.255",
  "::1%lo",
  "localhost",
];

describe("addresses of this machine", () => {
  const refused = { code: 400, message: "address not allowed" };

  it.each(notProxyable)("a pod's address may not be %s", async (podIP) => {
    state.put("", "pods", {
      metadata: { name: "evil", namespace: "ns" },
      spec: { containers: [] },
      status: { podIP },
    } as unknown as AnyObject);
    await expect(
      serve(request("proxy", "evil:80", "", { proxyPath: "/" })),
    ).rejects.toMatchObject(refused);
  });

  it.each(notProxyable)("a service's endpoint may not be %s", async (host) => {
    hasAddress("liar", host);
    hasEndpoint({
      addresses: [host],
      targetRef: { kind: "Pod", namespace: "ns", name: "liar" },
    });
    await expect(
      serve(request("proxy", "evil:80", "", service)),
    ).rejects.toMatchObject(refused);
  });

  const podRef = (name: string, namespace = "ns") => ({
    kind: "Pod",
    namespace,
    name,
  });
  it.each<[string, object]>([
    ["nobody's", {}],
    ["that of a pod that is gone", { targetRef: podRef("none") }],
    ["a pod's that has another", { targetRef: podRef("elsewhere") }],
    ["of another namespace", { targetRef: podRef("honest", "other") }],
  ])("a service's endpoint may not be %s", async (_, endpoint) => {
    hasAddress("elsewhere", "192.0.2.2");
    hasAddress("honest", "192.0.2.1");
    hasEndpoint({ addresses: ["192.0.2.1"], ...endpoint });
    await expect(
      serve(request("proxy", "evil:80", "", service)),
    ).rejects.toMatchObject({
      status: {
        code: 503,
        message: 'no endpoints available for service "evil:80"',
      },
    });
  });

  it("a service's endpoint may be a pod's", () => {
    hasAddress("honest", "192.0.2.1");
    hasEndpoint({ addresses: ["192.0.2.1"], targetRef: podRef("honest") });
    expect(
      proxyTarget(request("proxy", "evil:80", "", service), {
        state,
        addressTypes: [],
      }),
    ).toMatchObject({ host: "192.0.2.1", port: 80 });
  });

  const service = { resource: "services", proxyPath: "/" };
  const hasAddress = (name: string, ip: string): void => {
    pod(name);
    const { spec, metadata } = state.read("", "pods", "ns", name)!;
    state.put("", "pods", {
      metadata,
      spec,
      status: { podIP: ip, podIPs: [{ ip }] },
    } as unknown as AnyObject);
  };
  const hasEndpoint = (endpoint: object): void => {
    state.put("", "services", {
      metadata: { name: "evil", namespace: "ns" },
      spec: { ports: [{ port: 80 }] },
    } as unknown as AnyObject);
    state.put("discovery.k8s.io", "endpointslices", {
      metadata: {
        name: "evil",
        namespace: "ns",
        labels: { "kubernetes.io/service-name": "evil" },
      },
      endpoints: [endpoint],
      ports: [{ port: 80 }],
    } as unknown as AnyObject);
  };

  it.each(notProxyable)(
    "a node's other port may not be at %s",
    async (address) => {
      state.put("", "nodes", {
        metadata: { name: "evil" },
        status: { addresses: [{ type: "InternalIP", address }] },
      } as unknown as AnyObject);
      const node = { resource: "nodes", namespace: "", proxyPath: "/" };
      await expect(
        serve(request("proxy", "evil:6443", "", node)),
      ).rejects.toMatchObject(refused);
    },
  );
});

it("passes no header on that belongs to the connection, whatever it is called", async () => {
  const node = { resource: "nodes", namespace: "", proxyPath: "/" };
  await serve(
    request("proxy", "n1", "", {
      ...node,
      headers: {
        connection: "keep-alive, X-Secret ,x-other",
        "x-secret": "a",
        "x-other": "b",
        "x-kept": "c",
      },
    }),
  );
  const { headers } = seen.at(-1)!;
  expect(headers["x-kept"]).toBe("c");
  expect(headers["x-secret"]).toBeUndefined();
  expect(headers["x-other"]).toBeUndefined();
});

describe("a request behind another one on a kept connection", () => {
  const node = { resource: "nodes", namespace: "", proxyPath: "/one" };
  const smuggled = Buffer.from("GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n");
  const next = request("proxy", "n1", "", { ...node, proxyPath: "/two" });

  it.each<[string, ConnectRequest, Buffer[]]>([
    [
      "the log of a pod with a length but no body",
      request("log", "a", "", { headers: { "content-length": "25" } }),
      [],
    ],
    [
      "GET with a length but no body",
      request("proxy", "n1", "", {
        ...node,
        headers: { "content-length": "25" },
      }),
      [],
    ],
    [
      "DELETE with a body of unknown length",
      request("proxy", "n1", "", { ...node, method: "DELETE", headers: {} }),
      [smuggled],
    ],
    [
      "DELETE whose length is named by Connection",
      request("proxy", "n1", "", {
        ...node,
        method: "DELETE",
        headers: {
          connection: "content-length",
          "content-length": String(smuggled.length),
        },
      }),
      [smuggled],
    ],
  ])("stays whole after %s", async (_, first, body) => {
    const before = seen.length;
    await serve(first, body);
    expect((await serve(next)).body).toBe("GET /two");
    expect(seen.slice(before).map(({ url }) => url)).toEqual([
      first.subresource === "log" ? "/containerLogs/ns/a/c" : "/one",
      "/two",
    ]);
  });
});
