// The node agent's three ports: 10250 (HTTPS, authenticated and authorized), 10255 (read-only, plain) and 10248 (health,
// plain), each a Port of the HTTP kit. stop() closes listeners and drops what is open after a short grace.
import type { Logger } from "pino";
import { systemClock, type Clock } from "../api/clock.ts";
import type {
  AccessAttributes,
  Authorizer,
  NodeAgentView,
  TokenAuthenticator,
} from "../api/contracts.ts";
import { metricsText, type Family } from "../api/metrics/family.ts";
import type { MetricsFilter } from "../api/metrics/filter.ts";
import type { PrivateKeyPem } from "../api/pki/keys.ts";
import type { NamedPair, ServingTls } from "../api/pki/serving-tls.ts";
import { BearerTokenAuthenticator } from "../http-kit/authentication/bearer-token.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "../http-kit/authentication/client-certificate.ts";
import { withAuthenticatedGroup } from "../http-kit/authentication/groups.ts";
import { identify } from "../http-kit/authentication/identify.ts";
import { HealthResults } from "../http-kit/health-results.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { ServingCertificate } from "../http-kit/listener.ts";
import { Port, type PortRequest } from "../http-kit/port.ts";
import { processFamilies } from "../http-kit/process-metrics.ts";
import {
  agentHealthChecks,
  agentRoutes,
  healthRoutes,
  type AgentRouteOptions,
} from "./agent-routes.ts";
import {
  authorizationErrorText,
  forbiddenText,
  requestAttributes,
} from "./access-attributes.ts";
import { debuggingDisabledRoutes } from "./debug-routes.ts";
import { volumeMetrics } from "./metrics.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { createWebSocketUpgrader } from "./websocket.ts";

export interface AgentServerTls {
  /** PEM; the serving certificate may hold its chain. */
  certificate: string;
  key: PrivateKeyPem;
  /** PEM; client certificates of these authorities authenticate. */
  clientCa?: string;
  /** In place of those of `servingTls`. */
  named?: readonly NamedPair[];
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
  tokens?: TokenAuthenticator;
  /** Some paths have a permission of their own beside nodes/proxy (gate KubeletFineGrainedAuthz). */
  fineGrainedAccess?: boolean;
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
  /** What /metrics says of the program. */
  programMetrics?: () => readonly Family[];
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

export function createAgentServer(options: AgentServerOptions): AgentServer {
  const { view, logger, clock = systemClock } = options;
  const webSockets = createWebSocketUpgrader();
  const serving = {
    clock,
    logger,
    webSockets,
    idleTimeoutMs: options.streamingIdleTimeoutMs ?? fourHoursMs,
  };
  const verifier = new ClientCertificateVerifier(
    options.tls.clientCa ?? "",
    clock,
  );
  const counters = createRequestMetrics(view);
  const routes = agentRoutes({
    ...options,
    serving,
    metrics: async () => {
      const families = [
        ...counters.families(),
        ...(options.programMetrics?.() ?? []),
        ...verifier.families(),
        ...volumeMetrics(await view.volumeStats().catch(() => [])),
        ...(await processFamilies()),
      ];
      return metricsText(options.metricsFilter?.(families) ?? families);
    },
  });
  const common = { logger, maxHeaderBytes };
  const began = (server: string) => (method: string, pattern: string) =>
    counters.begin(method, pattern, server);
  const secure = new Port({
    ...common,
    what: "the agent",
    address: options.address,
    port: options.port ?? defaultPort,
    tls: servingCertificate(options.tls),
    ...(options.servingTls ? { servingTls: options.servingTls } : {}),
    asksForCertificates: options.tls.clientCa !== undefined,
    routes,
    admit: admission(options, verifier),
    began: began("readwrite"),
  });
  const readOnly =
    options.readOnlyPort === undefined
      ? undefined
      : new Port({
          ...common,
          what: "the agent's read-only port",
          address: options.readOnlyAddress ?? options.address,
          port: options.readOnlyPort,
          tls: undefined,
          routes: [
            ...debuggingDisabledRoutes(),
            ...routes.filter((route) => route.readOnly),
          ],
          began: began("readonly"),
        });
  const healthz =
    options.healthzPort === undefined
      ? undefined
      : new Port({
          ...common,
          what: "the agent's health port",
          address: options.healthzAddress ?? "127.0.0.1",
          port: options.healthzPort,
          tls: undefined,
          routes: healthRoutes(
            agentHealthChecks(view, options.extraChecks),
            new HealthResults(),
          ),
          began: began("healthz"),
        });
  const ports = [secure, readOnly, healthz].filter(
    (port) => port !== undefined,
  );

  return {
    async start() {
      const starting = ports.map((port) => port.start());
      const failed = (await Promise.allSettled(starting)).find(
        (result) => result.status === "rejected",
      );
      if (failed === undefined) return;
      await this.stop();
      throw failed.reason;
    },
    async stop() {
      webSockets.close();
      await Promise.all(ports.map((port) => port.stop(stopGraceMs)));
    },
    get port() {
      return secure.port || undefined;
    },
    get readOnlyPort() {
      return readOnly?.port || undefined;
    },
    get healthzPort() {
      return healthz?.port || undefined;
    },
    updateTls(tls) {
      verifier.setAuthorities(tls.clientCa ?? "");
      secure.reload(servingCertificate(tls));
    },
  };
}

const servingCertificate = ({
  certificate,
  key,
  clientCa,
  named,
}: AgentServerTls): ServingCertificate => ({
  cert: certificate,
  key,
  ...(clientCa === undefined ? {} : { clientCa }),
  ...(named ? { named } : {}),
});

/** Rejects with HttpError 500 when the authorizer can't say. */
async function isAllowed(
  authorizer: Authorizer,
  attributes: AccessAttributes,
  logger: Logger,
): Promise<boolean> {
  try {
    return (await authorizer.authorize(attributes)).decision === "allow";
  } catch (error) {
    logger.error({ err: error }, "a request could not be authorized");
    throw new HttpError(500, authorizationErrorText(attributes));
  }
}

/** Who asks at the secure port, and may it? Rejects with HttpError 401 or 403. */
function admission(
  options: AgentServerOptions,
  verifier: ClientCertificateVerifier,
): (request: PortRequest) => Promise<void> {
  const { tokens, authorizer, anonymous = false, view, logger } = options;
  const { fineGrainedAccess = false } = options;
  const identifying = {
    authenticators: [
      new ClientCertificateAuthenticator(verifier),
      new BearerTokenAuthenticator(tokens),
    ],
    anonymous,
    logger,
  };
  return async ({ exchange, method, path }) => {
    const { headers, peer } = exchange;
    const user = await identify(identifying, {
      ...{ headers, exchange, path },
      ...peer,
    });
    if (user === undefined) throw new HttpError(401, "Unauthorized");
    if (authorizer === undefined) return;
    const asked = requestAttributes(
      withAuthenticatedGroup(user),
      method,
      path,
      view.nodeName,
      fineGrainedAccess,
    );
    for (const attributes of asked)
      if (await isAllowed(authorizer, attributes, logger)) return;
    throw new HttpError(403, forbiddenText(asked));
  };
}
