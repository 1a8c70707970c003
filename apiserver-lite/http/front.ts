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
import type { Auditor, AuditTrail } from "../audit/auditor.ts";
import type { RequestAuthenticator } from "../authentication/authenticator.ts";
import { allottedMs, isLongRunning, within } from "./deadline.ts";
import type { Exchange } from "./exchange.ts";
import type { FlowClassifier } from "./flow-classifier.ts";
import { forbidden } from "./forbidden.ts";
import { formatNamed, jsonFormat, type OtherFormats } from "./formats.ts";
import { impersonate } from "./impersonation.ts";
import type { Limiter } from "./limiter.ts";
import type { Negotiator } from "./negotiation.ts";
import { parseRequest, type RequestInfo } from "./request-info.ts";
import { pathNotFound, wantsPretty, type Asked } from "./answers.ts";
import { type ResourceHandler } from "./resource-handler.ts";

/** A path outside the resources: discovery, health, version, metrics. */
export interface PathHandler {
  /** The longest matching prefix wins; exact unless it ends with "/". */
  readonly path: string;
  handle(exchange: Exchange, asked: Asked): void | Promise<void>;
}

export interface FrontOptions {
  readonly authenticators: readonly RequestAuthenticator[];
  readonly anonymous: boolean;
  readonly authorizer: Authorizer | undefined;
  readonly resources: ResourceHandler;
  readonly paths: readonly PathHandler[];
  readonly limiter: Limiter;
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly logger: Logger;
  readonly corsAllowedOrigins: readonly RegExp[];
  readonly strictTransportSecurity: string | undefined;
  readonly requestTimeoutMs: number;
  readonly observe: Observer | undefined;
  readonly auditor: Auditor | undefined;
  /** Undefined: priority and fairness is off. */
  readonly flows: FlowClassifier | undefined;
  /** Set while the server shuts down: new requests are refused. */
  readonly refusing: () => { retryAfterSeconds: number } | undefined;
}

export interface Observer {
  finished(
    info: RequestInfo,
    method: string,
    status: number,
    startedMs: number,
  ): void;
}

export class Front {
  readonly #exact = new Map<string, PathHandler>();
  readonly #prefixes: PathHandler[] = [];

  constructor(readonly options: FrontOptions) {
    for (const handler of options.paths) {
      if (handler.path.endsWith("/") && handler.path !== "/")
        this.#prefixes.push(handler);
      else this.#exact.set(handler.path, handler);
    }
    this.#prefixes.sort((a, b) => b.path.length - a.path.length);
  }

  /** Never rejects. `as`: a part of this process asks, past authentication and authorization. */
  async handle(exchange: Exchange, as?: UserInfo): Promise<void> {
    const startedMs = performance.now();
    const headers: OutgoingHttpHeaders = {};
    let info: RequestInfo | undefined;
    let release: (() => void) | undefined;
    let trail: AuditTrail | undefined;
    const { observe } = this.options;
    try {
      const audit = exchange.headers["audit-id"];
      headers["audit-id"] =
        typeof audit === "string" &&
        audit.length <= 64 &&
        /^[\x21-\x7e]+$/.test(audit)
          ? audit
          : randomUUID();
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
        options.corsAllowedOrigins.length > 0 &&
        this.#cors(exchange, headers)
      )
        return;
      const asked = await this.#ask(
        exchange.method,
        exchange.url,
        exchange.headers,
        exchange,
        headers,
        as,
      );
      info = asked.info;
      if (!as) {
        trail = this.#trail(exchange, asked);
        const flow = options.flows?.classify(asked.user, info);
        if (flow) Object.assign(headers, flow);
      }
      release = options.limiter.enter(info, asked.user);
      const longRunning = isLongRunning(info);
      const limitMs = longRunning
        ? 0
        : allottedMs(asked.query, options.requestTimeoutMs);
      if (!as) await this.#authorize(asked, trail);
      const handler =
        this.#exact.get(info.path) ??
        (info.resourceRequest ? undefined : this.#prefixHandler(info.path));
      const running = handler
        ? handler.handle(exchange, asked)
        : info.resourceRequest
          ? options.resources.handle(exchange, asked)
          : Promise.reject(this.#unknownPath(info.path));
      if (running) await (longRunning ? running : within(running, limitMs));
    } catch (error) {
      this.#fail(exchange, headers, error);
    } finally {
      release?.();
      if (trail && info) {
        if (isLongRunning(info) && exchange.started && !exchange.closed) {
          const { stage } = trail;
          stage("ResponseStarted", exchange.status);
          exchange.onClose(() => stage("ResponseComplete", exchange.status));
        } else trail.stage("ResponseComplete", exchange.status);
      }
      if (observe && info)
        observe.finished(info, exchange.method, exchange.status, startedMs);
    }
  }

