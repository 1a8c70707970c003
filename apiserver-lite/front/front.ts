// The filter chain of every request: audit id, shutdown, CORS, authentication, impersonation, limits, authorization,
// then the resource handler or a path of its own (discovery, health, metrics). Whatever is thrown becomes a Status;
// what nobody expected is logged with its stack and answered with 500.
import { randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type {
  AccessAttributes,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import { ApiError, errors } from "../../api/errors.ts";
import { AuditedExchange } from "../audit/audited-exchange.ts";
import type { Auditor, AuditTrail } from "../audit/auditor.ts";
import type { RequestAuthenticator } from "../../http-kit/authentication/authenticator.ts";
import { allottedMs, isLongRunning, within } from "../request/deadline.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import type { FlowClassifier } from "../flow-control/flow-classifier.ts";
import { forbidden } from "./forbidden.ts";
import {
  formatNamed,
  jsonFormat,
  type OtherFormats,
} from "../serving/formats.ts";
import { asksToImpersonate, impersonate } from "./impersonation.ts";
import type { Limiter, Place } from "../flow-control/limiter.ts";
import type { Negotiator } from "../serving/negotiation.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import type { AllowedOrigins } from "./origins.ts";
import { parseRequest, type RequestInfo } from "../request/request-info.ts";
import type { Observer } from "../request/observer.ts";
import { parseTarget } from "../request/request-target.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import { wantsPretty, type Asked } from "../serving/answers.ts";
import { type ResourceHandler } from "../serving/resource-handler.ts";
import {
  malformed,
  checkRoute,
  pageNotFound,
  PlainAnswer,
} from "../request/route.ts";

interface FrontOptions {
  readonly authenticators: readonly RequestAuthenticator[];
  readonly anonymous: boolean;
  readonly authorizer: Authorizer | undefined;
  readonly resources: ResourceHandler;
  readonly paths: readonly PathHandler[];
  readonly limiter: Limiter;
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly logger: Logger;
  /** Undefined: CORS is off. */
  readonly allowedOrigins: AllowedOrigins | undefined;
  readonly strictTransportSecurity: string | undefined;
  readonly requestTimeoutMs: number;
  readonly observe: Observer | undefined;
  readonly loopWatch: LoopWatch | undefined;
  readonly auditor: Auditor | undefined;
  /** Undefined: priority and fairness is off. */
  readonly flows: FlowClassifier | undefined;
  /** Set while the server shuts down: new requests are refused. */
  readonly refusing: () => { retryAfterSeconds: number } | undefined;
}

/** Whose bodies are read before anything is done. */
const bodyVerbs: ReadonlySet<string> = new Set([
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
]);

export class Front {
  readonly #exact = new Map<string, PathHandler>();
  readonly #prefixes: PathHandler[] = [];

  constructor(readonly options: FrontOptions) {
    for (const handler of options.paths) {
      if (handler.path.endsWith("/") && handler.path !== "/")
        this.#prefixes.push(handler);
      else this.#exact.set(handler.path, handler);
      if (handler.route) this.#exact.set(`${handler.path}/`, handler);
    }
    const index: PathHandler = { path: "/", handle: this.#index };
    for (const path of ["/", "/index.html"]) this.#exact.set(path, index);
    this.#prefixes.sort((a, b) => b.path.length - a.path.length);
  }

  /** Never rejects. `as`: a part of this process asks, past authentication and authorization. */
  async handle(exchange: Exchange, as?: UserInfo): Promise<void> {
    const startedMs = performance.now();
    this.options.loopWatch?.enter(exchange, startedMs);
    const headers: OutgoingHttpHeaders = {
      "cache-control": "no-cache, private",
    };
    let info: RequestInfo | undefined;
    let place: Place | undefined;
    let working: Promise<void> | undefined;
    let trail: AuditTrail | undefined;
    const { observe } = this.options;
    let panic: string | undefined;
    try {
      headers["audit-id"] = auditIdOf(exchange);
      const { options } = this;
      if (options.strictTransportSecurity)
        headers["strict-transport-security"] = options.strictTransportSecurity;
      const refusal = as ? undefined : options.refusing();
      if (refusal && !isHealthPath(exchange.url)) {
        headers["connection"] = "close";
        throw errors.tooManyRequests(
          "The apiserver is shutting down, please try again later.",
          refusal.retryAfterSeconds,
        );
      }
      if (
        options.allowedOrigins &&
        this.#cors(exchange, headers, options.allowedOrigins)
      )
        return;
      const who = await this.#identify(exchange, headers, as);
      info = who.info;
      trail = who.trail;
      if (trail) {
        exchange = new AuditedExchange(exchange, trail);
        const stored = trail.stage("RequestReceived");
        if (!(stored instanceof Promise ? await stored : stored))
          return this.#refuseUnrecorded(exchange, headers);
      }
      const asked = await this.#ask(exchange, headers, who);
      if (!as) {
        const flow = options.flows?.classify(asked.user, info);
        if (flow) Object.assign(headers, flow);
      }
      place = options.limiter.place(info, asked.user);
      if (place) {
        const waited = this.#enter(exchange, info, place);
        if (waited) await waited;
      }
      const longRunning = isLongRunning(info);
      const over = longRunning && observe?.began?.(info);
      if (over) exchange.onClose(over);
      const limitMs = longRunning
        ? 0
        : allottedMs(asked.query, options.requestTimeoutMs);
      if (!as) await this.#authorize(asked);
      const handler =
        this.#exact.get(info.path) ??
        (info.resourceRequest ? undefined : this.#prefixHandler(info.path));
      if (handler?.route) checkRoute(exchange, handler.route);
      const running = handler
        ? handler.handle(exchange, asked)
        : info.resourceRequest
          ? options.resources.handle(exchange, asked)
          : Promise.reject(pageNotFound());
      if (!running) return;
      if (longRunning) return await running;
      working = running;
      await within(running, limitMs);
    } catch (error) {
      if (error instanceof Unauthenticated)
        exchange = error.audited(exchange) ?? exchange;
      else if (!(error instanceof ApiError || error instanceof PlainAnswer))
        panic = textOf(error);
      this.#fail(exchange, headers, error);
    } finally {
      // What takes too long for its client keeps its place until it is done.
      const leave = (): void => place?.leave();
      if (working) working.then(leave, leave);
      else leave();
      if (trail) this.#complete(exchange, trail, panic);
      if (observe && info)
        observe.finished(info, exchange.method, exchange.status, startedMs);
    }
  }

  /** A place for the work: now, or when the body has been received. Throws a PlainAnswer of 429. */
  #enter(
    exchange: Exchange,
    info: RequestInfo,
    place: Place,
  ): void | Promise<void> {
    const readsBody = info.resourceRequest && bodyVerbs.has(info.verb);
    if (!readsBody || !exchange.hasBody) return place.take();
    exchange.gate = place;
    place.expect();
  }

  /** An upgrade: answers on the socket when it is refused. Never rejects. */
  async upgrade(
    exchange: Exchange,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const headers: OutgoingHttpHeaders = {
      "audit-id": auditIdOf(exchange),
    };
    let trail: AuditTrail | undefined;
    try {
      const who = await this.#identify(exchange, headers);
      trail = who.trail;
      const stored = trail?.stage("RequestReceived") ?? true;
      if (!(stored instanceof Promise ? await stored : stored))
        throw errors.internal("failed to store audit event");
      const asked = await this.#ask(exchange, headers, who);
      await this.#authorize(asked);
      await this.options.resources.upgrade(exchange, asked, socket, head);
      if (!trail) return;
      const { ended } = this.#upgraded(trail, 101);
      exchange.onClose(ended);
    } catch (error) {
      const { status, body } = this.#statusOf(error);
      const bytes = jsonFormat.encode(body);
      if (error instanceof Unauthenticated)
        error.trail?.answered(status, bytes, "application/json");
      if (trail) this.#upgraded(trail, status, bytes).ended();
      if (socket.destroyed) return;
      socket.end(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 ${status} ${body.reason ?? "Error"}\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`,
          ),
          bytes,
        ]),
      );
    }
  }

  #upgraded(
    trail: AuditTrail,
    status: number,
    body?: Buffer,
  ): { ended: () => void } {
    trail.answered(status, body, "application/json");
    if (trail.longRunning) void trail.stage("ResponseStarted");
    return { ended: () => void trail.stage("ResponseComplete") };
  }

  /** The last stage: now, or when a long-running answer ends. */
  #complete(
    exchange: Exchange,
    trail: AuditTrail,
    panic: string | undefined,
  ): void {
    if (panic !== undefined) {
      trail.panicked(panic);
      void trail.stage("Panic");
    } else if (trail.longRunning && exchange.started && !exchange.closed)
      exchange.onClose(() => void trail.stage("ResponseComplete"));
    else void trail.stage("ResponseComplete");
  }

  #refuseUnrecorded(exchange: Exchange, headers: OutgoingHttpHeaders): void {
    const { auditor } = this.options;
    if (auditor) auditor.counts.rejected++;
    exchange.respond(
      500,
      {
        ...headers,
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
      },
      `Internal Server Error: ${JSON.stringify(exchange.url)}: failed to store audit event\n`,
    );
    exchange.body.resume();
  }

  /** What is asked for, and by whom. Throws ApiError 400, 401. */
  async #identify(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    as?: UserInfo,
  ): Promise<Identified> {
    const { method, url } = exchange;
    const { path, rawQuery, query } = parseTarget(url);
    let info: RequestInfo;
    try {
      info = parseRequest(method, path, query);
    } catch {
      throw malformed(400, "400 Bad Request");
    }
    if (as) return { info, query, rawQuery, original: as, trail: undefined };
    const begin = (user: UserInfo | undefined): AuditTrail | undefined =>
      this.options.auditor?.begin({
        exchange,
        auditId: String(headers["audit-id"]),
        info,
        user,
      });
    const original = await this.#authenticate(exchange, path);
    if (!original) throw new Unauthenticated(begin(undefined));
    return { info, query, rawQuery, original, trail: begin(original) };
  }

  async #ask(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    { info, query, rawQuery, original, trail }: Identified,
  ): Promise<Asked> {
    let user = original;
    if (asksToImpersonate(exchange.headers)) {
      user = await impersonate(user, exchange, this.options.authorizer);
      trail?.impersonated(user);
    }
    return {
      info,
      query,
      rawQuery,
      user,
      original,
      headers,
      trail,
      signal: () => {
        const controller = new AbortController();
        exchange.onClose(() => controller.abort());
        return controller.signal;
      },
    };
  }

  /** Undefined: it is not known who asks. */
  async #authenticate(
    exchange: Exchange,
    path: string,
  ): Promise<UserInfo | undefined> {
    const { authenticators, anonymous } = this.options;
    const request = {
      headers: exchange.headers,
      path,
      clientCertificate: exchange.peer.clientCertificate,
      clientChain: exchange.peer.clientChain,
      remoteAddress: exchange.peer.remoteAddress,
    };
    let refused = false;
    for (const authenticator of authenticators) {
      try {
        const answer = authenticator.authenticate(request);
        const result = answer instanceof Promise ? await answer : answer;
        if (result) return result.user;
      } catch (error) {
        if (!(error instanceof ApiError))
          this.options.logger.debug({ err: error }, "authentication failed");
        refused = true;
      }
    }
    return refused || !anonymous ? undefined : anonymousUser;
  }

  async #authorize({ info, user, query, trail }: Asked): Promise<void> {
    const { authorizer } = this.options;
    if (!authorizer) return;
    const attributes: AccessAttributes = {
      user,
      verb: info.verb,
      path: info.path,
      resourceRequest: info.resourceRequest,
      group: info.group,
      version: info.version,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.objectName,
    };
    if (verbsWithSelectors.has(info.verb) && !info.watchPath) {
      const fieldSelector = query.get("fieldSelector");
      const labelSelector = query.get("labelSelector");
      if (fieldSelector) attributes.fieldSelector = fieldSelector;
      if (labelSelector) attributes.labelSelector = labelSelector;
    }
    const answer = authorizer.authorize(attributes);
    const { decision, reason } =
      answer instanceof Promise ? await answer : answer;
    if (trail) {
      const shown = decision === "allow" ? "allow" : "forbid";
      trail.annotate("authorization.k8s.io/decision", shown);
      trail.annotate("authorization.k8s.io/reason", reason);
    }
    if (decision !== "allow") throw forbidden(attributes, reason);
  }

  #prefixHandler(path: string): PathHandler | undefined {
    for (const handler of this.#prefixes)
      if (path.startsWith(handler.path)) return handler;
    return undefined;
  }

  /** All paths that are served. */
  readonly #index: PathHandler["handle"] = (exchange, asked) => {
    const paths = new Set<string>();
    for (const { path, listed } of this.options.paths)
      for (const one of listed?.() ?? (path.endsWith("/") ? [] : [path]))
        paths.add(one);
    const body = { paths: [...paths].sort() };
    exchange.respond(
      200,
      { ...asked.headers, "content-type": "application/json" },
      JSON.stringify(body, null, 2),
    );
  };

  #cors(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    allowed: AllowedOrigins,
  ): boolean {
    const { origin } = exchange.headers;
    if (!origin || !allowed.allows(origin)) return false;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-allow-methods"] =
      "POST, GET, OPTIONS, PUT, DELETE, PATCH";
    headers["access-control-allow-headers"] =
      "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since";
    headers["access-control-expose-headers"] = "Date";
    headers["access-control-allow-credentials"] = "true";
    if (exchange.method !== "OPTIONS") return false;
    exchange.respond(204, headers);
    return true;
  }

  #statusOf(error: unknown): {
    status: number;
    body: ApiError["status"];
    headers: Readonly<Record<string, string>>;
  } {
    const known =
      error instanceof ApiError
        ? error
        : error instanceof PlainAnswer
          ? new ApiError({ code: error.status, message: error.text.trim() })
          : undefined;
    if (!known)
      this.options.logger.error(
        { err: error },
        "a request failed unexpectedly",
      );
    const shown = known ?? errors.internal(textOf(error));
    return { status: shown.code, body: shown.status, headers: shown.headers };
  }

  #fail(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    error: unknown,
  ): void {
    try {
      if (exchange.started) return exchange.destroy();
      if (exchange.closed) return;
      if (error instanceof PlainAnswer) {
        Object.assign(headers, error.headers);
        headers["content-type"] = "text/plain; charset=utf-8";
        if (headers["cache-control"] === "") delete headers["cache-control"];
        exchange.respond(error.status, headers, error.text);
        return void exchange.body.resume();
      }
      const { status, body, headers: extra } = this.#statusOf(error);
      let format = jsonFormat;
      let contentType = "application/json";
      let pretty = false;
      try {
        const { negotiator, formats } = this.options;
        const negotiated = negotiator.negotiate(exchange.headers.accept, {
          protobuf: formats.protobuf !== undefined,
          cbor: formats.cbor !== undefined,
          table: false,
          partial: false,
        });
        format = formatNamed(negotiated.format, formats);
        ({ contentType, pretty } = negotiated);
        pretty ||= wantsPretty(exchange, parseTarget(exchange.url).query);
      } catch {
        // Not acceptable: the Status comes as JSON, for people.
        pretty = true;
      }
      Object.assign(headers, extra, { "content-type": contentType });
      if (exchange.http2) delete headers["connection"];
      exchange.respond(
        status,
        headers,
        pretty && format === jsonFormat
          ? JSON.stringify(body, null, 2)
          : format.encode(body),
      );
      exchange.body.resume();
    } catch (failure) {
      this.options.logger.error(
        { err: failure },
        "an error could not be answered",
      );
      exchange.destroy();
    }
  }
}

interface Identified {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly original: UserInfo;
  readonly trail: AuditTrail | undefined;
}

/** Requests for many objects. Paths of the old form read selectors for some resources only. */
const verbsWithSelectors = new Set(["list", "watch", "deletecollection"]);

/** 401. The one event of such a request is told when it is answered. */
class Unauthenticated extends ApiError {
  constructor(readonly trail: AuditTrail | undefined) {
    super(errors.unauthorized().status);
  }

  audited(exchange: Exchange): Exchange | undefined {
    const { trail } = this;
    if (!trail) return undefined;
    trail.longRunning = true;
    return new AuditedExchange(exchange, trail);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The client's, when it is one. */
function auditIdOf({ headers }: Exchange): string {
  const given = headers["audit-id"];
  return typeof given === "string" &&
    given.length <= 64 &&
    /^[\x21-\x7e]+$/.test(given)
    ? given
    : randomUUID();
}

/** Asked for until the very end. */
function isHealthPath(url: string): boolean {
  return /^\/(readyz|livez|healthz)/.test(url);
}

const anonymousUser: UserInfo = Object.freeze({
  name: "system:anonymous",
  groups: Object.freeze(["system:unauthenticated"]),
  extra: Object.freeze({}),
});
