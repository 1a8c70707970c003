// One request on its way to a backend and the answer on its way back: attempts, time limits, back-pressure both ways.
// A request without a body that may be repeated safely (RFC 9110 9.2.2) is sent to another endpoint when the first one's
// connection failed before an answer; any other failure is the client's answer. A client that leaves ends the attempt.
import type { Exchange } from "../../../http-kit/exchange.ts";
import type { FoundRoute } from "../routing/route-table.ts";
import type { RouteFilters } from "../routing/route.ts";
import type { Backend } from "../upstream/backend.ts";
import {
  UpstreamError,
  type ResponseSink,
  type UpstreamCall,
  type UpstreamRequest,
} from "../upstream/call.ts";
import type { Endpoint } from "../upstream/endpoint.ts";
import { answerText, changedPath, failureStatus } from "./answers.ts";
import { answerOf, type ClientAnswer } from "./client-answer.ts";
import { BodyTooLargeError, ClientBody, SlowBodyError } from "./client-body.ts";
import {
  changedHeaders,
  forwardedRequestHeaders,
  forwardedResponseHeaders,
} from "./header-hygiene.ts";
import { corsChanges } from "./cors.ts";
import type { Incoming } from "./incoming.ts";
import { mirrorRequest } from "./mirroring.ts";
import type { Outcome, ProxyContext, ServingSocket } from "./proxy-context.ts";

export const defaultResponseTimeoutMs = 60_000;
const defaultIdleTimeoutMs = 300_000;
const maxAttempts = 3;
const repeatable = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

export interface ForwardingParts {
  readonly context: ProxyContext;
  readonly socket: ServingSocket;
  readonly exchange: Exchange;
  readonly incoming: Incoming;
  readonly found: FoundRoute;
  readonly backend: Backend;
  /** Of the rule, then of the backend. */
  readonly filters: readonly (RouteFilters | undefined)[];
  readonly outcome: Outcome;
}

/** What every attempt sends. */
export function requestHeadersOf({
  context,
  socket,
  exchange,
  incoming,
  filters,
}: ForwardingParts): string[] {
  const { remoteAddress } = exchange.peer;
  let headers = forwardedRequestHeaders(incoming.rawHeaders, {
    clientAddress: remoteAddress.replace(/^::ffff:(?=\d+\.)/, ""),
    scheme: socket.scheme,
    authority: incoming.authority,
    port: socket.port,
    trusted: context.trusted(remoteAddress),
  });
  for (const filter of filters)
    headers = changedHeaders(headers, filter?.requestHeaders);
  return headers;
}

/** Path with query, and authority, as filters change them. */
export function targetOf({ incoming, found, filters }: ForwardingParts): {
  path: string;
  authority: string;
} {
  let { path } = incoming;
  let authority = incoming.authority || "localhost";
  for (const filter of filters) {
    path = changedPath(path, found.prefix, filter?.rewritePath);
    authority = filter?.rewriteHost ?? authority;
  }
  return { path: path + incoming.queryText, authority };
}

/** HTTP/2 behind the proxy: as the backend says, and for gRPC over TLS. */
function speaksHttp2({ backend, exchange }: ForwardingParts): boolean {
  const { protocol } = backend;
  if (protocol === "h2c" || protocol === "h2") return true;
  return (
    protocol === "https" &&
    (exchange.headers["content-type"] ?? "").startsWith("application/grpc")
  );
}

export class Forwarding implements ResponseSink {
  readonly #answer: ClientAnswer;
  readonly #tried: Endpoint[] = [];
  readonly #http2: boolean;
  #call: UpstreamCall | undefined;
  #body: ClientBody | undefined;
  #request: UpstreamRequest | undefined;
  #started = false;
  /** The client has its whole answer, or has left. */
  #over = false;
  #unread: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #attemptDeadline: NodeJS.Timeout | undefined;

  constructor(private readonly parts: ForwardingParts) {
    this.#answer = answerOf(parts.exchange);
    this.#http2 = speaksHttp2(parts);
  }

