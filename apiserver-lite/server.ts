// The API server: puts registry, filters, discovery, health and the port together. Options are compiled once; the parts
// see only what they are given.
//
// Start: store → watch cache → parts (authorizers …) → port → system objects → ready. Stop: /readyz fails → delay, still
// serving → no new connections (or, with shutdownSendRetryAfter, 429 to every new request) → requests in flight finish
// (bounded) → watches end → port closed → cache and store closed.
import { addressKind } from "../api/address-kind.ts";
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import { builtinCatalogue, type Catalogue } from "../api/catalogue.ts";
import { systemClock, type Clock } from "../api/clock.ts";
import type { Authorizer, UserInfo } from "../api/contracts.ts";
import type { Family } from "../api/metrics/family.ts";
import type { MetricsFilter } from "../api/metrics/filter.ts";
import type { ServingTls } from "../api/pki/serving-tls.ts";
import type { Transport } from "../client/transport.ts";
import type { Store } from "../storage/store.ts";
import type { AdmissionPlugin } from "./admission/plugin.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { RequestAuthenticator } from "../http-kit/authentication/authenticator.ts";
import type { ClusterState } from "./resources/state.ts";
import { EndpointLeases } from "./bootstrap/endpoint-leases.ts";
import {
  createSystemObjects,
  publishEndpoints,
} from "./bootstrap/system-objects.ts";
import { servedOnly } from "./bootstrap/served-only.ts";
import { DebugSocket } from "./debug/debug-socket.ts";
import { Profiling } from "./debug/profiling.ts";
import { Discovery } from "./discovery/discovery.ts";
import { OpenApiPaths } from "./discovery/openapi.ts";
import { versionPath } from "./discovery/version-path.ts";
import {
  healthPaths,
  HealthResults,
  type HealthCheck,
} from "./health/health.ts";
import { serverChecks } from "./health/server-checks.ts";
import type { ConnectHandler } from "./proxy/connect-handler.ts";
import { FlowClassifier } from "./flow-control/flow-classifier.ts";
import { formatNamed } from "./serving/formats.ts";
import { Front } from "./front/front.ts";
import type { Observer } from "./request/observer.ts";
import type { PathHandler } from "./serving/path-handler.ts";
import { Limiter } from "./flow-control/limiter.ts";
import { Listener, type ServingCertificate } from "../http-kit/listener.ts";
import {
  acceptedTypes,
  jsonAnswer,
  Negotiator,
  type FormatName,
} from "./serving/negotiation.ts";
import type { AllowedOrigins } from "./front/origins.ts";
import {
  bodyDecoders,
  cborDecoders,
  cborFormats,
  otherFormats,
} from "./serving/other-formats.ts";
import { LoopWatch } from "./loop/loop-watch.ts";
import { wantsPretty } from "./serving/answers.ts";
import type { HttpRequest } from "./serving/http-request.ts";
import { ResourceHandler } from "./serving/resource-handler.ts";
import { rawInProcess } from "./in-process/in-process-exchange.ts";
import { InProcessTransport } from "./in-process/transport.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Registry, type RegistryOptions } from "./registry/registry.ts";
import type { ResourceStrategy } from "./resources/strategy.ts";
import { type StoredEncoding } from "../api/codec/stored-form.ts";
import { createValueCodec, jsonValueCodec } from "./registry/value-codec.ts";
import { createStrategies } from "./resources/index.ts";

/** What is made from the state the server holds: security, admission, rules with state. */
interface ServerParts {
  readonly authenticators?: readonly RequestAuthenticator[];
  readonly authorizer?: Authorizer;
  readonly admission?: readonly AdmissionPlugin[];
  /** Asked first; undefined falls back to the built-in strategies. */
  readonly strategyFor?: (
    group: string,
    resource: string,
  ) => ResourceStrategy | undefined;
  readonly connect?: ConnectHandler;
  /** Paths beside the API's own: service account issuer discovery, OpenAPI … */
  readonly paths?: readonly PathHandler[];
  /** The cache is loaded; before the port opens. */
  start?(): void | Promise<void>;
  /** The system namespaces exist; `transport` is a superuser's. Before the server is ready. */
  bootstrap?(transport: Pick<Transport, "request">): Promise<void>;
  stop?(): void | Promise<void>;
}