  /** An upgrade: answers on the socket when it is refused. Never rejects. */
  async upgrade(
    exchange: Exchange,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const headers: OutgoingHttpHeaders = {};
    let trail: AuditTrail | undefined;
    try {
      const asked = await this.#ask(
        exchange.method,
        exchange.url,
        exchange.headers,
        exchange,
        headers,
      );
      headers["audit-id"] = randomUUID();
      trail = this.#trail(exchange, asked);
      await this.#authorize(asked, trail);
      await this.options.resources.upgrade(exchange, asked, socket, head);
      trail?.stage("ResponseStarted", 101);
      const { stage } = trail ?? {};
      if (stage) exchange.onClose(() => stage("ResponseComplete", 101));
    } catch (error) {
      const { status, body } = this.#statusOf(error);
      trail?.stage("ResponseComplete", status);
      if (socket.destroyed) return;
      const bytes = jsonFormat.encode(body);
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

  async #ask(
    method: string,
    url: string,
    requestHeaders: Exchange["headers"],
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    as?: UserInfo,
  ): Promise<Asked> {
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    const rawQuery = mark < 0 ? "" : url.slice(mark + 1);
    let info: RequestInfo;
    try {
      info = parseRequest(method, path, rawQuery);
    } catch {
      throw errors.badRequest("malformed percent-encoding in the path");
    }
    const original = as ?? (await this.#authenticate(exchange, path));
    let user = original;
    if (
      requestHeaders["impersonate-user"] !== undefined ||
      requestHeaders["impersonate-group"] !== undefined ||
      requestHeaders["impersonate-uid"] !== undefined
    )
      user = await impersonate(user, exchange, this.options.authorizer);
    return {
      info,
      query: rawQuery === "" ? emptyQuery() : new URLSearchParams(rawQuery),
      rawQuery,
      user,
      original,
      headers,
      signal: () => {
        const controller = new AbortController();
        exchange.onClose(() => controller.abort());
        return controller.signal;
      },
    };
  }

  async #authenticate(exchange: Exchange, path: string): Promise<UserInfo> {
    const { authenticators, anonymous } = this.options;
    const request = {
      headers: exchange.headers,
      path,
      clientCertificate: exchange.peer.clientCertificate,
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
    if (refused || !anonymous) throw errors.unauthorized();
    return anonymousUser;
  }

  #trail(exchange: Exchange, asked: Asked): AuditTrail | undefined {
    const { info, user, original, headers } = asked;
    return this.options.auditor?.begin({
      exchange,
      auditId: String(headers["audit-id"]),
      info,
      user,
      original,
    });
  }

  async #authorize(
    { info, user, query }: Asked,
    trail?: AuditTrail,
  ): Promise<void> {
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
      name: info.name,
    };
    if (query.size > 0) {
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

  #unknownPath(_path: string): ApiError {
    return pathNotFound();
  }

  #cors(exchange: Exchange, headers: OutgoingHttpHeaders): boolean {
    const { origin } = exchange.headers;
    if (
      !origin ||
      !this.options.corsAllowedOrigins.some((pattern) => pattern.test(origin))
    )
      return false;
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
    const known = error instanceof ApiError ? error : undefined;
    if (!known)
      this.options.logger.error(
        { err: error },
        "a request failed unexpectedly",
      );
    const shown =
      known ??
      errors.internal(error instanceof Error ? error.message : String(error));
    return { status: shown.code, body: shown.status, headers: shown.headers };
  }

  #fail(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    error: unknown,
  ): void {
    try {
      const { status, body, headers: extra } = this.#statusOf(error);
      if (exchange.started) return exchange.destroy();
      if (exchange.closed) return;
      let format = jsonFormat;
      let contentType = "application/json";
      try {
        const { negotiator, formats } = this.options;
        const negotiated = negotiator.negotiate(exchange.headers.accept, {
          protobuf: formats.protobuf !== undefined,
          cbor: formats.cbor !== undefined,
          transforms: true,
        });
        format = formatNamed(negotiated.format, formats);
        ({ contentType } = negotiated);
      } catch {
        // Not acceptable: the Status comes as JSON.
      }
      const mark = exchange.url.indexOf("?");
      const pretty =
        format === jsonFormat &&
        wantsPretty(
          exchange,
          new URLSearchParams(mark < 0 ? "" : exchange.url.slice(mark + 1)),
        );
      Object.assign(headers, extra, {
        "content-type": contentType,
        "cache-control": "no-cache, private",
      });
      if (exchange.http2) delete headers["connection"];
      exchange.respond(
        status,
        headers,
        pretty ? `${JSON.stringify(body, null, 2)}\n` : format.encode(body),
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

/** Asked for until the very end. */
function isHealthPath(url: string): boolean {
  return /^\/(readyz|livez|healthz)/.test(url);
}

const anonymousUser: UserInfo = Object.freeze({
  name: "system:anonymous",
  groups: Object.freeze(["system:unauthenticated"]),
  extra: Object.freeze({}),
});

function emptyQuery(): URLSearchParams {
  return new URLSearchParams();
}
