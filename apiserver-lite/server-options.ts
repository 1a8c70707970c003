// What an API server is made of and how it behaves; each option that is left out has the reference's default.
import type { Logger } from "pino";
import type { Catalogue } from "../api/catalogue.ts";
import type { Clock } from "../api/clock.ts";
import type { Authorizer } from "../api/contracts.ts";
import type { Family } from "../api/metrics/family.ts";
import type { MetricsFilter } from "../api/metrics/filter.ts";
import type { ServingTls } from "../api/pki/serving-tls.ts";
import type { Transport } from "../client/transport.ts";
import type { Store } from "../storage/store.ts";
import type { AggregationOptions } from "./aggregation/aggregator.ts";
import type { AdmissionPlugin } from "./admission/plugin.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { RequestAuthenticator } from "../http-kit/authentication/authenticator.ts";
import type { ConnectHandler } from "./proxy/connect-handler.ts";
import type { Observer } from "./request/observer.ts";
import type { PathHandler } from "./serving/path-handler.ts";
import type { ServingCertificate } from "../http-kit/listener.ts";
import type { ZpageOptions } from "../http-kit/zpages.ts";
import type { AllowedOrigins } from "./front/origins.ts";
import type { Registry, RegistryOptions } from "./registry/registry.ts";
import type { ResourceStrategy } from "./resources/strategy.ts";
import type { Loopback } from "./webhook-client/loopback.ts";
import type { WebhookClients } from "./webhook-client/webhook-clients.ts";
import type { StoredEncoding } from "../api/codec/stored-form.ts";

/** What is made from the state the server holds: security, admission, rules with state. */
export interface ServerParts {
  readonly authenticators?: readonly RequestAuthenticator[];
  readonly authorizer?: Authorizer;
  readonly admission?: readonly AdmissionPlugin[];
  /** Asked first; undefined falls back to the built-in strategies. */
  readonly strategyFor?: (
    group: string,
    resource: string,
  ) => ResourceStrategy | undefined;
  readonly connect?: ConnectHandler;
  /** For conversion webhooks; closed when the server stops. Default: its own, which show no credentials. */
  readonly webhookClients?: WebhookClients;
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
  /** `loopback`: for webhook clients; undefined without a TLS port. */
  readonly parts?: (
    state: Registry,
    loopback: Loopback | undefined,
  ) => ServerParts;
  /** Requests without credentials pass as system:anonymous; default true. */
  readonly anonymous?: boolean;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** For the `kubernetes` service's endpoints; default the bind address. */
  readonly advertiseAddress?: string;
  /** First address of the service range, e.g. 10.96.0.1. Undefined: no `kubernetes` service. */
  readonly kubernetesServiceAddress?: string;
  /** Keep that service's endpoints; default true. */
  readonly publishEndpoints?: boolean;
  /** Above 0 together with the next where priority and fairness is on; else 0 is no limit. */
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
  /** /flagz and /statusz; default: none. */
  readonly zpages?: ZpageOptions;
  /** The same without authentication on a unix socket. */
  readonly debugSocketPath?: string;
  /** Of the health and readiness check of the store; default 10 s. */
  readonly storeCheckTimeoutMs?: { health: number; readiness: number };
  /** Deletes of one collection in flight at once. */
  readonly deleteCollectionWorkers?: number;
  /** As RegistryOptions say. */
  readonly uncached?: RegistryOptions["uncached"];
  readonly sealOf?: RegistryOptions["sealOf"];
  /** Undefined: nothing is traced. */
  readonly tracer?: RegistryOptions["tracer"];
  readonly garbageCollection?: boolean;
  readonly shutdownDelayMs?: number;
  readonly shutdownSendRetryAfter?: boolean;
  /** So long after the start what holds the event loop is counted and not logged: code is compiled then; default 0. */
  readonly warmUpMs?: number;
  /** Longest wait for the requests in flight. */
  readonly shutdownGraceMs?: number;
  /** Time over which active watches are ended; 0: at once. */
  readonly shutdownWatchGraceMs?: number;
  readonly bookmarkIntervalMs?: number;
  readonly historyMs?: number;
  readonly historyBytes?: number;
  /** Of the servers behind APIServices. */
  readonly aggregation?: AggregationOptions;
  readonly observer?: Observer;
  readonly auditor?: Auditor;
  /** Requests wait in queues by their flow; the limits in flight are its seats together. Default true. */
  readonly priorityAndFairness?: boolean;
}
