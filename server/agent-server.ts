// The node agent's three ports: 10250 (HTTPS, authenticated and authorized), 10255 (read-only, plain) and 10248 (health,
// plain). Each request is caught: an unexpected error is logged with its stack and answered 500, never thrown further.
// stop() closes listeners and drops what is open after a short grace.
import type { PrivateKeyPem } from "../api/pki/keys.ts";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { systemClock, type Clock } from "../api/clock.ts";
import type { Authorizer, NodeAgentView } from "../api/contracts.ts";
import { ApiError } from "../api/errors.ts";
import { metricsText } from "../api/metrics/family.ts";
import type { MetricsFilter } from "../api/metrics/filter.ts";
import {
  contextsByName,
  secureContextOptions,
  serverNameCallback,
  type ServingTls,
} from "../api/pki/serving-tls.ts";
import {
  agentHealthChecks,
  agentRoutes,
  healthRoutes,
  type AgentRouteOptions,
} from "./agent-routes.ts";
import { authenticate, type AuthenticationOptions } from "./authentication.ts";
import { ClientCertificates } from "./client-certificates.ts";
import { forbiddenText, requestAttributes } from "./authorization.ts";
import {
  HttpError,
  answerError,
  type Exchange,
  type Upgrade,
} from "./exchange.ts";
import { processFamilies } from "../http-kit/process-metrics.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { createRouter, type Router } from "./routes.ts";
import { createWebSocketUpgrader } from "./websocket.ts";

export interface AgentServerTls {
  /** PEM; the serving certificate may hold its chain. */
  certificate: string;
  key: PrivateKeyPem;
  /** PEM; client certificates of these authorities authenticate. */
  clientCa?: string;
}

interface AgentServerOptions extends Omit<
  AgentRouteOptions,
  "view" | "serving" | "metrics"
> {
  view: NodeAgentView;
  logger: Logger;
  clock?: Clock;
  tls: AgentServerTls;
  /** Lowest version, cipher suites, and certificates by server name. */
  servingTls?: ServingTls;
  /** Without one everybody who is authenticated may do everything. */
  authorizer?: Authorizer;
  tokens?: AuthenticationOptions["tokens"];
  anonymous?: boolean;
  address?: string;
  /** Default 10250; 0 picks a free one. */
  port?: number;
  /** Default undefined: none. 0 picks a free one. */
  readOnlyPort?: number;
  /** Default `address`. */
  readOnlyAddress?: string;
  /** Default undefined: none. 0 picks a free one. */
  healthzPort?: number;
  healthzAddress?: string;
  /** What of /metrics is shown; default: all. */
  metricsFilter?: MetricsFilter;
  /** Default 4 h. */
  streamingIdleTimeoutMs?: number;
}

export interface AgentServer {
  /** Rejects with the listen error (EADDRINUSE …) naming address and port. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ports really listened on; undefined where there is none, or before start. */
  readonly port: number | undefined;
  readonly readOnlyPort: number | undefined;
  readonly healthzPort: number | undefined;
  /** New connections get the new certificate. */
  updateTls(tls: AgentServerTls): void;
}

const defaultPort = 10250;
const fourHoursMs = 4 * 60 * 60 * 1000;
const stopGraceMs = 1_000;
/** Heads larger than this are 431; tokens and long commands fit. */
const maxHeaderBytes = 64 * 1024;
const maxPathBytes = 32 * 1024;

type Check = (
  request: http.IncomingMessage,
  method: string,
  path: string,
) => Promise<void>;

