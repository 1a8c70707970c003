// The ConnectHandler: logs and plain proxying as streams with back-pressure, upgrades byte for byte. What an agent
// answers instead of an upgrade is passed on as a complete plain answer and ends the connection, so that nothing the
// client sends afterwards can reach the agent.
import type {
  ClientRequest,
  IncomingMessage,
  OutgoingHttpHeaders,
} from "node:http";
import { Readable, type Duplex, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Logger } from "pino";
import { ApiError, errors } from "../../api/errors.ts";
import type { StateReader } from "../resources/state.ts";
import type {
  ConnectHandler,
  ConnectRequest,
  ConnectResponse,
} from "./connect-handler.ts";
import { readAgent } from "./agent-reader.ts";
import { dialError, Dialer, type DialerOptions } from "./dialer.ts";
import {
  noIdentityFields,
  requestHeaders,
  responseHeaders,
  type IdentityFields,
} from "./headers.ts";
import type { ProxyPlace } from "./links.ts";
import { sendLog } from "./log-socket.ts";
import { throughProxy } from "./page-transform.ts";
import type { ProxyTarget } from "./proxy-name.ts";
import { isUnscheduledLog, proxyTarget } from "./target.ts";
import { Tunnels } from "./tunnels.ts";

interface ProxyHandlerOptions extends DialerOptions {
  readonly state: StateReader;
  readonly logger: Logger;
  /** Which of a node's addresses to use, best first. */
  readonly addressTypes?: readonly string[];
  /** Of each connection in each direction; 0 or undefined: no limit. */
  readonly maxBytesPerSecond?: number;
  /** By which front proxies name users to this server, besides X-Remote-*: never passed on. */
  readonly identityFields?: IdentityFields | undefined;
}

/** An agent's or pod's complete answer to an upgrade is kept in memory up to this. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const DEFAULT_ADDRESS_TYPES = [
  "InternalIP",
  "ExternalIP",
  "Hostname",
  "InternalDNS",
  "ExternalDNS",
];

export class ProxyHandler implements ConnectHandler {
  readonly #options: ProxyHandlerOptions;
  readonly #identity: IdentityFields;
  readonly #dialer: Dialer;
  readonly #tunnels: Tunnels;

  constructor(options: ProxyHandlerOptions) {
    this.#options = options;
    this.#identity = options.identityFields ?? noIdentityFields;
    this.#dialer = new Dialer(options);
    this.#tunnels = new Tunnels(options.maxBytesPerSecond);
  }

  /** After a renewal of the certificates. */
  setDialing(options: DialerOptions): void {
    this.#dialer.setOptions(options);
  }

  /**
   * Reads a document of a node's agent, with the API server's own certificate.
   * @throws ApiError when there is no such node, it can't be reached, or does not answer with 200
   */
  readAgent(nodeName: string, path: string): Promise<string> {
    const { state, addressTypes = DEFAULT_ADDRESS_TYPES } = this.#options;
    return readAgent(nodeName, path, this.#dialer, { state, addressTypes });
  }

  /** Ends everything that is open. */
  close(): void {
    this.#dialer.close();
    this.#tunnels.close();
  }

  async serve(
    request: ConnectRequest,
    body: Readable,
    response: ConnectResponse,
  ): Promise<void> {
    if (this.#isSettledHere(request, response)) return;
    const target = this.#target(request);
    const logs = request.subresource === "log";
    if (!logs && request.subresource !== "proxy") {
      throw errors.badRequest("Upgrade request required");
    }
    const headers = requestHeaders(
      request.headers,
      false,
      request.remoteAddress,
      this.#identity,
    );
    if (!logs)
      headers["x-forwarded-uri"] =
        proxyPrefix(request) + (request.proxyPath || "/");
    const withBody = !logs && mayHaveBody(request);
    frameBody(headers, withBody);
    const outgoing = this.#dialer.request(
      target,
      logs ? "GET" : request.method,
      headers,
      false,
    );
    const abort = (): void => void outgoing.destroy();
    request.signal.addEventListener("abort", abort, { once: true });
    try {
      const outcome = nextOutcome(outgoing, target);
      if (!withBody) outgoing.end();
      else pipeline(body, outgoing).catch(() => outgoing.destroy());
      const { answer, backend } = await outcome;
      if (backend) {
        backend.destroy();
        throw errors.internal(
          "the backend switched protocols without being asked",
        );
      }
      if (logs && (answer.statusCode ?? 500) >= 300)
        throw await answerAsError(answer, request);
      const passed: OutgoingHttpHeaders = logs
        ? { "content-type": "text/plain" }
        : responseHeaders(answer.headers);
      const steps: Transform[] = logs
        ? []
        : throughProxy(passed, request.method, placeOf(request, target));
      const sink = response.start(answer.statusCode ?? 502, passed);
      // The client's leaving is no error; a broken source must break the answer too.
      await pipeline([answer, ...steps, sink]).catch(() => {
        answer.destroy();
        sink.destroy();
      });
    } finally {
      request.signal.removeEventListener("abort", abort);
    }
  }

  async upgrade(
    request: ConnectRequest,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const logs = request.subresource === "log";
    if (logs && request.headers.upgrade?.toLowerCase() !== "websocket")
      throw errors.badRequest(
        "logs are served over no other upgrade than WebSocket",
      );
    if (logs && isUnscheduledLog(request))
      return sendLog(Readable.from([]), request.headers, socket, head);
    const target = this.#target(request);
    this.#tunnels.take(request.user.name, socket);
    const headers = requestHeaders(
      request.headers,
      !logs,
      request.remoteAddress,
      this.#identity,
    );
    frameBody(headers, false);
    const outgoing = this.#dialer.request(
      target,
      request.method,
      headers,
      !logs,
    );
    const abort = (): void => {
      outgoing.destroy();
      socket.destroy();
    };
    request.signal.addEventListener("abort", abort, { once: true });
    socket.once("close", () =>
      request.signal.removeEventListener("abort", abort),
    );
    socket.once("error", () => outgoing.destroy());
    const outcome = nextOutcome(outgoing, target);
    outgoing.end();
    const { answer, backend, head: backendHead } = await outcome;
    if (logs && !backend) {
      if ((answer.statusCode ?? 500) >= 300)
        throw await answerAsError(answer, request);
      await sendLog(answer, request.headers, socket, head);
    } else if (backend)
      this.#tunnels.join({ socket, head }, answer, backend, backendHead);
    else await passAnswerOn(answer, socket);
  }

  #target(request: ConnectRequest): ProxyTarget {
    const { state, addressTypes = DEFAULT_ADDRESS_TYPES } = this.#options;
    return proxyTarget(request, { state, addressTypes });
  }

  /** Answers the requests that need no other server. */
  #isSettledHere(request: ConnectRequest, response: ConnectResponse): boolean {
    const { subresource, method, proxyPath, rawQuery } = request;
    if (subresource === "log" && isUnscheduledLog(request)) {
      response.start(200, { "content-type": "text/plain" }).end();
      return true;
    }
    if (
      subresource === "proxy" &&
      proxyPath === "" &&
      (method === "GET" || method === "HEAD")
    ) {
      // So that relative links of the answer stay below the proxy.
      const location = `${proxyPrefix(request)}/${rawQuery === "" ? "" : `?${rawQuery}`}`;
      response.start(301, { location }).end();
      return true;
    }
    return false;
  }
}

