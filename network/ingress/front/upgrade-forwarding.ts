// Requests that offer to switch protocols. The backend is asked over a connection of its own; when it takes the offer the
// two sockets are joined, else its answer is passed on like any other. An offer of HTTP/2 itself (h2c) is not passed on:
// behind it further requests would reach the backend that no route was looked up for.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import type { Exchange, Upgrade } from "../../../http-kit/exchange.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream/call.ts";
import type { Endpoint } from "../upstream/endpoint.ts";
import {
  callForUpgrade,
  type UpgradeAnswer,
} from "../upstream/upgrade-call.ts";
import { answerText, failureStatus } from "./answers.ts";
import { answerOf } from "./client-answer.ts";
import {
  defaultResponseTimeoutMs,
  requestHeadersOf,
  targetOf,
  type ForwardingParts,
} from "./forwarding.ts";
import { changedHeaders, forwardedResponseHeaders } from "./header-hygiene.ts";

/** Between two pieces, of either side. */
const defaultUpgradedIdleMs = 3_600_000;
const token = /^[\w!#$%&'*+.^`|~-]+(\/[\w!#$%&'*+.^`|~-]+)?$/;

/** What is offered, if it is passed on. */
function offered({ headers, hasBody }: Exchange): string | undefined {
  const { upgrade = "" } = headers;
  return hasBody || !token.test(upgrade) || /^(h2c?|http)(\/|$)/i.test(upgrade)
    ? undefined
    : upgrade;
}

export function takesUpgrade(exchange: Exchange): boolean {
  return exchange.upgrade !== undefined && offered(exchange) !== undefined;
}

/** The exchange offers an upgrade. */
export function forwardUpgrade(parts: ForwardingParts): void {
  const { exchange, context, found, outcome } = parts;
  const left = new AbortController();
  // Two pipelines and what counts the request.
  exchange.upgrade?.socket.setMaxListeners(30);
  exchange.onClose(() => left.abort());
  forwardTo(parts, left.signal).catch((error: Error) => {
    if (exchange.closed) return;
    const failure: UpstreamFailure =
      error instanceof UpstreamError ? error.failure : "reset";
    context.statistics.failed(failure);
    context.logger.debug(
      { err: error, route: found.owner, endpoint: outcome.endpoint },
      "the backend did not answer an upgrade",
    );
    if (exchange.started) exchange.destroy();
    else
      outcome.bytes = answerText(
        exchange,
        failureStatus[failure],
        "the backend did not answer",
      );
  });
}

async function forwardTo(
  parts: ForwardingParts,
  signal: AbortSignal,
): Promise<void> {
  const { context, backend, found } = parts;
  const tried: Endpoint[] = [];
  for (;;) {
    const endpoint = backend.choose(tried, context.nowMs());
    if (!endpoint) throw new UpstreamError("connect", "no endpoint answers");
    tried.push(endpoint);
    parts.outcome.endpoint = endpoint.authority;
    const over = endpoint.begin();
    try {
      const answer = await callForUpgrade(
        endpoint,
        backend.tls,
        {
          method: parts.exchange.method,
          ...targetOf(parts),
          headers: [
            ...requestHeadersOf(parts),
            "connection",
            "Upgrade",
            "upgrade",
            offered(parts.exchange)!,
          ],
          body: undefined,
          bodyLength: undefined,
          responseTimeoutMs:
            found.rule.limits?.responseTimeoutMs ?? defaultResponseTimeoutMs,
          idleTimeoutMs: 0,
        },
        signal,
      );
      endpoint.answered();
      parts.exchange.onClose(over);
      return pass(parts, answer);
    } catch (error) {
      over();
      const connect =
        error instanceof UpstreamError && error.failure === "connect";
      if (connect) endpoint.failed(context.nowMs());
      if (!connect || tried.length >= 3 || signal.aborted) throw error;
      context.statistics.retries++;
    }
  }
}

function pass(parts: ForwardingParts, answer: UpgradeAnswer): void {
  const { exchange, found, outcome, filters } = parts;
  const changed = (raw: readonly string[]): string[] =>
    filters.reduce(
      (headers, filter) => changedHeaders(headers, filter?.responseHeaders),
      forwardedResponseHeaders(raw),
    );
  if (answer.kind === "switched") {
    const upgrade = exchange.upgrade!;
    exchange.switched();
    join(
      upgrade,
      answer,
      changed(answer.headers),
      found.rule.limits?.idleTimeoutMs ?? defaultUpgradedIdleMs,
      (bytes) => (outcome.bytes += bytes),
    );
    return;
  }
  const { answer: response } = answer;
  const client = answerOf(exchange);
  client.start(response.statusCode ?? 502, changed(response.rawHeaders), false);
  response.on("data", (chunk: Buffer) => {
    outcome.bytes += chunk.length;
    if (client.write(chunk)) return;
    response.pause();
    client.onDrain(() => response.resume());
  });
  response.once("end", () => client.end([]));
  response.once("error", () => client.reset());
}

function join(
  { socket: client, head: fromClient }: Upgrade,
  {
    socket: backend,
    head: fromBackend,
    headers: raw,
  }: UpgradeAnswer & {
    kind: "switched";
  },
  headers: readonly string[],
  idleMs: number,
  onBytes: (count: number) => void,
): void {
  const at = raw.findIndex(
    (each, n) => n % 2 === 0 && each.toLowerCase() === "upgrade",
  );
  let text = `HTTP/1.1 101 ${STATUS_CODES[101]}\r\nConnection: Upgrade\r\nUpgrade: ${at < 0 ? "websocket" : raw[at + 1]}\r\n`;
  for (let n = 0; n + 1 < headers.length; n += 2)
    if (headers[n]!.toLowerCase() !== "content-length")
      text += `${headers[n]}: ${headers[n + 1]}\r\n`;
  client.write(Buffer.from(`${text}\r\n`, "latin1"));
  if (fromBackend.length > 0) client.write(fromBackend);
  if (fromClient.length > 0) backend.write(fromClient);
  const end = (): void => {
    client.destroy();
    backend.destroy();
  };
  backend.on("data", (chunk: Buffer) => onBytes(chunk.length));
  for (const side of [client, backend]) limitIdle(side, idleMs, end);
  pipeline(client, backend, () => undefined);
  pipeline(backend, client, () => undefined);
  client.once("close", end);
  backend.once("close", end);
}

/** Of sockets; a piece of either side moves both. */
function limitIdle(side: Duplex, idleMs: number, end: () => void): void {
  const socket = side as Duplex & {
    setTimeout?: (ms: number, callback: () => void) => void;
  };
  socket.setTimeout?.(idleMs, end);
}
