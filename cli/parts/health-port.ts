// The HTTPS port of a part that serves nothing else: /healthz, /livez, /readyz for everybody, /metrics for who comes with
// a client certificate of the authority (system:masters or one allowed by the authorizer is not asked for: only who knows
// the cluster's authority gets in).
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { TLSSocket } from "node:tls";
import { DependencyError } from "../options/table.ts";

export interface HealthPortOptions {
  address: string;
  port: number;
  /** PEM. */
  certificate: string;
  key: string;
  clientCa: string;
  /** Rejects with the reason when the part does not work. */
  healthy(): Promise<void>;
  metrics?(): Promise<string>;
  /** For messages. */
  what: string;
}

export interface HealthPort {
  readonly port: number;
  stop(): Promise<void>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthPortOptions,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0]!;
  const send = (status: number, text: string): void => {
    response.writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    response.end(text);
  };
  if (request.method !== "GET" && request.method !== "HEAD")
    return send(405, "Method Not Allowed\n");
  if (path === "/healthz" || path === "/livez" || path === "/readyz") {
    return options.healthy().then(
      () => send(200, "ok"),
      (error: Error) => send(500, `${error.message}\n`),
    );
  }
  if (path !== "/metrics") return send(404, "404 page not found\n");
  if (!(request.socket as TLSSocket).authorized)
    return send(401, "Unauthorized\n");
  send(200, (await options.metrics?.()) ?? "");
}

export async function startHealthPort(
  options: HealthPortOptions,
): Promise<HealthPort> {
  const { certificate, key, clientCa, address, port, what } = options;
  const server: Server = createServer(
    {
      cert: certificate,
      key,
      ca: clientCa,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      answer(request, response, options).catch((error: Error) => {
        if (!response.headersSent) response.writeHead(500);
        response.end(`${error.message}\n`);
      });
    },
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.maxConnections = 256;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(new DependencyError(`${what}: ${error.message}`)),
    );
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
