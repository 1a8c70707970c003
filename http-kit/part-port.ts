// The HTTPS port of the controllers and of the scheduler: /healthz, /livez, /readyz, /metrics, /metrics/slis, /configz, /debug/pprof. Paths of
// `alwaysAllow` are for everybody; for the others the caller is identified (front proxy, client certificate, bearer token,
// else anonymous) and the authorizer is asked, as at the reference; group system:masters may do everything.
import type { Logger } from "pino";
import type {
  AccessAttributes,
  Authorizer,
  TokenAuthenticator,
  UserInfo,
} from "../api/contracts.ts";
import { systemClock } from "../api/clock.ts";
import { ApiError, errors } from "../api/errors.ts";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../api/metrics/family.ts";
import type { MetricsFilter } from "../api/metrics/filter.ts";
import type { PrivateKeyPem } from "../api/pki/keys.ts";
import type { NamedPair, ServingTls } from "../api/pki/serving-tls.ts";
import type {
  AuthenticationRequest,
  RequestAuthenticator,
} from "./authentication/authenticator.ts";
import { BearerTokenAuthenticator } from "./authentication/bearer-token.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "./authentication/client-certificate.ts";
import { withAuthenticatedGroup } from "./authentication/groups.ts";
import { identify } from "./authentication/identify.ts";
import { HealthResults } from "./health-results.ts";
import type { HttpError } from "./http-error.ts";
import type { ServingCertificate } from "./listener.ts";
import { Port, type PortRequest, type PortRoute } from "./port.ts";
import { Profiling, profilingRoutes } from "./profiling.ts";
import { processFamilies } from "./process-metrics.ts";

export interface PortTls {
  /** PEM. */
  readonly certificate: string;
  readonly key: PrivateKeyPem;
  readonly clientCa?: string;
  readonly frontProxy?: FrontProxy;
  /** In place of those of `servingTls`. */
  readonly named?: readonly NamedPair[];
}

/** A proxy with a certificate of its own, which speaks for users. */
export interface FrontProxy {
  /** PEM. */
  readonly authority: string;
  readonly authenticator: RequestAuthenticator;
}

export interface PartPortOptions {
  readonly address: string;
  readonly port: number;
  readonly tls: PortTls;
  /** Lowest version, cipher suites, and certificates by server name. */
  readonly servingTls?: ServingTls;
  /** Paths anyone may read; one ending in * is a prefix. Default: the three of health. */
  readonly alwaysAllow?: readonly string[];
  /** Authorities of clients may come later: clients are asked for certificates in any case. */
  readonly asksForCertificates?: boolean;
  readonly tokens?: TokenAuthenticator;
  /** Without it only alwaysAllow and system:masters get in. */
  readonly authorizer?: Authorizer;
  /** Rejects with the reason when the part does not work. */
  healthy(): Promise<void>;
  metrics(): readonly Family[];
  /** Further families, by the paths under which they are shown alone. */
  readonly moreMetrics?: Readonly<Record<string, () => readonly Family[]>>;
  /** What of /metrics is shown, the process's own figures included; default: all. */
  readonly metricsFilter?: MetricsFilter;
  /** What /configz shows. */
  configuration?(): object;
  /** Serves /debug/pprof/. */
  readonly profiling: boolean;
  /** For messages. */
  readonly what: string;
  readonly logger: Logger;
}

export interface PartPort {
  readonly port: number;
  /** Connections from now on. */
  updateTls(tls: PortTls): void;
  stop(): Promise<void>;
}

const healthPaths = ["/healthz", "/readyz", "/livez"];
const plain = "text/plain; charset=utf-8";
const answerHeaders = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache, private",
};
const maxConnections = 256;
const stopGraceMs = 1_000;

