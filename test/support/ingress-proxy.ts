// The ingress proxy in this process, on free ports of the loopback, with routes a test gives it, and what asks it.
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type {
  CertificateUse,
  FromProxy,
  IngressServerData,
  SocketState,
} from "../../network/ingress/messages.ts";
import { Proxy } from "../../network/ingress/proxy.ts";
import type {
  BackendState,
  RouteRule,
} from "../../network/ingress/routing/route.ts";
import { eventually } from "./eventually.ts";

export class TestProxy {
  readonly #states = new Map<string, SocketState>();
  readonly certificateProblems = new Map<string, string | undefined>();
  readonly proxy: Proxy;

  constructor(data: Partial<IngressServerData> = {}) {
    this.proxy = new Proxy(
      { trustedProxies: [], graceMs: 500, logLevel: "silent", ...data },
      (message) => this.#take(message),
      pino({ level: "silent" }),
    );
  }

  #take(message: FromProxy): void {
    if (message.kind === "sockets")
      for (const each of message.states) this.#states.set(each.id, each);
    else if (message.kind === "certificates")
      for (const { key, problem } of message.states)
        this.certificateProblems.set(key, problem);
  }

  async start(): Promise<void> {
    this.proxy.take({
      kind: "sockets",
      sockets: [
        { id: "http", address: "127.0.0.1", port: 0, tls: false },
        { id: "https", address: "127.0.0.1", port: 0, tls: true },
      ],
    });
    await eventually(() => this.http > 0 && this.https > 0);
  }

  get http(): number {
    return this.#states.get("http")?.port ?? 0;
  }

  get https(): number {
    return this.#states.get("https")?.port ?? 0;
  }

  /** In place of the object's routes so far. */
  routes(name: string, rules: readonly RouteRule[], rank = name): void {
    this.proxy.take({
      kind: "change",
      objects: [
        {
          key: name,
          routes: [
            {
              owner: { kind: "Ingress", namespace: "default", name },
              rank,
              sockets: ["http", "https"],
              rules,
            },
          ],
        },
      ],
      backends: [],
      certificates: [],
    });
  }

  backend(key: string, state: BackendState | undefined): void {
    this.proxy.take({
      kind: "change",
      objects: [],
      backends: [{ key, ...(state ? { state } : {}) }],
      certificates: [],
    });
  }

  certificate(
    key: string,
    pem: { certificate: string; key: string } | undefined,
    uses: readonly CertificateUse[] = [],
  ): void {
    this.proxy.take({
      kind: "change",
      objects: [{ key: `uses of ${key}`, certificateUses: uses }],
      backends: [],
      certificates: [{ key, ...(pem ? { pem } : {}) }],
    });
  }

  stop(): Promise<void> {
    return this.proxy.stop();
  }
}

/** All of a host's paths to a backend. */
export function toBackend(
  backend: string,
  host = "",
  more: Partial<RouteRule> = {},
): RouteRule {
  return {
    hosts: [host],
    matches: [{ path: { type: "Prefix", value: "/" } }],
    action: { kind: "forward", backends: [{ backend, weight: 1 }] },
    ...more,
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly trailers: NodeJS.Dict<string>;
}

/** To the proxy, in a connection of its own. */
export async function request(
  port: number,
  {
    tls = false,
    body,
    ...options
  }: https.RequestOptions & { tls?: boolean; body?: string | Buffer } = {},
): Promise<Reply> {
  const call = (tls ? https : http).request({
    host: "127.0.0.1",
    port,
    agent: false,
    rejectUnauthorized: false,
    ...options,
  });
  call.end(body);
  const [response] = (await once(call, "response")) as [http.IncomingMessage];
  return readReply(response);
}

export async function readReply(
  response: http.IncomingMessage,
): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
    trailers: response.trailers,
  };
}

/** All that comes back for these bytes until the connection ends. */
export async function rawExchange(
  port: number,
  text: string,
  { waitMs = 5000, until }: { waitMs?: number; until?: RegExp } = {},
): Promise<string> {
  const socket = net.connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    if (until?.test(received)) socket.destroy();
  });
  socket.on("error", () => undefined);
  const closed = once(socket, "close");
  socket.write(Buffer.from(text, "latin1"));
  const timer = setTimeout(() => socket.destroy(), waitMs);
  await closed;
  clearTimeout(timer);
  return received;
}

export interface TestBackend {
  readonly server: http.Server;
  readonly state: BackendState;
  readonly port: number;
  close(): void;
}

export async function startBackend(
  handle: http.RequestListener,
  address = "127.0.0.1",
): Promise<TestBackend> {
  const server = http.createServer(handle);
  server.listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    state: { protocol: "http", endpoints: [{ address: "127.0.0.1", port }] },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Answers with what it received, as JSON. */
export function echo(
  name: string,
): (request: http.IncomingMessage, response: http.ServerResponse) => void {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          name,
          method: request.method,
          url: request.url,
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
  };
}
