// A request that the server behind an APIService answers: passed on with the identity of who asks, streamed in both
// directions, upgrades among them. Authentication, authorization, audit and limits are the front's.
// Invariants: what the client sent about its identity never goes on; neither body is held; a failure before the answer's
// head is answered in plain text, as the reference's aggregator does, and one after it ends the answer.
import type {
  ClientRequest,
  IncomingMessage,
  OutgoingHttpHeaders,
} from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../../api/clock.ts";
import type { Tracer } from "../../api/tracing/tracer.ts";
import type { Place } from "./extension-server.ts";
import type { HttpRequest } from "../serving/http-request.ts";
import { PlainAnswer } from "../request/route.ts";
import {
  requestHeaders,
  responseHeaders,
  type IdentityFields,
} from "../proxy/headers.ts";
import type { Tunnels } from "../proxy/tunnels.ts";
import type { ExtensionServer } from "./extension-server.ts";
import { identityHeaders } from "./identity-headers.ts";
import { reachError } from "./reach-error.ts";

interface ExtensionProxyOptions {
  readonly clock: Clock;
  readonly tunnels: Tunnels;
  /** Say the UID of who asks too. */
  readonly withUid: boolean;
  readonly ownIdentity: IdentityFields;
  readonly rejectRedirects: boolean;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** Where a request goes. */
interface Target {
  readonly server: ExtensionServer;
  readonly place: Place;
}

/** For the whole answer: lists of a version's resources are asked for by many and made quickly. */
const discoveryMs = 5_000;
const redirectText =
  "the backend attempted to redirect this request, which is not permitted";
const originAnswers = [
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
];

/** Throws what is answered as net/http's Error does. */
export function plainError(status: number, text: string): PlainAnswer {
  return new PlainAnswer(status, `${text}\n`, {
    "x-content-type-options": "nosniff",
  });
}

export class ExtensionProxy {
  constructor(private readonly options: ExtensionProxyOptions) {}

  /** Rejects with a PlainAnswer, or ApiError 429 where too many connections are upgraded. */
  async serve(request: HttpRequest, target: Target): Promise<void> {
    request.trail?.delegated();
    const entered = request.place?.take();
    if (entered) await entered;
    const { exchange } = request;
    // As for connections to nodes, an offer beside a body is not passed on.
    if (exchange.upgrade && !exchange.hasBody)
      return this.#upgrade(request, target);
    const { signal } = request;
    const abort = new AbortController();
    const gone = (): void => abort.abort();
    signal.addEventListener("abort", gone, { once: true });
    const timer = isDiscovery(request)
      ? this.options.clock.after(discoveryMs, () =>
          abort.abort(new Error("context deadline exceeded")),
        )
      : undefined;
    try {
      const answer = await this.#send(request, target, abort.signal, true);
      await this.#pass(request, answer);
    } finally {
      timer?.cancel();
      signal.removeEventListener("abort", gone);
    }
  }

  /** The head of the answer. A kept connection that the server had closed is no failure: another one is tried once. */
  async #send(
    request: HttpRequest,
    { server, place }: Target,
    signal: AbortSignal,
    again: boolean,
  ): Promise<IncomingMessage> {
    const { exchange } = request;
    const outgoing = this.#open(request, { server, place }, false);
    const abort = (): void =>
      void outgoing.destroy(signal.reason as Error | undefined);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const { hasBody } = exchange;
    try {
      const head = answerOf(outgoing);
      if (hasBody)
        pipeline(exchange.body, outgoing).catch((error: Error) =>
          outgoing.destroy(error),
        );
      else outgoing.end();
      const { answer, backend } = await head;
      if (backend) {
        backend.destroy();
        throw new Error("unexpected switch of protocols");
      }
      answer.once("close", () => signal.removeEventListener("abort", abort));
      return answer;
    } catch (error) {
      signal.removeEventListener("abort", abort);
      const { code } = error as { code?: string };
      if (
        again &&
        !hasBody &&
        outgoing.reusedSocket &&
        code === "ECONNRESET" &&
        !signal.aborted
      )
        return this.#send(request, { server, place }, signal, false);
      throw unreachable(error, place);
    }
  }

