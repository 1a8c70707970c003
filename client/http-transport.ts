// The Transport over HTTP to any conforming API server: JSON, protobuf or CBOR on undici's pools, one for requests and one
// for watches (a watch keeps its connection). Token files are read again once a minute and after a 401; 429 and 503 with Retry-After
// are waited out and tried again; a GET whose kept-alive connection had died is tried once more.
//
// Owns its pools: close() ends all requests and watches. An answer ≥ 400 rejects with an ApiError made of the Status
// body; everything below HTTP (refused, reset, timed out) rejects with a TransportError.
import { trimEnd } from "../api/patterns/trim.ts";
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Dispatcher } from "undici";
import { systemClock } from "../api/clock.ts";
import type { Clock } from "../api/clock.ts";
import { ApiError } from "../api/errors.ts";
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../api/object.ts";
import { sleep } from "../api/queueing/backoff.ts";
import type { Patch, WatchOptions, WatchStream } from "./client.ts";
import {
  type BodyCodec,
  type ContentType,
  type DecodedEvent,
  type EncodedBody,
  jsonBody,
  jsonCodec,
} from "./content/body-codec.ts";
import { bodyCodecOf } from "./content/codec-of.ts";
import { nameItems } from "./content/list-items.ts";
import { answerError, retryAfterMs } from "./content/status-error.ts";
import { checkRequest, resourcePath } from "./http-paths.ts";
import {
  createHttpPools,
  type HttpPools,
  type TlsOptions,
} from "./http-pools.ts";
import { watchQuery, watchStream } from "./http-watch.ts";
import type { ClientMetrics } from "./metrics/client-metrics.ts";
import { RequestCredentials, type CredentialOptions } from "./credentials.ts";
import {
  TransportError,
  type ApiRequest,
  type Transport,
} from "./transport.ts";
import { TokenBucket } from "../api/queueing/token-bucket.ts";

export interface HttpTransportOptions extends CredentialOptions {
  /** `https://host:port`, a path prefix allowed. */
  server: string;
  tls?: TlsOptions;
  userAgent?: string;
  /** How bodies are encoded where they can be; default JSON. */
  contentType?: ContentType;
  /** Until the answer's headers, and between its chunks; 0: never. Default 60 s. Watches are not bound by it. */
  requestTimeoutMs?: number;
  /** Requests a second, and at once; default: no limit. Watches, Leases and Events do not count, as at the reference. */
  rateLimit?: { qps: number; burst: number };
  /** Connections for requests; default 16. */
  maxConnections?: number;
  metrics?: ClientMetrics | undefined;
  clock?: Clock;
  logger?: Logger;
}

interface HttpTransport extends Transport {
  /** New certificates for connections from now on; running watches are ended, so that their readers connect again. */
  updateTls(tls: TlsOptions): Promise<void>;
}

/** A lease that waits for its turn is lost; events have limits of their own. */
const unlimited = ["leases", "events"];
const maxRetries = 10;
const defaultConnections = 16;