function proxyPrefix({ namespace, resource, name }: ConnectRequest): string {
  const scope = namespace === "" ? "" : `namespaces/${namespace}/`;
  return `/api/v1/${scope}${resource}/${name}/proxy`;
}

function placeOf(request: ConnectRequest, target: ProxyTarget): ProxyPlace {
  const { headers } = request;
  return {
    prefix: proxyPrefix(request),
    backendHost: `${target.host}:${target.port}`,
    requestHost: String(headers.host ?? headers[":authority"] ?? ""),
  };
}

function mayHaveBody({ method, headers }: ConnectRequest): boolean {
  if (method === "GET" || method === "HEAD") return false;
  return headers["content-length"] !== "0";
}

/**
 * Makes the head announce exactly the body that follows. A length without a body would take the next request of a kept
 * connection for it; Node frames a body of no known length only for some methods.
 */
function frameBody(headers: OutgoingHttpHeaders, withBody: boolean): void {
  if (!withBody) delete headers["content-length"];
  else if (headers["content-length"] === undefined)
    headers["transfer-encoding"] = "chunked";
}

interface Outcome {
  readonly answer: IncomingMessage;
  /** Set when the answer is the switch of protocols. */
  readonly backend: Duplex | undefined;
  readonly head: Buffer;
}

/** The head of the answer; rejects with an ApiError when there is none. */
function nextOutcome(
  outgoing: ClientRequest,
  target: ProxyTarget,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", (answer) =>
      resolve({ answer, backend: undefined, head: Buffer.alloc(0) }),
    );
    outgoing.once("upgrade", (answer, backend, head) =>
      resolve({ answer, backend, head }),
    );
    outgoing.on("error", (error) => reject(dialError(error, target)));
    outgoing.once("close", () =>
      reject(
        dialError(new Error("connection closed before an answer"), target),
      ),
    );
  });
}

async function readAnswer(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An agent answers with plain text; the API answers with a Status of the same code. */
async function answerAsError(
  answer: IncomingMessage,
  request: ConnectRequest,
): Promise<ApiError> {
  const code = answer.statusCode ?? 500;
  const text = (await readAnswer(answer)).toString().slice(0, 10_000).trim();
  if (code === 400) return errors.badRequest(text);
  if (code === 404) {
    return new ApiError({
      code,
      reason: "NotFound",
      message:
        text ||
        `the server could not find the requested resource ( pods/log ${request.name})`,
      details: { name: request.name, kind: "pods/log" },
    });
  }
  if (code === 401 || code === 403) {
    return errors.internal(`the node's agent refused the API server: ${text}`);
  }
  return new ApiError({
    code,
    reason: code === 422 ? "Invalid" : "InternalError",
    message: text,
  });
}

async function passAnswerOn(
  answer: IncomingMessage,
  socket: Duplex,
): Promise<void> {
  const body = await readAnswer(answer).catch(() => Buffer.alloc(0));
  const headers = responseHeaders(answer.headers);
  delete headers["content-length"];
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      lines.push(`${name}: ${String(one)}`);
  }
  lines.push(`content-length: ${body.length}`, "connection: close");
  socket.end(
    Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]),
  );
}