/** Rejects with an Error that names the part, address and port when the port can't be had. */
export async function startPartPort(
  options: PartPortOptions,
): Promise<PartPort> {
  const { address, tls, tokens, what, logger } = options;
  let { frontProxy } = tls;
  const verifier = new ClientCertificateVerifier(
    tls.clientCa ?? "",
    systemClock,
  );
  const identifying = {
    authenticators: [
      {
        authenticate: (request: AuthenticationRequest) =>
          frontProxy?.authenticator.authenticate(request),
      },
      new ClientCertificateAuthenticator(verifier),
      new BearerTokenAuthenticator(tokens),
    ],
    anonymous: true,
    logger,
  };
  // The authorities whose certificates clients are asked for; each request checks later which one it trusts for what.
  const serving = (pair: PortTls): ServingCertificate => {
    const clientCa = [pair.clientCa, pair.frontProxy?.authority]
      .filter(Boolean)
      .join("\n");
    return {
      cert: pair.certificate,
      key: pair.key,
      ...(clientCa ? { clientCa } : {}),
      ...(pair.named ? { named: pair.named } : {}),
    };
  };
  const port = new Port({
    address,
    port: options.port,
    tls: serving(tls),
    ...(options.servingTls ? { servingTls: options.servingTls } : {}),
    asksForCertificates:
      options.asksForCertificates ??
      (tls.clientCa !== undefined || frontProxy !== undefined),
    maxConnections,
    routes: routesOf(options, verifier),
    admit: async (request) => {
      const { exchange, path } = request;
      if (allows(options.alwaysAllow ?? healthPaths, path)) return;
      const { headers, peer } = exchange;
      const user = await identify(identifying, {
        ...{ headers, exchange, path },
        ...peer,
      });
      if (!user) throw errors.unauthorized();
      await authorize(request, withAuthenticatedGroup(user), options);
    },
    refuse,
    logger,
    what,
  });
  await port.start();
  return {
    port: port.port,
    updateTls(renewed) {
      verifier.setAuthorities(renewed.clientCa ?? "");
      ({ frontProxy } = renewed);
      port.reload(serving(renewed));
    },
    stop: () => port.stop(stopGraceMs),
  };
}

const allows = (paths: readonly string[], path: string): boolean =>
  paths.some((each) =>
    each.endsWith("*") ? path.startsWith(each.slice(0, -1)) : each === path,
  );

/** Rejects with ApiError 403. */
async function authorize(
  { method, path }: PortRequest,
  user: UserInfo,
  { authorizer }: PartPortOptions,
): Promise<void> {
  if (user.groups.includes("system:masters")) return;
  const verb = method.toLowerCase();
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
  const answer = await authorizer?.authorize(attributes);
  if (answer?.decision === "allow") return;
  const why = answer?.reason ? `: ${answer.reason}` : "";
  throw new ApiError({
    code: 403,
    reason: "Forbidden",
    message: `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${why}`,
    details: {},
  });
}

function routesOf(
  options: PartPortOptions,
  verifier: ClientCertificateVerifier,
): PortRoute[] {
  const methods = ["GET"];
  const results = new HealthResults();
  const health = async (request: PortRequest): Promise<void> => {
    const problem = await options.healthy().then(
      () => undefined,
      (error: Error) => error.message,
    );
    results.note(request.path.slice(1), "ping", problem === undefined);
    if (problem === undefined) request.answer(200, plain, "ok", answerHeaders);
    else request.answer(500, plain, `${problem}\n`, answerHeaders);
  };
  const show = (request: PortRequest, families: readonly Family[]): void =>
    request.answer(
      200,
      metricsContentType,
      metricsText(options.metricsFilter?.(families) ?? families),
      answerHeaders,
    );
  const shown: readonly [string, () => readonly Family[]][] = [
    ["/metrics/slis", () => results.families()],
    ...Object.entries(options.moreMetrics ?? {}),
  ];
  const { configuration } = options;
  return [
    ...healthPaths.map((pattern) => ({ methods, pattern, serve: health })),
    {
      methods,
      pattern: "/metrics",
      serve: async (request: PortRequest) =>
        show(request, [
          ...options.metrics(),
          ...verifier.families(),
          ...(await processFamilies()),
        ]),
    },
    ...shown.map(([pattern, families]) => ({
      methods,
      pattern,
      serve: (request: PortRequest) => show(request, families()),
    })),
    ...(options.profiling ? profilingRoutes(new Profiling()) : []),
    ...(configuration
      ? [
          {
            methods,
            pattern: "/configz",
            serve: (request: PortRequest) =>
              request.answer(
                200,
                "application/json",
                JSON.stringify(configuration()),
                answerHeaders,
              ),
          },
        ]
      : []),
  ];
}

/** An ApiError as a Status, the rest as text. */
function refuse(request: PortRequest, error: HttpError | ApiError): void {
  const headers = { ...error.headers, ...answerHeaders };
  if (error instanceof ApiError)
    request.answer(
      error.code,
      "application/json",
      JSON.stringify(error.status),
      headers,
    );
  else request.answer(error.code, plain, error.message, headers);
}