export const patchTypes: Record<Patch["type"], string> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};
export const methods: Record<ApiRequest["verb"], Dispatcher.HttpMethod> = {
  get: "GET",
  list: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

export function createHttpTransport(
  options: HttpTransportOptions,
): HttpTransport {
  return new UndiciTransport(options);
}

class UndiciTransport implements HttpTransport {
  readonly #origin: string;
  readonly #host: string;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #closed = new AbortController();
  #tls: TlsOptions;
  #codec: Promise<BodyCodec> | undefined;
  /** A server took JSON alone. */
  #onlyJsonBodies = false;
  /** Made with the first request. */
  #pools: Promise<HttpPools> | undefined;
  readonly #credentials: RequestCredentials;
  readonly #bucket: TokenBucket | undefined;

  constructor(private readonly options: HttpTransportOptions) {
    const url = new URL(options.server);
    this.#origin = url.origin;
    this.#host = url.host;
    this.#prefix = trimEnd(url.pathname, "/");
    this.#clock = options.clock ?? systemClock;
    this.#credentials = new RequestCredentials(options, this.#clock);
    this.#timeoutMs = options.requestTimeoutMs ?? 60_000;
    this.#tls = options.tls ?? {};
    const { rateLimit } = options;
    if (rateLimit)
      this.#bucket = new TokenBucket(
        this.#clock,
        rateLimit.qps,
        Math.max(1, rateLimit.burst),
      );
    // Every request under way listens to it.
    setMaxListeners(0, this.#closed.signal);
  }

  async request(
    request: ApiRequest,
  ): Promise<KubeObject | KubeList<KubeObject>> {
    checkRequest(request);
    const query = request.query ?? {};
    const method = methods[request.verb];
    if (!unlimited.includes(request.resource.resource))
      await this.#takeTurn(method);
    const codec = await this.#bodyCodec();
    const path = withQuery(this.#prefix + resourcePath(request), query);
    const send = (body: EncodedBody | undefined): Promise<Answer> =>
      this.#call(method, path, body, codec);
    const body = this.#encode(request, codec);
    const answer = await send(body).catch((error: unknown) => {
      const refused = error instanceof ApiError && error.code === 415;
      if (!refused || typeof body?.bytes !== "object" || !request.body)
        throw error;
      this.#onlyJsonBodies = true;
      return send(jsonBody(request.body));
    });
    const object = decoded(codec, answer, request.verb) as KubeObject;
    if (request.verb === "list" || request.verb === "deletecollection")
      nameItems(object as unknown as KubeList<KubeObject>);
    return object;
  }

  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject> {
    const path = withQuery(
      this.#prefix + resourcePath({ resource, ...options }),
      watchQuery(options),
    );
    return watchStream((signal) => this.#openWatch(path, options, signal));
  }

  async raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    const upper = method.toUpperCase() as Dispatcher.HttpMethod;
    await this.#takeTurn(upper);
    const answer = await this.#call(
      upper,
      this.#prefix + path,
      body === undefined ? undefined : jsonBody(body),
      jsonCodec,
    );
    return {
      status: answer.status,
      body: answer.contentType.includes("json")
        ? decoded(jsonCodec, answer, path)
        : answer.bytes.toString("utf8"),
    };
  }

  #bodyCodec(): Promise<BodyCodec> {
    return (this.#codec ??= bodyCodecOf(
      this.options.contentType ?? "application/json",
    ));
  }

  #encode(request: ApiRequest, codec: BodyCodec): EncodedBody | undefined {
    const { patch, body, resource } = request;
    if (patch) return jsonBody(patch.body, patchTypes[patch.type]);
    if (body === undefined) return undefined;
    return this.#onlyJsonBodies ? jsonBody(body) : codec.encode(body, resource);
  }

  async #takeTurn(method: string): Promise<void> {
    if (!this.#bucket) return;
    const waitMs = this.#bucket.reserve();
    this.options.metrics?.waited(method, this.#host, waitMs);
    if (waitMs > 0) await sleep(this.#clock, waitMs, this.#closed.signal);
  }

  async updateTls(tls: TlsOptions): Promise<void> {
    this.#tls = tls;
    const old = await this.#pools;
    this.#pools = undefined;
    if (!old) return;
    void old.requests.close();
    await old.watches.destroy();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const pools = await this.#pools?.catch(() => undefined);
    await Promise.all([pools?.requests.destroy(), pools?.watches.destroy()]);
  }

  #connected(): Promise<HttpPools> {
    if (this.#closed.signal.aborted)
      return Promise.reject(new TransportError("the transport is closed"));
    return (this.#pools ??= createHttpPools(
      this.#origin,
      this.#tls,
      this.options.maxConnections ?? defaultConnections,
    ));
  }

  async #headers(accept: string): Promise<Record<string, string | string[]>> {
    const { options } = this;
    const headers: Record<string, string | string[]> = {
      accept,
      "user-agent": options.userAgent ?? "orbit",
    };
    await this.#credentials.set(headers);
    return headers;
  }

  #began(method: string): ReturnType<ClientMetrics["began"]> | undefined {
    return this.options.metrics?.began(method, this.#host);
  }

  async #call(
    method: Dispatcher.HttpMethod,
    path: string,
    body: EncodedBody | undefined,
    codec: BodyCodec,
  ): Promise<Answer> {
    let tokenRetried = false;
    let socketRetried = false;
    for (let retry = 0; ;) {
      const headers = await this.#headers(codec.accept);
      if (body) headers["content-type"] = body.contentType;
      let status: number;
      let bytes: Buffer;
      let answered: Record<string, string | string[] | undefined>;
      const ended = this.#began(method);
      try {
        const pools = await this.#connected();
        const response = await pools.requests.request({
          method,
          path,
          headers,
          body: body?.bytes ?? null,
          headersTimeout: this.#timeoutMs,
          bodyTimeout: this.#timeoutMs,
          signal: this.#closed.signal,
        });
        status = response.statusCode;
        answered = response.headers;
        bytes = Buffer.from(await response.body.arrayBuffer());
        const sentBytes = body ? Buffer.byteLength(body.bytes) : 0;
        ended?.(status, sentBytes, bytes.length);
      } catch (error) {
        ended?.(undefined);
        if (error instanceof TransportError) throw error;
        const code = (error as { code?: string }).code;
        const stale = code === "UND_ERR_SOCKET" || code === "ECONNRESET";
        if (stale && method === "GET" && !socketRetried) {
          socketRetried = true;
          continue;
        }
        throw new TransportError(`${method} ${path}: ${String(error)}`, {
          cause: error,
        });
      }
      if (status === 401 && !tokenRetried && this.#credentials.refused()) {
        tokenRetried = true;
        continue;
      }
      const waitMs = retryAfterMs(status, answered["retry-after"]);
      if (waitMs !== undefined && retry < maxRetries) {
        retry++;
        this.options.metrics?.retried(status, method, this.#host);
        await sleep(this.#clock, waitMs, this.#closed.signal);
        continue;
      }
      if (status >= 400) throw answerError(status, bytes, answered, codec);
      const contentType = String(answered["content-type"] ?? "");
      return { status, bytes, contentType };
    }
  }

  async #openWatch(
    path: string,
    options: WatchOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterable<DecodedEvent>> {
    const pools = await this.#connected();
    const codec = await this.#bodyCodec();
    const headers = await this.#headers(codec.accept);
    const ended = this.#began("GET");
    const response = await pools.watches
      .request({
        method: "GET",
        path,
        headers,
        headersTimeout: this.#timeoutMs,
        // The server ends the watch by itself; half a minute later the connection is taken for dead.
        bodyTimeout: options.timeoutSeconds
          ? (options.timeoutSeconds + 30) * 1000
          : 0,
        signal,
      })
      .catch((error: unknown) => {
        ended?.(undefined);
        throw new TransportError(`GET ${path}: ${String(error)}`, {
          cause: error,
        });
      });
    ended?.(response.statusCode);
    if (response.statusCode !== 200) {
      if (response.statusCode === 401) this.#credentials.refused();
      const bytes = Buffer.from(await response.body.arrayBuffer());
      throw answerError(response.statusCode, bytes, response.headers, codec);
    }
    const type = String(response.headers["content-type"] ?? "");
    return codec.events(response.body, type);
  }
}

export function withQuery(
  path: string,
  query: Readonly<Record<string, string>>,
): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
  readonly contentType: string;
}

function decoded(codec: BodyCodec, answer: Answer, what: string): unknown {
  const { bytes, contentType } = answer;
  try {
    return codec.decode(bytes, contentType);
  } catch (error) {
    const type = contentType.split(";")[0]!;
    const expected = type.includes("json") || type === "" ? "JSON" : type;
    throw new TransportError(`the answer to ${what} is not ${expected}`, {
      cause: error,
    });
  }
}
