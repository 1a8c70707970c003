// Webhooks that configurations name by a service or a URL: one connection pool for each place and authority, made at the
// first call and kept for later ones. Admission and conversion webhooks are called through it.
//
// Invariants: at most `maxClients` pools; a service is resolved for every new connection, its certificate must be that of
// `<service>.<namespace>.svc`; a webhook without caBundle is verified by the machine's roots, never unverified. One at the
// API server itself is called as loopback.ts says, whatever else its configuration holds.
import { X509Certificate } from "node:crypto";
import * as path from "node:path";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../api/clock.ts";
import type { Dial } from "../../client/egress/egress-dialer.ts";
import type { Tracer } from "../../api/tracing/tracer.ts";
import type { UserCredentials } from "../../client/kubeconfig.ts";
import { JsonWebhook } from "../../client/webhook/json-webhook.ts";
import type { StateReader } from "../resources/state.ts";
import { servicePlace } from "../service-routing/service-place.ts";
import type { Loopback } from "./loopback.ts";

/** As in configurations and definitions of the API: either url or service. */
interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    /** With its leading slash; default none. */
    readonly path?: string;
    /** Default 443. */
    readonly port?: number;
  };
  /** PEM in base64; without it the machine's roots are trusted. */
  readonly caBundle?: string;
}

interface WebhookEgress {
  readonly cluster: Dial | undefined;
  readonly controlPlane: Dial | undefined;
}

export interface WebhookClientsOptions {
  /** Services and their endpoints. */
  readonly state: StateReader;
  readonly clock: Clock;
  /** What the API server shows to `host:port`; default nothing. */
  readonly credentials?: (hostPort: string) => UserCredentials | undefined;
  /** How connections to services and to URLs leave; undefined: directly. */
  readonly egress?: WebhookEgress | undefined;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Undefined: this process has no TLS port of the API server to call. */
  readonly loopback?: Loopback | undefined;
}

interface WebhookCall {
  readonly timeoutMs: number;
  /** Default 8 MiB. */
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** The configuration itself can't be used: no call was made. */
export class WebhookConfigError extends Error {
  override readonly name = "WebhookConfigError";
}

const maxClients = 200;
const longestTimeoutMs = 30_000;
const defaultMaxAnswerBytes = 8 * 1024 * 1024;
const userAgent = "kube-apiserver-admission";
/** The API server itself, as the reference knows it. */
const ownHostPort = "kubernetes.default.svc:443";

export class WebhookClients {
  readonly #clients = new LRUCache<string, JsonWebhook>({
    max: maxClients,
    dispose: (client) => void client.close(),
  });
  /** Configurations are kept objects: their clients are found without comparing certificates. */
  #byConfig = new WeakMap<WebhookClientConfig, JsonWebhook>();

  constructor(private readonly options: WebhookClientsOptions) {}

  /**
   * The body of a 2xx answer to `body`, which is JSON. Rejects with WebhookConfigError before anything was sent, and
   * with what JsonWebhook.post rejects with; all their messages are the reference's.
   */
  async post(
    config: WebhookClientConfig,
    body: string,
    { timeoutMs, maxAnswerBytes = defaultMaxAnswerBytes, signal }: WebhookCall,
  ): Promise<Buffer> {
    const client = this.#clientOf(config);
    const call = { timeoutMs, maxAnswerBytes, signal };
    const traced = this.options.tracer?.call("HTTP POST", {
      "http.method": "POST",
      "http.url": client.server,
    });
    if (!traced) return client.postForBytes(body, call);
    try {
      const { headers } = traced;
      const answer = await client.postForBytes(body, { ...call, headers });
      traced.end(undefined, { "http.status_code": 200 });
      return answer;
    } catch (error) {
      traced.end(error);
      throw error;
    }
  }

  /** The work of calling a webhook, which is asked for by a request. */
  traced<T>(
    name: string,
    attributes: () => Readonly<Record<string, string>>,
    work: () => Promise<T>,
  ): Promise<T> {
    const { tracer } = this.options;
    return tracer ? tracer.child(name, attributes, work) : work();
  }

  /** Ends what runs. */
  close(): void {
    this.#byConfig = new WeakMap();
    this.#clients.clear();
  }

  #clientOf(config: WebhookClientConfig): JsonWebhook {
    const known = this.#byConfig.get(config);
    // One that has left the cache is closed.
    if (known && !known.closed) return known;
    const { url, service, caBundle } = config;
    const key = JSON.stringify([url, service, caBundle]);
    let client = this.#clients.get(key);
    if (!client) {
      client = this.#createClient(config);
      this.#clients.set(key, client);
    }
    this.#byConfig.set(config, client);
    return client;
  }

  #createClient({ url, service, caBundle }: WebhookClientConfig): JsonWebhook {
    const { state, clock, loopback, egress } = this.options;
    const limits = { clock, userAgent, timeoutMs: longestTimeoutMs };
    const parsed = url && URL.canParse(url) ? new URL(url) : undefined;
    const host = service
      ? `${service.name}.${service.namespace}.svc`
      : (parsed?.hostname ?? "");
    const port = Number(service ? (service.port ?? 443) : parsed?.port || 443);
    if (loopback && `${host}:${port}` === ownHostPort) {
      const asked = (service ? service.path : parsed?.pathname) ?? "";
      return loopbackClient(loopback, cleanPath(asked), limits);
    }
    const ca = caBundle ? authorityOf(caBundle) : undefined;
    if (service) {
      const { namespace, name } = service;
      const { tls, ...shown } = this.#credentials(`${host}:${port}`);
      return new JsonWebhook(
        {
          ...shown,
          server: `https://${host}:${port}${cleanPath(service.path ?? "")}`,
          tls: { ...tls, ...(ca ? { ca } : {}), serverName: host },
        },
        {
          ...limits,
          dial: egress?.cluster,
          shownServer: `https://${host}:${port}`,
          resolve: () => servicePlace(state, { namespace, name, port }),
        },
      );
    }
    if (parsed?.protocol !== "https:")
      throw new WebhookConfigError(
        "webhook configuration must have either service or URL",
      );
    const { tls, ...shown } = this.#credentials(`${host}:${port}`);
    return new JsonWebhook(
      {
        ...shown,
        server: `https://${parsed.host}${cleanPath(parsed.pathname)}`,
        tls: { ...tls, ...(ca ? { ca } : {}) },
      },
      { ...limits, dial: egress?.controlPlane },
    );
  }

  #credentials(hostPort: string): UserCredentials {
    return this.options.credentials?.(hostPort) ?? {};
  }
}

/** Without what a server would redirect for: doubled slashes, dots, a slash at the end. */
function cleanPath(asked: string): string {
  const joined = path.posix.join("/", asked);
  return joined.length > 1 ? joined.replace(/\/$/, "") : joined;
}

function loopbackClient(
  loopback: Loopback,
  asked: string,
  limits: { clock: Clock; userAgent: string; timeoutMs: number },
): JsonWebhook {
  const shownServer = `https://${ownHostPort}`;
  return new JsonWebhook(
    { ...loopback.credentials(), server: `${shownServer}${asked}` },
    { ...limits, shownServer, resolve: () => loopback.place() },
  );
}

/** Throws WebhookConfigError. */
function authorityOf(caBundle: string): string {
  const ca = Buffer.from(caBundle, "base64").toString();
  try {
    new X509Certificate(ca);
  } catch {
    throw new WebhookConfigError(
      "unable to load root certificates: unable to parse bytes as PEM block",
    );
  }
  return ca;
}