export interface ApiServerOptions {
  readonly store: Store;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly catalogue?: Catalogue;
  /** Default 127.0.0.1. */
  readonly bindAddress?: string;
  /** 0 (default): a free port. Undefined listens too; see `listen`. */
  readonly port?: number;
  /** False: no port at all, only transports. Default true. */
  readonly listen?: boolean;
  /** Undefined: plain HTTP/1.1. */
  readonly tls?: ServingCertificate;
  /** Lowest version, cipher suites, and certificates by server name. */
  readonly servingTls?: ServingTls;
  /** HTTP/1.1 only; default false. */
  readonly disableHttp2?: boolean;
  readonly parts?: (state: ClusterState) => ServerParts;
  /** Requests without credentials pass as system:anonymous; default true. */
  readonly anonymous?: boolean;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** For the `kubernetes` service's endpoints; default the bind address. */
  readonly advertiseAddress?: string;
  /** First address of the service range, e.g. 10.96.0.1. Undefined: no `kubernetes` service. */
  readonly kubernetesServiceAddress?: string;
  /** Keep that service's endpoints; default true. */
  readonly publishEndpoints?: boolean;
  readonly maxRequestsInFlight?: number;
  readonly maxMutatingRequestsInFlight?: number;
  /** Requests beyond these that wait, of each of the two kinds; default: none, they are answered 429 at once. */
  readonly requestQueue?: {
    readonly length: number;
    readonly maxWaitMs: number;
  };
  readonly requestTimeoutMs?: number;
  readonly minRequestTimeoutMs?: number;
  readonly eventTtlSeconds?: number;
  /** Of one stored object, encoded. Default 1.5 MiB. */
  readonly maxObjectBytes?: number;
  /** Of objects in a store shared with others; default protobuf. */
  readonly storedEncoding?: StoredEncoding;
  readonly goawayChance?: number;
  readonly http2MaxStreamsPerConnection?: number;
  readonly allowedOrigins?: AllowedOrigins;
  readonly strictTransportSecurity?: string;
  /** Post-start hooks do not fail /livez this long after the start. */
  readonly livezGraceMs?: number;
  /** apiserver_storage_objects among the metrics; default true. */
  readonly countStoredObjects?: boolean;
  /** What of the metrics is shown; default: all. */
  readonly metricsFilter?: MetricsFilter;
  /** What else belongs to the process, for /metrics. */
  readonly moreMetrics?: () => readonly Family[];
  /** /debug/pprof; default true. */
  readonly profiling?: boolean;
  /** The same without authentication on a unix socket. */
  readonly debugSocketPath?: string;
  /** Of the health and readiness check of the store; default 10 s. */
  readonly storeCheckTimeoutMs?: { health: number; readiness: number };
  /** Deletes of one collection in flight at once. */
  readonly deleteCollectionWorkers?: number;
  /** As RegistryOptions say. */
  readonly uncached?: RegistryOptions["uncached"];
  readonly garbageCollection?: boolean;
  readonly shutdownDelayMs?: number;
  readonly shutdownSendRetryAfter?: boolean;
  /** Longest wait for the requests in flight. */
  readonly shutdownGraceMs?: number;
  /** Time over which active watches are ended; 0: at once. */
  readonly shutdownWatchGraceMs?: number;
  readonly bookmarkIntervalMs?: number;
  readonly historyMs?: number;
  readonly historyBytes?: number;
  readonly observer?: Observer;
  readonly auditor?: Auditor;
  /** Requests are classified, and told so. Default true. */
  readonly priorityAndFairness?: boolean;
}

export interface ApiServer {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Of the open port. */
  readonly port: number;
  /** Calls as `user`, past authorization: for this process's own parts. */
  transport(user: UserInfo, component?: string): Transport;
  readonly registry: Registry;
  /** New serving certificate for new connections. */
  reloadCertificate(tls: ServingCertificate): void;
  /** Named checks beside the server's own. */
  addHealthCheck(check: HealthCheck): void;
}

/** Who the server itself is. */
export const superuser: UserInfo = {
  name: "system:apiserver",
  groups: ["system:masters"],
  extra: {},
};

const defaultBookmarkIntervalMs = 60_000;

export function createApiServer(options: ApiServerOptions): ApiServer {
  return new Server(options);
}

class Server implements ApiServer {
  readonly registry: Registry;
  readonly #front: Front;
  readonly #resources: ResourceHandler;
  readonly #listener: Listener | undefined;
  readonly #parts: ServerParts;
  readonly #checks: HealthCheck[] = [];
  readonly #limiter: Limiter;
  readonly #observe: Observer;
  readonly #clock: Clock;
  readonly #debugSocket: DebugSocket | undefined;
  readonly #flows: FlowClassifier | undefined;
  readonly #loopWatch: LoopWatch;
  #endpointLeases: EndpointLeases | undefined;
  #startedMs = 0;
  #state: "new" | "ready" | "leaving" | "draining" | "stopped" = "new";

