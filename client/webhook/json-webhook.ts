// A webhook: JSON is posted to one URL, over kept HTTP/1.1 connections of a pool of its own. The only piece that calls
// webhooks: of kubeconfigs (tokens, permissions, audit, images), and by apiserver-lite/webhook-client those that
// configurations name.
//
// Invariants: a call ends within its time limit, whatever the server does, and holds at most `maxAnswerBytes` of its
// answer; redirects are not followed (the reference follows them: a server could send the API server's requests to where
// the server itself can't reach). A call is sent again only when the answer asks for it (Retry-After), within the same
// time limit; one whose connection breaks off may have had its effect.
import type { buildConnector, Dispatcher, Pool } from "undici";
import { systemClock, type Clock } from "../../api/clock.ts";
import { dialedConnector } from "../egress/dialed-connector.ts";
import type { Dial } from "../egress/egress-dialer.ts";
import type { HttpTransportOptions } from "../http-transport.ts";
import {
  failureText,
  WebhookCallError,
  WebhookStatusError,
  WebhookTimeoutError,
} from "./call-failure.ts";
import { statusOf } from "./response-status.ts";
import { readableBundle, connectorForBundle } from "./self-named-server.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

/** `server` is the whole URL that is posted to. */
export type WebhookConnection = Pick<
  HttpTransportOptions,
  "server" | "tls" | "token" | "username" | "password"
>;

interface WebhookPlace {
  /** A name or an address, an IPv6 one without brackets. */
  readonly host: string;
  readonly port: number;
}

interface WebhookOptions {
  /** Of one call, at most; calls may ask for less. */
  readonly timeoutMs: number;
  /** Scheme, host and port as error messages show them; default those of the URL, without the scheme's usual port. */
  readonly shownServer?: string;
  /** Where a new connection goes, instead of the URL's host and port. What it throws fails the call. */
  readonly resolve?: () => WebhookPlace;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
  readonly userAgent?: string;
  /** Whether the query says how long the caller waits; default true. */
  readonly sendsTimeout?: boolean;
  readonly clock?: Clock;
}

interface CallOptions {
  readonly timeoutMs?: number;
  /** Default 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
  /** Beside its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly retryAfterMs: number | undefined;
  readonly body: Buffer;
}

/** One call, over as many requests as it takes. */
interface Posting {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAnswerBytes: number;
  readonly isOver: () => WebhookCallError | undefined;
  /** Set while a request runs: ends it. */
  end: ((why: WebhookCallError) => void) | undefined;
}

const defaultMaxAnswerBytes = 1024 * 1024;
const maxConnections = 256;
/** Of connections without a request; a server's own shorter limit is honoured. */
const keepAliveMs = 60_000;
const maxRetries = 10;

export class JsonWebhook {
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #clock: Clock;
  #pool: Promise<Pool> | Pool | undefined;
  #closed = false;

