// A port that serves a list of routes: the node agent's and those of controllers and scheduler. Requests and upgrades go
// through the same steps: the path's form, admission (who asks, and may it), the route, its handler. Whatever is thrown is
// answered, completely, on whichever connection the request came; an unexpected error is logged with its stack and is
// a 500.
import type { Logger } from "pino";
import { ApiError } from "../api/errors.ts";
import type { Exchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import {
  Listener,
  type ListenerOptions,
  type ServingCertificate,
} from "./listener.ts";
import { createRouter, type Route } from "./router.ts";

export interface PortRoute extends Route {
  serve(request: PortRequest): Promise<void> | void;
}

interface PortOptions extends Omit<
  ListenerOptions,
  "handle" | "http1Only" | "maxStreamsPerConnection" | "goawayChance"
> {
  readonly routes: readonly PortRoute[];
  /** Throws to refuse a request, before its route is looked for. */
  readonly admit?: (request: PortRequest) => void | Promise<void>;
  /** A request was routed; the returned function is called when it was served. */
  readonly began?: (method: string, pattern: string) => () => void;
  /** The answer's form where it is not plain text. */
  readonly refuse?: (request: PortRequest, error: HttpError | ApiError) => void;
  readonly logger: Logger;
  /** For messages. */
  readonly what: string;
}

const maxPathBytes = 32 * 1024;
const plain = "text/plain; charset=utf-8";

/** One request and the ways to answer it. */
export class PortRequest {
  /** Percent-encoded; without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Decoded parts of the path that the route matched. */
  parameters: Readonly<Record<string, string>> = {};

  constructor(readonly exchange: Exchange) {
    const { url } = exchange;
    const queryAt = url.indexOf("?");
    this.path = queryAt === -1 ? url : url.slice(0, queryAt);
    this.query = new URLSearchParams(
      queryAt === -1 ? "" : url.slice(queryAt + 1),
    );
  }

  get method(): string {
    return this.exchange.method;
  }

  /** A complete answer; what can't be answered any more is broken off. */
  answer(
    code: number,
    contentType: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const { exchange } = this;
    if (exchange.started) exchange.destroy();
    else if (!exchange.closed)
      exchange.respond(code, { ...headers, "content-type": contentType }, body);
  }

  text(text: string, code = 200): void {
    this.answer(code, plain, text);
  }

  json(value: unknown): void {
    this.answer(200, "application/json", JSON.stringify(value));
  }
}

export class Port {
  readonly #listener: Listener;
  readonly #router;

  constructor(private readonly options: PortOptions) {
    this.#router = createRouter(options.routes);
    this.#listener = new Listener({
      ...options,
      http1Only: true,
      maxStreamsPerConnection: 1,
      goawayChance: 0,
      handle: (exchange) => void this.#handle(new PortRequest(exchange)),
    });
  }

  /** Rejects with an error that names address and port. */
  async start(): Promise<void> {
    const { address, port, what } = this.options;
    await this.#listener.listen().catch((error: Error) => {
      throw new Error(
        `${what} can't listen on ${address ?? "*"}:${port}: ${error.message}`,
        { cause: error },
      );
    });
  }

  /** Connections end when their requests have, and all of them after the grace. */
  stop(graceMs: number): Promise<void> {
    return this.#listener.close(graceMs);
  }

  /** The one listened on; 0 before the start. */
  get port(): number {
    return this.#listener.port;
  }

  /** For connections from now on. */
  reload(tls: ServingCertificate): void {
    this.#listener.reload(tls);
  }

  /** Never rejects. */
  async #handle(request: PortRequest): Promise<void> {
    const { exchange, method, path } = request;
    const { admit, began } = this.options;
    let done: (() => void) | undefined;
    try {
      if (path.length > maxPathBytes || !path.startsWith("/"))
        throw new HttpError(400, "bad path");
      await admit?.(request);
      const { route, parameters } = this.#router.find(method, path);
      done = began?.(method, route.pattern);
      request.parameters = parameters;
      await route.serve(request);
    } catch (error) {
      this.#refuse(request, error);
    }
    done?.();
    // The rest of an unread body must not hold the connection.
    if (!exchange.upgrade) exchange.body.resume();
  }

  #refuse(request: PortRequest, error: unknown): void {
    const { logger, what, refuse } = this.options;
    const { method, path } = request;
    const known = error instanceof HttpError || error instanceof ApiError;
    if (!known || error.code >= 500)
      logger.error({ err: error, method, path }, `${what}: a request failed`);
    try {
      if (known && refuse) return refuse(request, error);
      request.answer(
        known ? error.code : 500,
        plain,
        error instanceof Error ? error.message : String(error),
        known ? error.headers : {},
      );
    } catch (failure) {
      logger.error({ err: failure }, "an error could not be answered");
      request.exchange.destroy();
    }
  }
}