  start(): void {
    const { exchange, incoming, found } = this.parts;
    const { maxBodyBytes, requestTimeoutMs } = found.rule.limits ?? {};
    if (maxBodyBytes !== undefined && (incoming.bodyLength ?? 0) > maxBodyBytes)
      return this.#refuse(413, "the body is too large");
    if (requestTimeoutMs)
      this.#deadline = setTimeout(() => this.#timedOut(), requestTimeoutMs);
    exchange.onClose(() => this.#clientLeft());
    this.#request = this.#makeRequest();
    this.#mirror(this.#request);
    return this.#attempt();
  }

  onResponse(
    status: number,
    rawHeaders: readonly string[],
    hasTrailers: boolean,
  ): void {
    const { filters, exchange } = this.parts;
    this.#tried.at(-1)?.answered();
    clearTimeout(this.#attemptDeadline);
    if (exchange.closed) return;
    let headers = forwardedResponseHeaders(rawHeaders);
    for (const filter of filters) {
      if (filter?.cors)
        headers = changedHeaders(headers, corsChanges(filter.cors, exchange));
      headers = changedHeaders(headers, filter?.responseHeaders);
    }
    try {
      this.#answer.start(status, headers, hasTrailers);
      this.#started = true;
    } catch (error) {
      this.#call?.abort();
      this.onError(new UpstreamError("protocol", (error as Error).message));
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.parts.outcome.bytes += chunk.length;
    if (this.#answer.write(chunk)) return true;
    // A client that does not read must not keep the backend's connection.
    const unread = setTimeout(() => this.#timedOut(), this.#idleTimeoutMs);
    this.#unread = unread;
    this.#answer.onDrain(() => {
      clearTimeout(unread);
      this.#call?.resume();
    });
    return false;
  }

  onEnd(trailers: readonly string[]): void {
    this.#end();
    this.#answer.end(forwardedResponseHeaders(trailers));
    this.#dropBody();
  }

  onError(error: UpstreamError): void {
    if (this.#over) return;
    const { context, exchange, found, outcome } = this.parts;
    context.statistics.failed(error.failure);
    const endpoint = this.#tried.at(-1);
    if (error.failure === "connect") endpoint?.failed(context.nowMs());
    context.logger.debug(
      { err: error, route: found.owner, endpoint: outcome.endpoint },
      "the backend did not answer",
    );
    if (this.#started || exchange.started) {
      this.#end();
      this.#answer.reset();
      return;
    }
    const body = this.#body?.errored;
    if (body instanceof BodyTooLargeError)
      return this.#refuse(413, "the body is too large");
    if (body instanceof SlowBodyError)
      return this.#refuse(408, "the body did not come in time");
    if (this.#mayRepeat(error)) {
      context.statistics.retries++;
      return this.#attempt(error);
    }
    this.#refuse(failureStatus[error.failure], "the backend did not answer");
  }

  #mayRepeat({ failure }: UpstreamError): boolean {
    return (
      (failure === "connect" || failure === "reset") &&
      repeatable.has(this.parts.exchange.method) &&
      !this.#body &&
      this.#tried.length < maxAttempts
    );
  }

  #attempt(previous?: UpstreamError): void {
    const { context, backend, outcome, found } = this.parts;
    const nowMs = context.nowMs();
    const endpoint = backend.choose(this.#tried, nowMs);
    if (!endpoint) {
      const status = previous ? failureStatus[previous.failure] : 503;
      return this.#refuse(status, "no endpoint of the backend answers");
    }
    this.#tried.push(endpoint);
    outcome.endpoint = endpoint.authority;
    const { attemptTimeoutMs } = found.rule.limits ?? {};
    clearTimeout(this.#attemptDeadline);
    if (attemptTimeoutMs)
      this.#attemptDeadline = setTimeout(
        () => this.#timedOut(),
        attemptTimeoutMs,
      );
    try {
      this.#call = endpoint.call(this.#request!, this, this.#http2, nowMs);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.onError(error);
    }
  }

  #mirror(request: UpstreamRequest): void {
    const { context, filters } = this.parts;
    for (const { backend, fraction } of filters.flatMap(
      (each) => each?.mirrors ?? [],
    )) {
      const mirror = context.backends.get(backend);
      if (mirror && Math.random() < fraction)
        mirrorRequest(mirror, request, this.#body, context.nowMs());
    }
  }

  #makeRequest(): UpstreamRequest {
    const { exchange, incoming, found } = this.parts;
    const { limits = {} } = found.rule;
    const idleTimeoutMs = this.#idleTimeoutMs;
    const hasBody = exchange.hasBody;
    if (hasBody)
      this.#body = new ClientBody(
        exchange.body,
        limits.maxBodyBytes ?? Infinity,
        this.#http2 ? undefined : idleTimeoutMs,
      );
    this.#body?.on("error", () => undefined);
    return {
      method: exchange.method,
      ...targetOf(this.parts),
      headers: requestHeadersOf(this.parts),
      body: this.#body,
      bodyLength: hasBody ? incoming.bodyLength : undefined,
      responseTimeoutMs: limits.responseTimeoutMs ?? defaultResponseTimeoutMs,
      idleTimeoutMs,
    };
  }

  get #idleTimeoutMs(): number {
    return this.parts.found.rule.limits?.idleTimeoutMs ?? defaultIdleTimeoutMs;
  }

  #timedOut(): void {
    if (this.#over) return;
    this.#call?.abort();
    this.parts.context.statistics.failed("timeout");
    if (this.#started) {
      this.#end();
      this.#answer.reset();
    } else this.#refuse(504, "the backend did not answer in time");
  }

  #refuse(status: number, text: string): void {
    const { exchange, outcome } = this.parts;
    this.#end();
    if (!exchange.closed) outcome.bytes = answerText(exchange, status, text);
    this.#dropBody();
  }

  #clientLeft(): void {
    if (this.#over) return;
    this.#end();
    this.#call?.abort();
    this.#dropBody();
  }

  #dropBody(): void {
    this.#body?.destroy();
  }

  #end(): void {
    this.#over = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#attemptDeadline);
    clearTimeout(this.#unread);
  }
}
