// One request and its answer, the same for plain requests and upgrades: an upgrade that is refused gets an ordinary HTTP
// answer written on its socket, which is what makes kubectl fall back from WebSocket to SPDY.
import {
  STATUS_CODES,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../api/errors.ts";

export interface Upgrade {
  readonly socket: Duplex;
  /** Bytes that came with the request's head. */
  readonly head: Buffer;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly method: string;
  /** Percent-encoded; without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Decoded parts of the path that the route matched. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Exactly one of these two. */
  readonly response?: ServerResponse;
  readonly upgrade?: Upgrade;
}

export class HttpError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** A complete answer; the connection of an upgrade request is closed after it. */
export function answer(
  exchange: Pick<Exchange, "response" | "upgrade" | "method">,
  code: number,
  contentType: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const all = {
    ...headers,
    "Content-Type": contentType,
    "Content-Length": String(bytes.length),
  };
  const { response, upgrade } = exchange;
  if (response !== undefined) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    response.writeHead(code, all);
    response.end(exchange.method === "HEAD" ? undefined : bytes);
  } else if (upgrade !== undefined && !upgrade.socket.destroyed) {
    const lines = Object.entries({ ...all, Connection: "close" }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    upgrade.socket.end(
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ""}\r\n${lines.join("")}\r\n`,
        ),
        bytes,
      ]),
    );
  }
}

export function answerJson(exchange: Exchange, value: unknown): void {
  answer(exchange, 200, "application/json", JSON.stringify(value));
}

export function answerText(exchange: Exchange, text: string, code = 200): void {
  answer(exchange, code, "text/plain; charset=utf-8", text);
}

/** Answers with the error's own code and text; anything unexpected is a 500. */
export function answerError(
  exchange: Pick<Exchange, "response" | "upgrade" | "method">,
  error: unknown,
): void {
  if (error instanceof HttpError)
    answer(
      exchange,
      error.code,
      "text/plain; charset=utf-8",
      error.message,
      error.headers,
    );
  else if (error instanceof ApiError)
    answer(
      exchange,
      error.code,
      "text/plain; charset=utf-8",
      error.message,
      error.headers,
    );
  else
    answer(
      exchange,
      500,
      "text/plain; charset=utf-8",
      error instanceof Error ? error.message : String(error),
    );
}
