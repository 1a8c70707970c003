// The front: every request, upgrades among them, goes through one chain of filters to its delegate (router.ts). The filters
// have the reference's order.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import type { Auditor } from "../audit/auditor.ts";
import type { RequestAuthenticator } from "../../http-kit/authentication/authenticator.ts";
import type { Limiter } from "../flow-control/limiter.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import type { Observer } from "../request/observer.ts";
import type { OtherFormats } from "../serving/formats.ts";
import { HttpRequest, type Handler } from "../serving/http-request.ts";
import type { Negotiator } from "../serving/negotiation.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import { failureAnswer } from "./failure.ts";
import { FilterChain, type Filter } from "./filter.ts";
import { auditFilter, auditRefused } from "./filters/audit.ts";
import { authenticationFilter } from "./filters/authentication.ts";
import { authorizationFilter } from "./filters/authorization.ts";
import { corsFilter } from "./filters/cors.ts";
import { deadlineFilter } from "./filters/deadline.ts";
import { impersonationFilter } from "./filters/impersonation.ts";
import { limitFilter } from "./filters/limits.ts";
import { metricsFilter } from "./filters/metrics.ts";
import { requestInfoFilter } from "./filters/request-info.ts";
import {
  auditIdFilter,
  cacheControlFilter,
  strictTransportFilter,
} from "./filters/response-headers.ts";
import { tracingFilter, type RequestTracing } from "./filters/tracing.ts";
import { shutdownFilter, type Refusing } from "./filters/shutdown-refusal.ts";
import type { AccessMetrics } from "../metrics/access-metrics.ts";
import type { AllowedOrigins } from "./origins.ts";
import { type Delegate, PathDelegate, Router } from "./router.ts";

interface FrontOptions {
  readonly authenticators: readonly RequestAuthenticator[];
  readonly anonymous: boolean;
  readonly authorizer: Authorizer | undefined;
  readonly resources: { handle: Handler };
  readonly paths: readonly PathHandler[];
  /** Asked first: what other servers answer. */
  readonly aggregation: Delegate;
  readonly limiter: Limiter;
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly logger: Logger;
  /** Undefined: CORS is off. */
  readonly allowedOrigins: AllowedOrigins | undefined;
  readonly strictTransportSecurity: string | undefined;
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly observe: Observer | undefined;
  readonly access: AccessMetrics;
  readonly loopWatch: LoopWatch | undefined;
  readonly auditor: Auditor | undefined;
  /** Undefined: nothing is traced. */
  readonly tracing?: RequestTracing | undefined;
  /** While the server shuts down new requests are refused. */
  readonly refusing: Refusing;
}

export class Front {
  readonly #chain: FilterChain;
  readonly #partsChain: FilterChain;

  constructor(private readonly options: FrontOptions) {
    const resources: Handler = (request) => options.resources.handle(request);
    const router = new Router([
      options.aggregation,
      new PathDelegate(options.paths),
      { route: (info) => (info.resourceRequest ? resources : undefined) },
    ]);
    const route: Handler = (request) => router.route(request.info)(request);
    const fail = failureAnswer(options);
    const { clock } = options;
    const filters = filtersOf(options);
    this.#chain = new FilterChain(filters, route, fail, clock);
    this.#partsChain = new FilterChain(
      filters.filter(({ skipsParts }) => !skipsParts),
      route,
      fail,
      clock,
    );
  }

  /** Never throws or rejects. `as`: a part of this process asks, past authentication and authorization. */
  handle(exchange: Exchange, as?: UserInfo): void | Promise<void> {
    const { tracing } = this.options;
    return tracing
      ? tracing.tracer.scope(() => this.#handle(exchange, as))
      : this.#handle(exchange, as);
  }

  #handle(exchange: Exchange, as?: UserInfo): void | Promise<void> {
    const request = new HttpRequest(exchange);
    this.options.loopWatch?.enter(exchange, request.startedMs);
    if (!as) return this.#chain.handle(request);
    request.user = as;
    request.original = as;
    return this.#partsChain.handle(request);
  }
}

function filtersOf(options: FrontOptions): Filter[] {
  const { auditor, authorizer, tracing } = options;
  const refused = auditRefused(auditor);
  return [
    auditIdFilter,
    requestInfoFilter,
    shutdownFilter(options.refusing),
    strictTransportFilter(options.strictTransportSecurity),
    cacheControlFilter,
    deadlineFilter(options.requestTimeoutMs, refused),
    corsFilter(options.allowedOrigins),
    authenticationFilter(options, refused, options.access),
    ...(tracing ? [tracingFilter(tracing)] : []),
    metricsFilter(options.observe),
    auditFilter(auditor),
    impersonationFilter(authorizer),
    limitFilter(options.limiter, options.observe),
    authorizationFilter(authorizer, options.access),
  ];
}