  async #pass(request: HttpRequest, answer: IncomingMessage): Promise<void> {
    const status = answer.statusCode ?? 502;
    const { exchange } = request;
    if (
      this.options.rejectRedirects &&
      status >= 300 &&
      status <= 399 &&
      answer.headers.location
    ) {
      answer.destroy();
      return request.respond(
        502,
        { "content-type": "text/plain; charset=utf-8" },
        redirectText,
      );
    }
    const headers = { ...request.headers, ...passedHeaders(answer) };
    const sink = exchange.open(status, headers);
    await pipeline(answer, sink).catch(() => {
      // The client's leaving is no error; a broken source must break the answer too.
      answer.destroy();
      sink.destroy();
    });
  }

  async #upgrade(
    request: HttpRequest,
    { server, place }: Target,
  ): Promise<void> {
    const { exchange } = request;
    const { socket, head } = exchange.upgrade!;
    this.options.tunnels.take(request.user.name, socket);
    const outgoing = this.#open(request, { server, place }, true);
    const abort = (): void => void outgoing.destroy();
    socket.once("close", abort);
    let outcome: Answered;
    try {
      const answered = answerOf(outgoing);
      outgoing.end();
      outcome = await answered;
    } catch (error) {
      socket.off("close", abort);
      throw plainError(503, reachError(error, place));
    }
    socket.off("close", abort);
    const { answer, backend, backendHead } = outcome;
    if (backend) {
      exchange.switched();
      const client = { socket, head };
      this.options.tunnels.join(client, answer, backend, backendHead);
      return;
    }
    const status = answer.statusCode ?? 502;
    if (status < 400) {
      answer.destroy();
      throw plainError(503, `invalid upgrade response: status code ${status}`);
    }
    await this.#pass(request, answer);
  }

  /** Throws a PlainAnswer. */
  #open(
    request: HttpRequest,
    { server, place }: Target,
    upgrading: boolean,
  ): ClientRequest {
    const { method, url } = request.exchange;
    const traced = this.options.tracer?.call(`HTTP ${method}`, {
      "http.method": method,
      "http.url": `https://${place.host}:${place.port}${url}`,
    });
    try {
      const outgoing = server.request(place, {
        ...{ method, path: url, upgrading },
        headers: { ...this.#headers(request, upgrading), ...traced?.headers },
      });
      if (traced)
        outgoing
          .once("error", (error) => traced.end(error))
          .once("close", () => traced.end());
      return outgoing;
    } catch (error) {
      traced?.end(error);
      // A user's name can have characters that no header field may have.
      throw unreachable(error, place);
    }
  }

  #headers(request: HttpRequest, upgrading: boolean): OutgoingHttpHeaders {
    const { exchange, user } = request;
    const { ownIdentity, withUid } = this.options;
    const headers = requestHeaders(
      exchange.headers,
      upgrading,
      exchange.peer.remoteAddress,
      ownIdentity,
    );
    if (!upgrading) headers["x-forwarded-uri"] = forwardedPath(exchange.url);
    const host = exchange.headers.host ?? exchange.headers[":authority"];
    if (!upgrading && host) headers["x-forwarded-host"] = host;
    const auditId = request.headers["audit-id"];
    if (auditId !== undefined) headers["audit-id"] = auditId;
    // Node frames a body of no known length only for some methods: without it the rest would be read as a request.
    if (exchange.hasBody && headers["content-length"] === undefined)
      headers["transfer-encoding"] = "chunked";
    return Object.assign(headers, identityHeaders(user, withUid));
  }
}

const forwardedPath = (url: string): string => url.replace(/\?.*$/s, "");

function isDiscovery({ info }: HttpRequest): boolean {
  return (
    !info.resourceRequest &&
    info.path.split("/").filter((part) => part !== "").length === 3
  );
}

function unreachable(error: unknown, place: Place): PlainAnswer {
  const text = `error trying to reach service: ${reachError(error, place)}`;
  return plainError(503, text);
}

/** What the server says of other origins is not for this server's clients. */
function passedHeaders(answer: IncomingMessage): OutgoingHttpHeaders {
  const headers = responseHeaders(answer.headers);
  for (const name of originAnswers) delete headers[name];
  return headers;
}

interface Answered {
  readonly answer: IncomingMessage;
  /** Set when the answer is a switch of protocols. */
  readonly backend: Duplex | undefined;
  readonly backendHead: Buffer;
}

/** Rejects when there is no head of an answer. */
function answerOf(outgoing: ClientRequest): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const none = Buffer.alloc(0);
    outgoing.once("response", (answer) =>
      resolve({ answer, backend: undefined, backendHead: none }),
    );
    outgoing.once("upgrade", (answer, backend, backendHead) =>
      resolve({ answer, backend, backendHead }),
    );
    outgoing.on("error", reject);
    outgoing.once("close", () => reject(new Error("EOF")));
  });
}
