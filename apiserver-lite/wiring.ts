// Puts registry, filters, discovery, health and the port together; the parts see only what they are given. When they start
// and stop is the server's (server.ts).
import { localAddress } from "../api/address-kind.ts";
import { builtinCatalogue } from "../api/catalogue.ts";
import { type Clock } from "../api/clock.ts";
import { Aggregator } from "./aggregation/aggregator.ts";
import type { AdmissionPlugin } from "./admission/plugin.ts";
import type { Loopback } from "./webhook-client/loopback.ts";
import { createListener, createLoopback, defaultAddress } from "./own-port.ts";
import { WebhookClients } from "./webhook-client/webhook-clients.ts";
import { ConversionMetrics } from "./custom/conversion-metrics.ts";
import { CustomDefinitions } from "./custom/custom-definitions.ts";
import { DebugSocket } from "./debug/debug-socket.ts";
import { HealthResults } from "../http-kit/health-results.ts";
import { Profiling } from "../http-kit/profiling.ts";
import { profilingPaths } from "./debug/profiling-paths.ts";
import { zpagePaths } from "./debug/zpage-paths.ts";
import { Discovery } from "./discovery/discovery.ts";
import { OpenApiPaths } from "./discovery/openapi.ts";
import { versionPath } from "./discovery/version-path.ts";
import { healthPaths, slisPath, type HealthCheck } from "./health/health.ts";
import { FlowControl } from "./flow-control/flow-control.ts";
import { flowDumps } from "./debug/flow-dumps.ts";
import { formatNamed, type OtherFormats } from "./serving/formats.ts";
import { Front } from "./front/front.ts";
import type { Observer } from "./request/observer.ts";
import type { PathHandler } from "./serving/path-handler.ts";
import { Limiter } from "./flow-control/limiter.ts";
import type { Listener } from "../http-kit/listener.ts";
import {
  acceptedTypes,
  jsonAnswer,
  Negotiator,
} from "./serving/negotiation.ts";
import {
  bodyDecoders,
  cborDecoders,
  cborFormats,
  otherFormats,
} from "./serving/other-formats.ts";
import { LoopWatch } from "./loop/loop-watch.ts";
import { wantsPretty } from "./serving/answers.ts";
import { ResourceHandler } from "./serving/resource-handler.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Registry } from "./registry/registry.ts";
import { createValueCodec, jsonValueCodec } from "./registry/value-codec.ts";
import { createStrategies } from "./resources/index.ts";
import type { ApiServerOptions, ServerParts } from "./server-options.ts";

/** What the wiring asks of the server while it runs. */
interface Running {
  readonly port: () => number;
  /** TLS handshakes of its port that failed. */
  readonly handshakeErrors: () => number;
  readonly healthChecks: () => HealthCheck[];
  /** Set while the server shuts down. */
  readonly refusing: () => { retryAfterSeconds: number } | undefined;
}

interface Wiring {
  readonly registry: Registry;
  readonly parts: ServerParts;
  readonly resources: ResourceHandler;
  readonly limiter: Limiter;
  readonly flows: FlowControl | undefined;
  readonly customDefinitions: CustomDefinitions;
  readonly webhookClients: WebhookClients;
  readonly observe: Observer;
  readonly front: Front;
  readonly aggregator: Aggregator;
  readonly listener: Listener | undefined;
  readonly debugSocket: DebugSocket | undefined;
  readonly loopWatch: LoopWatch;
}

export const defaultBookmarkIntervalMs = 60_000;
const defaultRequestTimeoutMs = 60_000;
/** Requests in flight; together the seats of priority and fairness. */
const defaultReadOnly = 400;
const defaultMutating = 200;

