// An aggregated API server on a real TLS socket with an authority of its own: it knows its callers by a client certificate
// of the front-proxy authority and the headers beside it, serves one group version with lists, watches, echoes and
// upgrades, and, where `answer` says so, misbehaves.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { ServerResponse } from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import {
  createCertificateAuthority,
  issueCertificate,
  type CertificatePair,
} from "../../api/pki/certificate.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Common name of the verified client certificate; "" without one. */
  readonly client: string;
}

type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | void;

export interface ExtensionTestServer {
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly authority: string;
  readonly seen: SeenRequest[];
  /** Asked before anything else; true: the request was answered, or never will be. */
  answer: Answer | undefined;
  /** Sends an event to all open watches. */
  emit(event: object): void;
  readonly watches: ReadonlySet<ServerResponse>;
  stop(): Promise<void>;
}

interface ExtensionOptions {
  /** PEM: clients with a certificate of it are front proxies. */
  readonly frontProxyAuthority: string;
  readonly group: string;
  readonly version?: string;
  /** Of the certificate; default: those of `service`. */
  readonly dnsNames?: readonly string[];
  /** name.namespace */
  readonly service: string;
  readonly port?: number;
}

const dayMs = 24 * 3600 * 1000;

export function frontProxy(): { authority: string; client: CertificatePair } {
  const nowMs = Date.now();
  const subject = { commonName: "test-front-proxy-ca" };
  const ca = createCertificateAuthority({ subject, nowMs });
  return {
    authority: ca.certificate,
    client: issueCertificate(ca, {
      subject: { commonName: "front-proxy-client" },
      usages: ["client auth"],
      validityMs: dayMs,
      nowMs,
    }),
  };
}

export async function startExtensionServer(
  options: ExtensionOptions,
): Promise<ExtensionTestServer> {
  const { group, version = "v1", service } = options;
  const nowMs = Date.now();
  const subject = { commonName: "extension-ca" };
  const ca = createCertificateAuthority({ subject, nowMs });
  const pair = issueCertificate(ca, {
    subject: { commonName: "extension" },
    usages: ["server auth"],
    dnsNames: [...(options.dnsNames ?? [`${service}.svc`])],
    validityMs: dayMs,
    nowMs,
  });
  const seen: SeenRequest[] = [];
  const watches = new Set<ServerResponse>();
  const sockets = new Set<Duplex>();
  const root = `/apis/${group}/${version}`;
  const server = https.createServer({
    cert: pair.certificate,
    key: pair.key,
    ca: options.frontProxyAuthority,
    requestCert: true,
    rejectUnauthorized: false,
  });
  // By default idle connections end after five seconds, under a request that is on its way to one of them.
  server.keepAliveTimeout = 0;
  const extension: ExtensionTestServer = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    authority: ca.certificate,
    seen,
    answer: undefined,
    emit(event) {
      for (const watch of watches) watch.write(`${JSON.stringify(event)}\n`);
    },
    watches,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  const note = (request: IncomingMessage): void => {
    const socket = request.socket as TLSSocket;
    const { subject } = socket.getPeerCertificate();
    seen.push({
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      client: socket.authorized ? String(subject.CN) : "",
    });
  };
  const item = (name: string): object => ({
    apiVersion: `${group}/${version}`,
    kind: "Flunder",
    metadata: { name, namespace: "default", uid: name, resourceVersion: "5" },
  });

  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request, response) => {
    note(request);
    if (extension.answer?.(request, response)) return;
    const url = new URL(request.url ?? "/", "https://extension");
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const { pathname } = url;
    if (pathname === root)
      return send(200, resourceList(`${group}/${version}`));
    if (pathname.endsWith("/flunders") && request.method === "POST") {
      response.writeHead(201, { "content-type": "application/json" });
      return void request.pipe(response);
    }
    if (pathname.endsWith("/flunders") && url.searchParams.has("watch")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      watches.add(response);
      return void response.once("close", () => watches.delete(response));
    }
    if (pathname.endsWith("/flunders"))
      return send(200, {
        apiVersion: `${group}/${version}`,
        kind: "FlunderList",
        metadata: { resourceVersion: "5" },
        items: [item("one"), item("two")],
      });
    if (pathname.includes("/flunders/"))
      return send(200, item(pathname.split("/").at(-1)!));
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("404 page not found\n");
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
    note(request);
    sockets.add(socket);
    if (!request.url?.includes("/echo")) {
      socket.end(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nno",
      );
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return extension;
}

export function resourceList(groupVersion: string): object {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion,
    resources: [
      {
        name: "flunders",
        singularName: "flunder",
        namespaced: true,
        kind: "Flunder",
        verbs: ["create", "delete", "deletecollection", "get", "list", "watch"],
        shortNames: ["fl"],
      },
      {
        name: "flunders/echo",
        singularName: "",
        namespaced: true,
        kind: "Flunder",
        verbs: ["get"],
      },
    ],
  };
}