  constructor(private readonly options: ApiServerOptions) {
    const { store, logger } = options;
    this.#clock = options.clock ?? systemClock;
    const catalogue = options.catalogue ?? builtinCatalogue();
    const builtin = createStrategies();
    const admission: AdmissionPlugin[] = [];
    let parts: ServerParts = {};
    this.#loopWatch = new LoopWatch(logger);
    this.registry = new Registry({
      loopWatch: this.#loopWatch,
      store,
      logger,
      catalogue,
      clock: this.#clock,
      admission,
      strategyFor: (group, resource) =>
        parts.strategyFor?.(group, resource) ?? builtin(group, resource),
      featureGates: options.featureGates ?? {},
      ...(options.uncached ? { uncached: options.uncached } : {}),
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
    parts = options.parts?.(this.registry) ?? {};
    this.#parts = parts;
    admission.push(...(parts.admission ?? []));
    const cbor = options.featureGates?.["CBORServingAndStorage"] ?? false;
    const formats = cbor ? { ...otherFormats, ...cborFormats } : otherFormats;
    const negotiator = new Negotiator();
    this.#resources = new ResourceHandler({
      registry: this.registry,
      negotiator,
      formats,
      decoders: cbor ? { ...bodyDecoders, ...cborDecoders } : bodyDecoders,
      connect: parts.connect,
      authorizer: parts.authorizer,
      minRequestTimeoutMs: options.minRequestTimeoutMs ?? 1_800_000,
      bookmarkIntervalMs:
        options.bookmarkIntervalMs ?? defaultBookmarkIntervalMs,
      compress: options.featureGates?.["APIResponseCompression"] ?? true,
    });
    this.#limiter = new Limiter({
      readOnly: options.maxRequestsInFlight ?? 400,
      mutating: options.maxMutatingRequestsInFlight ?? 200,
      clock: this.#clock,
      ...(options.requestQueue ? { queue: options.requestQueue } : {}),
    });
    const plainly = { protobuf: true, cbor, table: false, partial: false };
    const send = (
      request: HttpRequest,
      object: object,
      how: { format?: FormatName; cbor?: false } = {},
    ): void => {
      const { exchange, headers, query } = request;
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
    };
    const discovery = new Discovery({
      catalogue,
      serverAddress: () =>
        `${options.advertiseAddress ?? options.bindAddress ?? "127.0.0.1"}:${this.port}`,
      featureGates: options.featureGates ?? {},
      route: { methods: ["GET"], produces: acceptedTypes(plainly) },
      send,
    });
    const openApi = new OpenApiPaths(
      catalogue,
      options.featureGates ?? {},
      this.registry.slices,
    );
    const healthResults = new HealthResults();
    const metrics = new Metrics({
      filter: options.metricsFilter,
      registry: this.registry,
      inFlight: () => this.#limiter.inFlight,
      inQueue: () => this.#limiter.inQueue,
      databaseBytes: () => store.databaseBytes,
      countObjects: options.countStoredObjects ?? true,
      listenerFailures: () =>
        this.registry.cache.listenerFailures + (store.listenerFailures ?? 0),
      audit: options.auditor?.counts,
      loopWatch: this.#loopWatch,
      more: options.moreMetrics ?? (() => []),
    });
    this.#observe = options.observer ?? metrics;
    const profiling = new Profiling();
    if (options.debugSocketPath)
      this.#debugSocket = new DebugSocket(
        options.debugSocketPath,
        profiling,
        logger,
      );
    this.registry.kinds.onChange(() => {
      discovery.invalidate();
      openApi.invalidate();
    });
    if (options.priorityAndFairness ?? true)
      this.#flows = new FlowClassifier(this.registry);
    this.#front = new Front({
      authenticators: parts.authenticators ?? [],
      anonymous: options.anonymous ?? true,
      authorizer: parts.authorizer,
      resources: this.#resources,
      paths: [
        ...discovery.paths(),
        ...openApi.paths(),
        ...metrics.paths(),
        ...healthPaths(() => this.#healthChecks(), healthResults),
        healthResults.path(),
        ...((options.profiling ?? true) ? profiling.paths() : []),
        versionPath,
        ...(parts.paths ?? []),
      ],
      limiter: this.#limiter,
      negotiator,
      formats,
      logger,
      allowedOrigins: options.allowedOrigins,
      strictTransportSecurity: options.strictTransportSecurity,
      requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
      auditor: options.auditor,
      flows: this.#flows,
      observe: this.#observe,
      loopWatch: this.#loopWatch,
      refusing: () =>
        this.#state === "draining" && options.shutdownSendRetryAfter
          ? { retryAfterSeconds: 5 }
          : undefined,
    });
    if (options.listen ?? true) {
      this.#listener = new Listener({
        address: options.bindAddress ?? "127.0.0.1",
        port: options.port ?? 0,
        tls: options.tls,
        ...(options.servingTls ? { servingTls: options.servingTls } : {}),
        http1Only: options.disableHttp2 ?? false,
        maxStreamsPerConnection: options.http2MaxStreamsPerConnection ?? 250,
        goawayChance: options.goawayChance ?? 0,
        logger,
        handle: (exchange) => void this.#front.handle(exchange),
      });
    }
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  async start(): Promise<void> {
    this.#startedMs = this.#clock.monotonic();
    this.#loopWatch.start();
    await this.options.store.start();
    await this.#debugSocket?.listen();
    await this.registry.start();
    this.#flows?.start();
    await this.#parts.start?.();
    await this.#listener?.listen();
    const transport = servedOnly(
      this.transport(superuser, "orbit-apiserver"),
      this.registry,
    );
    const {
      bindAddress = "127.0.0.1",
      advertiseAddress = bindAddress,
      kubernetesServiceAddress,
    } = this.options;
    const advertisePort = this.port || 6443;
    await createSystemObjects({
      transport,
      logger: this.options.logger,
      advertisePort,
      serviceAddress: kubernetesServiceAddress,
    });
    if (kubernetesServiceAddress && (this.options.publishEndpoints ?? true))
      await this.#publish(reachableAddress(advertiseAddress), (addresses) =>
        publishEndpoints({ transport, advertisePort }, addresses),
      );
    await this.#parts.bootstrap?.(transport);
    this.#state = "ready";
  }

  /** Who writes to the store alone is the only endpoint. */
  async #publish(
    address: string,
    publish: (addresses: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const { store, storedEncoding = "protobuf", logger } = this.options;
    if (!store.shared) return publish([address]);
    this.#endpointLeases = new EndpointLeases({
      store,
      encoding: storedEncoding,
      address,
      publish,
      clock: this.#clock,
      logger,
    });
    await this.#endpointLeases.start();
  }

  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    const {
      shutdownDelayMs = 0,
      shutdownGraceMs = 10_000,
      shutdownWatchGraceMs = 0,
      shutdownSendRetryAfter = false,
    } = this.options;
    const started = this.#state !== "new";
    this.#state = "leaving";
    if (started && shutdownDelayMs > 0) await this.#sleep(shutdownDelayMs);
    this.#state = "draining";
    if (!shutdownSendRetryAfter) this.#listener?.drain();
    if (shutdownWatchGraceMs <= 0) this.#resources.endWatches();
    await this.#until(() => this.#limiter.requests > 0, shutdownGraceMs);
    if (shutdownWatchGraceMs > 0) {
      this.#resources.endWatches(shutdownWatchGraceMs * 0.8);
      await this.#until(
        () => this.#resources.watches > 0,
        shutdownWatchGraceMs,
      );
      this.#resources.endWatches();
    }
    await this.#endpointLeases?.stop();
    this.#listener?.destroy();
    this.#debugSocket?.close();
    await this.#parts.stop?.();
    this.#flows?.stop();
    this.registry.stop();
    this.#loopWatch.stop();
    await this.options.store.stop();
    this.#state = "stopped";
  }

  transport(user: UserInfo, component = "orbit"): Transport {
    const { logger, auditor, bookmarkIntervalMs } = this.options;
    return new InProcessTransport({
      registry: this.registry,
      user,
      component,
      rawRequest: (asUser, method, path, body) =>
        rawInProcess(this.#front, asUser, method, path, body),
      bookmarkIntervalMs: bookmarkIntervalMs ?? defaultBookmarkIntervalMs,
      logger,
      observe: this.#observe,
      auditor,
    });
  }

  reloadCertificate(tls: ServingCertificate): void {
    this.#listener?.reload(tls);
  }

  addHealthCheck(check: HealthCheck): void {
    this.#checks.push(check);
  }

  async #until(busy: () => boolean, maxMs: number): Promise<void> {
    const until = this.#clock.monotonic() + maxMs;
    while (busy() && this.#clock.monotonic() < until) await this.#sleep(20);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  #healthChecks(): HealthCheck[] {
    const { store, storeCheckTimeoutMs, livezGraceMs = 0 } = this.options;
    return serverChecks({
      store,
      storeCheckTimeoutMs,
      lost: this.registry.cache.lost,
      others: this.#checks,
      started: this.#state !== "new",
      stopping: this.#state === "leaving" || this.#state === "draining",
      livezGrace: this.#clock.monotonic() - this.#startedMs < livezGraceMs,
    });
  }
}

/** The unspecified and loopback addresses can't be reached from pods: the first other address of this machine then. */
function reachableAddress(address: string): string {
  const kind = addressKind(address);
  if (kind !== "unspecified" && kind !== "loopback") return address;
  for (const list of Object.values(networkInterfaces()))
    for (const { internal, family, address: own } of list ?? [])
      if (!internal && family === "IPv4") return own;
  return address;
}