export function wire(
  options: ApiServerOptions,
  clock: Clock,
  running: Running,
): Wiring {
  const { logger } = options;
  const loopWatch = new LoopWatch(logger);
  const loopback = createLoopback(options, running.port);
  const { registry, parts } = createState(options, clock, loopWatch, loopback);
  const encodings = createEncodings(options);
  const resources = createResources(options, registry, parts, encodings);
  const flows = createFlows(options, registry, clock);
  const limiter = new Limiter({
    readOnly: options.maxRequestsInFlight ?? defaultReadOnly,
    mutating: options.maxMutatingRequestsInFlight ?? defaultMutating,
    flows,
    clock,
    ...(options.requestQueue ? { queue: options.requestQueue } : {}),
  });
  const aggregator = createAggregator(options, registry, running);
  const conversions = new ConversionMetrics();
  const metrics = createMetrics(
    options,
    registry,
    limiter,
    flows,
    aggregator,
    loopWatch,
    running,
    conversions,
  );
  const { access } = metrics;
  const observe = options.observer ?? metrics;
  const profiling = new Profiling();
  const health = new HealthResults();
  const webhookClients =
    parts.webhookClients ??
    new WebhookClients({
      ...{ state: registry, clock, loopback, tracer: options.tracer },
    });
  const customDefinitions = new CustomDefinitions({
    state: registry,
    kinds: registry.kinds,
    clock,
    logger,
    ...{ slices: registry.slices, ruleTimes: registry.ruleTimes },
    clients: webhookClients,
    metrics: conversions,
  });
  const front = new Front({
    authenticators: [
      ...(loopback ? [loopback] : []),
      ...(parts.authenticators ?? []),
    ],
    anonymous: options.anonymous ?? true,
    authorizer: parts.authorizer,
    resources,
    paths: [
      ...describingPaths(
        options,
        registry,
        aggregator,
        encodings,
        running,
        customDefinitions,
      ),
      ...metrics.paths(),
      ...healthPaths(running.healthChecks, health),
      slisPath(health),
      ...((options.profiling ?? true) ? profilingPaths(profiling) : []),
      ...(flows ? flowDumps(flows, clock) : []),
      ...(options.zpages ? zpagePaths(options.zpages) : []),
      versionPath,
      ...(parts.paths ?? []),
    ],
    aggregation: aggregator,
    limiter,
    negotiator: encodings.negotiator,
    formats: encodings.formats,
    logger,
    allowedOrigins: options.allowedOrigins,
    strictTransportSecurity: options.strictTransportSecurity,
    requestTimeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    clock,
    auditor: options.auditor,
    tracing: options.tracer && {
      tracer: options.tracer,
      scheme: options.tls ? "https" : "http",
    },
    observe,
    access,
    loopWatch,
    refusing: running.refusing,
  });
  return {
    ...{ registry, parts, resources, limiter, flows, observe, front },
    customDefinitions,
    webhookClients,
    aggregator,
    listener: createListener(options, front, loopback),
    debugSocket: options.debugSocketPath
      ? new DebugSocket(options.debugSocketPath, profiling, logger)
      : undefined,
    loopWatch,
  };
}

/** Undefined: priority and fairness is off, and the limits in flight hold. */
function createFlows(
  options: ApiServerOptions,
  registry: Registry,
  clock: Clock,
): FlowControl | undefined {
  if (options.priorityAndFairness === false) return undefined;
  const {
    maxRequestsInFlight = defaultReadOnly,
    maxMutatingRequestsInFlight = defaultMutating,
  } = options;
  return new FlowControl({
    state: registry,
    seats: maxRequestsInFlight + maxMutatingRequestsInFlight,
    objects: ({ group, resource }) =>
      registry.storedKind(group, resource)?.cache.size,
    backlog: () => registry.slices.backlog,
    requestTimeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    clock,
  });
}

/** The registry, and the parts that are made from its state and that it is given in turn. */
function createState(
  options: ApiServerOptions,
  clock: Clock,
  loopWatch: LoopWatch,
  loopback: Loopback | undefined,
): { registry: Registry; parts: ServerParts } {
  const { store, logger } = options;
  const builtin = createStrategies({ featureGates: options.featureGates });
  const admission: AdmissionPlugin[] = [];
  let parts: ServerParts = {};
  const registry = new Registry({
    loopWatch,
    store,
    logger,
    catalogue: options.catalogue ?? builtinCatalogue(),
    clock,
    admission,
    strategyFor: (group, resource) =>
      parts.strategyFor?.(group, resource) ?? builtin(group, resource),
    featureGates: options.featureGates ?? {},
    ...{ uncached: options.uncached, sealOf: options.sealOf },
    tracer: options.tracer,
    garbageCollection: options.garbageCollection ?? true,
    ...(options.deleteCollectionWorkers
      ? { deleteCollectionWorkers: options.deleteCollectionWorkers }
      : {}),
    valueCodec: store.shared
      ? createValueCodec(options.storedEncoding ?? "protobuf")
      : jsonValueCodec,
    ...(options.maxObjectBytes
      ? { maxObjectBytes: options.maxObjectBytes }
      : {}),
    ...(options.eventTtlSeconds
      ? { eventTtlSeconds: options.eventTtlSeconds }
      : {}),
    ...(options.historyMs ? { historyMs: options.historyMs } : {}),
    ...(options.historyBytes ? { historyBytes: options.historyBytes } : {}),
  });
  parts = options.parts?.(registry, loopback) ?? {};
  admission.push(...(parts.admission ?? []));
  return { registry, parts };
}