  /** Throws a TypeError when `server` is no URL. */
  constructor(
    private readonly connection: WebhookConnection,
    private readonly options: WebhookOptions,
  ) {
    const { token, username, password } = connection;
    this.#url = new URL(connection.server);
    this.#clock = options.clock ?? systemClock;
    const basic =
      username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
    const authorization = token ? `Bearer ${token}` : basic;
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json, */*",
      ...(options.userAgent ? { "user-agent": options.userAgent } : {}),
      ...(authorization ? { authorization } : {}),
    };
  }

  /**
   * The body of a 2xx answer. Rejects with WebhookStatusError for any other answer, with WebhookTimeoutError when there
   * is none in time, with WebhookCallError when none can be had; what `resolve` throws is in its message.
   */
  async post(body: string, call: CallOptions = {}): Promise<string> {
    return (await this.postForBytes(body, call)).toString();
  }

  /** The same for answers that may be large. */
  async postForBytes(body: string, call: CallOptions = {}): Promise<Buffer> {
    const timeoutMs = Math.min(
      call.timeoutMs ?? this.options.timeoutMs,
      this.options.timeoutMs,
    );
    let over: WebhookCallError | undefined;
    const posting: Posting = {
      path: this.#path(timeoutMs),
      body,
      headers: call.headers
        ? { ...this.#headers, ...call.headers }
        : this.#headers,
      maxAnswerBytes: call.maxAnswerBytes ?? defaultMaxAnswerBytes,
      isOver: () => over,
      end: undefined,
    };
    const end = (why: WebhookCallError): void => {
      over ??= why;
      posting.end?.(over);
    };
    const timer = this.#clock.after(timeoutMs, () =>
      end(new WebhookTimeoutError(this.#shown(posting, deadlineText))),
    );
    const abort = (): void =>
      end(new WebhookCallError(this.#shown(posting, "context canceled")));
    const { signal } = call;
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await this.#answer(posting);
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  /** As error messages show it. */
  get server(): string {
    const { shownServer = this.#url.origin } = this.options;
    return `${shownServer}${this.#url.pathname}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#pool)?.destroy();
  }

  async #answer(posting: Posting): Promise<Buffer> {
    for (let retry = 0; ; retry++) {
      const { code, contentType, retryAfterMs, body } =
        await this.#send(posting);
      if (code >= 200 && code <= 206) return body;
      if (retryAfterMs === undefined || retry >= maxRetries)
        throw new WebhookStatusError(statusOf(code, contentType, body));
      await this.#pause(retryAfterMs, posting);
    }
  }

  async #send(posting: Posting): Promise<Answer> {
    if (this.#closed)
      throw new WebhookCallError(this.#shown(posting, "context canceled"));
    const pool = (this.#pool ??= this.#createPool());
    const ready = pool instanceof Promise ? (this.#pool = await pool) : pool;
    const over = posting.isOver();
    if (over) throw over;
    try {
      return await this.#request(ready, posting);
    } catch (error) {
      const failure = error as Error;
      if (failure instanceof WebhookCallError) throw failure;
      throw new WebhookCallError(
        this.#shown(posting, failureText(failure, this.#place())),
        { cause: failure },
      );
    }
  }

  #request(pool: Pool, posting: Posting): Promise<Answer> {
    const { maxAnswerBytes } = posting;
    return new Promise((resolve, reject) => {
      let controller: Dispatcher.DispatchController | undefined;
      let over = false;
      let code = 0;
      let headers: Record<string, string | string[] | undefined> = {};
      const chunks: Buffer[] = [];
      let bytes = 0;
      const fail = (error: Error): void => {
        if (over) return;
        over = true;
        reject(error);
        controller?.abort(error);
      };
      posting.end = fail;
      const text = (name: string): string => String(headers[name] ?? "");
      pool.dispatch(
        {
          path: posting.path,
          method: "POST",
          headers: posting.headers,
          body: posting.body,
        },
        {
          onRequestStart(started) {
            controller = started;
            if (over) started.abort(new Error("the call is over"));
          },
          onResponseStart(_, statusCode, received) {
            code = statusCode;
            headers = received;
          },
          onResponseData(_, chunk) {
            bytes += chunk.length;
            if (bytes > maxAnswerBytes)
              fail(
                new WebhookCallError(
                  `the answer is larger than ${maxAnswerBytes} bytes`,
                ),
              );
            else chunks.push(chunk);
          },
          onResponseEnd() {
            if (over) return;
            over = true;
            resolve({
              code,
              contentType: text("content-type"),
              retryAfterMs: retryAfterMs(code, text("retry-after")),
              body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
            });
          },
          onResponseError(_, error) {
            fail(code === 0 ? error : brokenAnswer(error));
          },
        },
      );
    });
  }

  /** Rejects when the call is over. */
  #pause(ms: number, posting: Posting): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = posting.isOver();
      if (over) return reject(over);
      const timer = this.#clock.after(ms, resolve);
      posting.end = (why) => {
        timer.cancel();
        reject(why);
      };
    });
  }

  #path(timeoutMs: number): string {
    const { pathname, search } = this.#url;
    if (this.options.sendsTimeout === false) return pathname + search;
    const timeout = `timeout=${Math.ceil(timeoutMs / 1000)}s`;
    return `${pathname}${search === "" ? "?" : `${search}&`}${timeout}`;
  }

  #shown({ path }: Posting, why: string): string {
    const { shownServer = this.#url.origin } = this.options;
    return `Post ${JSON.stringify(shownServer + path)}: ${why}`;
  }

  #place(): string {
    const { hostname, port, protocol } = this.#url;
    const usual = protocol === "https:" ? "443" : "80";
    try {
      const found = this.options.resolve?.();
      if (found) {
        const { host } = found;
        return `${host.includes(":") ? `[${host}]` : host}:${found.port}`;
      }
    } catch {
      // The place that was dialed is gone.
    }
    return `${hostname}:${port || usual}`;
  }

  #verifying(
    connector: (own: buildConnector.BuildOptions) => Connector,
  ): Connector {
    const { ca, cert, key, insecureSkipVerify } = this.connection.tls ?? {};
    const own = { ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
    if (insecureSkipVerify)
      return connector({ ...own, rejectUnauthorized: false });
    const checked = { ...own, rejectUnauthorized: true };
    if (!ca) return connector(checked);
    // Every certificate of a bundle is trusted, as by Go: an authority whose own issuer is not in it, too.
    const strict = connector({
      ...checked,
      ca: readableBundle(ca),
      allowPartialTrustChain: true,
    });
    const open = connector({ rejectUnauthorized: false, maxCachedSessions: 0 });
    const trusting = (leaf: string) => connector({ ...checked, ca: leaf });
    return connectorForBundle({ strict, open, trusting }, ca, this.#clock);
  }

  async #createPool(): Promise<Pool> {
    const { Pool, buildConnector } = await import("undici");
    const { tls } = this.connection;
    const { resolve, dial, timeoutMs } = this.options;
    const connector = (own: buildConnector.BuildOptions): Connector => {
      const direct = buildConnector({
        ...(tls?.serverName ? { servername: tls.serverName } : {}),
        checkServerIdentity: checkServerNames,
        timeout: timeoutMs,
        ...own,
      });
      return dial ? dialedConnector(dial, direct) : direct;
    };
    const connect = this.#verifying(connector);
    return new Pool(this.#url.origin, {
      connections: maxConnections,
      keepAliveTimeout: keepAliveMs,
      // Each call has a time limit of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: resolve
        ? (target, callback) => {
            let place: WebhookPlace;
            try {
              place = resolve();
            } catch (error) {
              callback(error as Error, null);
              return;
            }
            const { host, port } = place;
            connect(
              { ...target, hostname: host, port: String(port) },
              callback,
            );
          }
        : connect,
    });
  }
}

type Connector = buildConnector.connector;

const deadlineText = "context deadline exceeded";

function retryAfterMs(code: number, text: string): number | undefined {
  if (code !== 429 && (code < 500 || code > 599)) return undefined;
  return /^\d+$/.test(text) ? Number(text) * 1000 : undefined;
}

function brokenAnswer(error: Error): WebhookCallError {
  const text = failureText(error, "");
  const shown = text === "EOF" ? "unexpected EOF" : text;
  return new WebhookCallError(
    `unexpected error when reading response body. Please retry. Original error: ${shown}`,
    { cause: error },
  );
}
