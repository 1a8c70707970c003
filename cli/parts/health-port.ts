// The HTTPS port of the controllers and of the scheduler: /healthz, /livez, /readyz, /metrics, /configz. Paths of
// `alwaysAllow` are for everybody; for the others the caller is authenticated (client certificate, bearer token, else
// anonymous) and the authorizer is asked, as at the reference; group system:masters may everything.
import type { PrivateKeyPem } from "../../api/pki/keys.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type {
  AccessAttributes,
  Authorizer,
  TokenAuthenticator,
} from "../../api/contracts.ts";
import {
  contextsByName,
  secureContextOptions,
  serverNameCallback,
  type ServingTls,
} from "../../api/pki/serving-tls.ts";
import { systemClock } from "../../api/clock.ts";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../../api/metrics/family.ts";
import type { MetricsFilter } from "../../api/metrics/filter.ts";
import { processFamilies } from "../../http-kit/process-metrics.ts";
import { authenticate } from "../../server/authentication.ts";
import { ClientCertificates } from "../../server/client-certificates.ts";
import type { FrontProxy } from "./client-authentication.ts";
import { DependencyError } from "../options/table.ts";

export interface PortTls {
  /** PEM. */
  readonly certificate: string;
  readonly key: PrivateKeyPem;
  readonly clientCa?: string;
}

interface HealthPortOptions {
  address: string;
  port: number;
  tls: PortTls;
  /** Lowest version, cipher suites, and certificates by server name. */
  servingTls?: ServingTls;
  /** Paths anyone may read; one ending in * is a prefix. Default: the three of health. */
  alwaysAllow?: readonly string[];
  /** Proxies that speak for users. */
  frontProxy?: FrontProxy;
  tokens?: TokenAuthenticator;
  /** Without it only alwaysAllow and system:masters get in. */
  authorizer?: Authorizer;
  /** Rejects with the reason when the part does not work. */
  healthy(): Promise<void>;
  metrics(): readonly Family[];
  /** What of /metrics is shown, the process's own figures included; default: all. */
  metricsFilter?: MetricsFilter;
  /** What /configz shows. */
  configuration?(): object;
  /** For messages. */
  what: string;
}

export interface HealthPort {
  readonly port: number;
  /** Connections from now on. */
  updateTls(tls: PortTls): void;
  stop(): Promise<void>;
}

type Serving = HealthPortOptions & { certificates: ClientCertificates };

const healthPaths = ["/healthz", "/readyz", "/livez"];
const plain = "text/plain; charset=utf-8";

function respond(
  response: ServerResponse,
  status: number,
  text: string,
  type = plain,
): void {
  response.writeHead(status, {
    "content-type": type,
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
  });
  response.end(text);
}

function refuse(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
): void {
  respond(
    response,
    code,
    JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      ...(reason === "Forbidden" ? { details: {} } : {}),
      code,
    }),
    "application/json",
  );
}

const allows = (paths: readonly string[], path: string): boolean =>
  paths.some((each) =>
    each.endsWith("*") ? path.startsWith(each.slice(0, -1)) : each === path,
  );

/** Answers the request itself when the caller may not. */
async function mayPass(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  options: Serving,
): Promise<boolean> {
  if (allows(options.alwaysAllow ?? healthPaths, path)) return true;
  const user =
    options.frontProxy?.userOf(request) ??
    (await authenticate(request, {
      certificates: options.certificates,
      ...(options.tokens ? { tokens: options.tokens } : {}),
      anonymous: true,
    }));
  if (!user) {
    refuse(response, 401, "Unauthorized", "Unauthorized");
    return false;
  }
  if (user.groups.includes("system:masters")) return true;
  const verb = (request.method ?? "GET").toLowerCase();
  const attributes: AccessAttributes = {
    user,
    verb,
    path,
    resourceRequest: false,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
  };
  const answer = await options.authorizer?.authorize(attributes);
  if (answer?.decision === "allow") return true;
  const why = answer?.reason ? `: ${answer.reason}` : "";
  refuse(
    response,
    403,
    "Forbidden",
    `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${why}`,
  );
  return false;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: Serving,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0]!;
  if (!(await mayPass(request, response, path, options))) return;
  if (request.method !== "GET" && request.method !== "HEAD")
    return respond(response, 405, "Method Not Allowed\n");
  if (healthPaths.includes(path)) {
    const problem = await options.healthy().then(
      () => undefined,
      (error: Error) => error.message,
    );
    return problem === undefined
      ? respond(response, 200, "ok")
      : respond(response, 500, `${problem}\n`);
  }
  if (path === "/metrics") {
    const families = [...options.metrics(), ...(await processFamilies())];
    return respond(
      response,
      200,
      metricsText(options.metricsFilter?.(families) ?? families),
      metricsContentType,
    );
  }
  if (path === "/configz" && options.configuration)
    return respond(
      response,
      200,
      JSON.stringify(options.configuration()),
      "application/json",
    );
  respond(response, 404, "404 page not found\n");
}

/** Rejects with a DependencyError when the port can't be had. */
export async function startHealthPort(
  options: HealthPortOptions,
): Promise<HealthPort> {
  const { tls, address, port, what } = options;
  const { servingTls = {}, frontProxy } = options;
  let contextOf: ReturnType<typeof contextsByName>;
  const context = (pair: PortTls): object => {
    // Whose certificates clients are asked for; who is believed for what is found out later.
    const clientCa =
      [pair.clientCa, frontProxy?.authority].filter(Boolean).join("\n") ||
      undefined;
    contextOf = contextsByName(servingTls, clientCa);
    return secureContextOptions({ ...pair, clientCa }, servingTls);
  };
  const certificates = new ClientCertificates(systemClock, tls.clientCa);
  const serving = { ...options, certificates };
  const server: Server = createServer(
    {
      ...context(tls),
      requestCert: tls.clientCa !== undefined || frontProxy !== undefined,
      rejectUnauthorized: false,
      SNICallback: serverNameCallback(() => contextOf),
    },
    (request, response) => {
      request.resume();
      serve(request, response, serving).catch((error: Error) => {
        if (response.headersSent) response.destroy();
        else respond(response, 500, `${error.message}\n`);
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
  server.on("error", () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    updateTls(renewed) {
      certificates.trust(renewed.clientCa);
      server.setSecureContext(context(renewed));
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