function createAggregator(
  {
    aggregation = {},
    listen = true,
    bindAddress = defaultAddress,
  }: ApiServerOptions,
  registry: Registry,
  { port }: Running,
): Aggregator {
  const { catalogue, clock, logger, slices } = registry;
  return new Aggregator(
    {
      state: registry,
      ...{ catalogue, clock, logger, slices },
      tracer: registry.options.tracer,
      withUid: registry.gate("RemoteRequestHeaderUID"),
      ownPlace: () =>
        listen && port() > 0
          ? { host: localAddress(bindAddress), port: port() }
          : undefined,
    },
    aggregation,
  );
}

interface Encodings {
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  /** Behind a gate. */
  readonly cbor: boolean;
}

function createEncodings({ featureGates }: ApiServerOptions): Encodings {
  const cbor = featureGates?.["CBORServingAndStorage"] ?? false;
  return {
    negotiator: new Negotiator(),
    formats: cbor ? { ...otherFormats, ...cborFormats } : otherFormats,
    cbor,
  };
}

function createResources(
  options: ApiServerOptions,
  registry: Registry,
  { connect, authorizer }: ServerParts,
  { negotiator, formats, cbor }: Encodings,
): ResourceHandler {
  return new ResourceHandler({
    registry,
    negotiator,
    formats,
    decoders: cbor ? { ...bodyDecoders, ...cborDecoders } : bodyDecoders,
    connect,
    authorizer,
    minRequestTimeoutMs: options.minRequestTimeoutMs ?? 1_800_000,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? defaultBookmarkIntervalMs,
    // As long as a request may wait for its turn.
    maxInitialMs: (options.requestTimeoutMs ?? defaultRequestTimeoutMs) / 4,
    compress: options.featureGates?.["APIResponseCompression"] ?? true,
  });
}

function createMetrics(
  options: ApiServerOptions,
  registry: Registry,
  limiter: Limiter,
  flows: FlowControl | undefined,
  aggregator: Aggregator,
  loopWatch: LoopWatch,
  { handshakeErrors }: Running,
  conversions: ConversionMetrics,
): Metrics {
  const { store } = options;
  return new Metrics({
    filter: options.metricsFilter,
    registry,
    isElsewhere: (info) => aggregator.route(info) !== undefined,
    inFlight: () => limiter.inFlight,
    inQueue: () => limiter.inQueue,
    databaseBytes: () => store.databaseBytes,
    countObjects: options.countStoredObjects ?? true,
    listenerFailures: () =>
      registry.cache.listenerFailures + (store.listenerFailures ?? 0),
    handshakeErrors,
    audit: options.auditor?.counts,
    loopWatch,
    more: () => [
      ...(flows?.families() ?? []),
      ...aggregator.families(),
      ...conversions.families(),
      ...(options.moreMetrics?.() ?? []),
    ],
  });
}

/** Discovery and OpenAPI. */
function describingPaths(
  options: ApiServerOptions,
  { catalogue, kinds, slices }: Registry,
  aggregator: Aggregator,
  { negotiator, formats, cbor }: Encodings,
  { port }: Running,
  { published }: CustomDefinitions,
): PathHandler[] {
  const plainly = { protobuf: true, cbor, table: false, partial: false };
  const host =
    options.advertiseAddress ?? options.bindAddress ?? defaultAddress;
  const featureGates = options.featureGates ?? {};
  const discovery = new Discovery({
    catalogue,
    groups: aggregator.groups,
    serverAddress: () => `${host}:${port()}`,
    featureGates,
    route: { methods: ["GET"], produces: acceptedTypes(plainly) },
    send({ exchange, headers, query }, object, how = {}) {
      const negotiated = how.format
        ? { ...jsonAnswer, format: how.format }
        : negotiator.negotiate(exchange.headers.accept, { ...plainly, ...how });
      const format = formatNamed(negotiated.format, formats);
      const pretty = negotiated.pretty || wantsPretty(exchange, query);
      headers["content-type"] ??= negotiated.contentType;
      exchange.respond(
        200,
        headers,
        pretty && format.name === "json"
          ? JSON.stringify(object, null, 2)
          : format.encode(object),
      );
    },
  });
  const openApi = new OpenApiPaths(
    catalogue,
    featureGates,
    slices,
    (typeName, form) => published.of(typeName, form),
    aggregator.openApi,
  );
  aggregator.onChange(() => discovery.invalidate());
  aggregator.onOpenApiChange(() => openApi.othersChanged());
  kinds.onChange((changed) => {
    aggregator.groups.invalidate();
    discovery.invalidate();
    openApi.invalidate(changed);
  });
  return [...discovery.paths(), ...openApi.paths()];
}