export function createAgentServer(options: AgentServerOptions): AgentServer {
  const { view, logger, clock = systemClock } = options;
  const webSockets = createWebSocketUpgrader();
  const serving = {
    clock,
    logger,
    webSockets,
    idleTimeoutMs: options.streamingIdleTimeoutMs ?? fourHoursMs,
  };
  const counters = createRequestMetrics(view);
  const routes = agentRoutes({
    ...options,
    serving,
    metrics: async () => {
      const families = [...counters.families(), ...(await processFamilies())];
      return metricsText(options.metricsFilter?.(families) ?? families);
    },
  });
  const sockets = new Set<Socket>();
  const servers: http.Server[] = [];
  let secure: https.Server | undefined;
  let readOnly: http.Server | undefined;
  let healthz: http.Server | undefined;

  const certificates = new ClientCertificates(clock, options.tls.clientCa);
  const checkSecure: Check = async (request, method, path) => {
    const user = await authenticate(request, {
      certificates,
      anonymous: options.anonymous ?? false,
      ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
    });
    if (user === undefined) throw new HttpError(401, "Unauthorized");
    if (options.authorizer === undefined) return;
    const attributes = requestAttributes(user, method, path, view.nodeName);
    const { decision } = await options.authorizer.authorize(attributes);
    if (decision !== "allow")
      throw new HttpError(403, forbiddenText(attributes));
  };
  const checkNothing: Check = () => Promise.resolve();

  async function handle(
    router: Router,
    check: Check,
    server: string,
    request: http.IncomingMessage,
    reply: { response?: http.ServerResponse; upgrade?: Upgrade },
  ): Promise<void> {
    const method = request.method ?? "GET";
    const target = request.url ?? "/";
    const queryAt = target.indexOf("?");
    const path = queryAt === -1 ? target : target.slice(0, queryAt);
    const exchange = {
      request,
      method,
      path,
      query: new URLSearchParams(
        queryAt === -1 ? "" : target.slice(queryAt + 1),
      ),
      ...reply,
    };
    let done: (() => void) | undefined;
    try {
      if (path.length > maxPathBytes || !path.startsWith("/"))
        throw new HttpError(400, "bad path");
      await check(request, method, path);
      const { route, parameters } = router.find(method, path);
      done = counters.begin(method, route.pattern, server);
      const complete: Exchange = { ...exchange, parameters };
      await route.serve(complete);
    } catch (error) {
      const code =
        error instanceof HttpError || error instanceof ApiError
          ? error.code
          : 500;
      if (code >= 500)
        logger.error(
          { err: error, method, path },
          "a request to the agent failed",
        );
      answerError(exchange, error);
    }
    done?.();
    // What is left of a body nobody read must not hold the connection.
    if (!request.complete) request.resume();
  }

  function attach(
    server: http.Server,
    router: Router,
    check: Check,
    name: string,
  ): http.Server {
    server.on(
      "request",
      (request: http.IncomingMessage, response: http.ServerResponse) => {
        response.on("error", () => undefined);
        void handle(router, check, name, request, { response });
      },
    );
    server.on(
      "upgrade",
      (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
        socket.on("error", () => undefined);
        void handle(router, check, name, request, {
          upgrade: { socket, head },
        });
      },
    );
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
      else
        socket.end(
          "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        );
    });
    const track = (socket: Socket): void => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => sockets.delete(socket));
    };
    server.on("connection", track);
    server.on("tlsClientError", (_error: Error, socket: Duplex) =>
      socket.destroy(),
    );
    servers.push(server);
    return server;
  }

  function listen(
    server: http.Server,
    port: number,
    address: string | undefined,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      server.once("error", (error) =>
        reject(
          new Error(
            `the agent can't listen on ${address ?? "*"}:${port}: ${error.message}`,
            { cause: error },
          ),
        ),
      );
      server.listen(
        { port, ...(address === undefined ? {} : { host: address }) },
        () => {
          server.removeAllListeners("error");
          server.on("error", (error) =>
            logger.error({ err: error }, "a port of the agent failed"),
          );
          resolve();
        },
      );
    });
  }

  let contextOf: ReturnType<typeof contextsByName>;
  function secureContext(tls: AgentServerTls): https.ServerOptions {
    const { servingTls = {} } = options;
    contextOf = contextsByName(servingTls, tls.clientCa);
    return secureContextOptions(tls, servingTls);
  }

  const portOf = (server: http.Server | undefined): number | undefined =>
    (server?.address() as AddressInfo | null | undefined)?.port;
  const serverOptions = {
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: 0,
    headersTimeout: 30_000,
    keepAliveTimeout: 120_000,
  };

  return {
    async start() {
      secure = https.createServer({
        ...serverOptions,
        ...secureContext(options.tls),
        requestCert: options.tls.clientCa !== undefined,
        rejectUnauthorized: false,
        SNICallback: serverNameCallback(() => contextOf),
      });
      attach(secure, createRouter(routes), checkSecure, "readwrite");
      const { address } = options;
      const starting = [listen(secure, options.port ?? defaultPort, address)];
      if (options.readOnlyPort !== undefined) {
        readOnly = attach(
          http.createServer(serverOptions),
          createRouter(routes.filter((route) => route.readOnly)),
          checkNothing,
          "readonly",
        );
        starting.push(
          listen(
            readOnly,
            options.readOnlyPort,
            options.readOnlyAddress ?? address,
          ),
        );
      }
      if (options.healthzPort !== undefined) {
        const checks = healthRoutes(
          agentHealthChecks(view, options.extraChecks),
        );
        healthz = attach(
          http.createServer(serverOptions),
          createRouter(checks),
          checkNothing,
          "healthz",
        );
        starting.push(
          listen(
            healthz,
            options.healthzPort,
            options.healthzAddress ?? "127.0.0.1",
          ),
        );
      }
      const failed = (await Promise.allSettled(starting)).find(
        (result) => result.status === "rejected",
      );
      if (failed !== undefined) {
        await this.stop();
        throw failed.reason;
      }
    },

    async stop() {
      webSockets.close();
      const closing = servers.splice(0).filter((server) => server.listening);
      const closed = closing.map(
        (server) =>
          new Promise<void>((resolve) => server.close(() => resolve())),
      );
      for (const server of closing) server.closeIdleConnections();
      const grace = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, stopGraceMs);
      await Promise.all(closed);
      clearTimeout(grace);
      for (const socket of sockets) socket.destroy();
    },

    get port() {
      return portOf(secure);
    },
    get readOnlyPort() {
      return portOf(readOnly);
    },
    get healthzPort() {
      return portOf(healthz);
    },
    updateTls(tls) {
      certificates.trust(tls.clientCa);
      secure?.setSecureContext(secureContext(tls));
    },
  };
}
