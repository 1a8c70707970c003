// Records each request: one event a stage. From level Request on the event has the decoded body, from RequestResponse on
// the answer as well, both as JSON whatever their encoding was. Requests of this process's own parts are recorded as
// well; their reads of the watch cache are no requests.
import { formatMicroTime, type Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import { isLongRunning } from "../request/deadline.ts";
import type { RequestInfo } from "../request/request-info.ts";
import {
  answerOf,
  isStatus,
  patchOf,
  statusShown,
  withDefaults,
  withoutManagedFields,
} from "./audit-body.ts";
import type { AuditEvent, AuditSink } from "./audit-event.ts";
import {
  auditDecision,
  reaches,
  type AuditDecision,
  type AuditPolicy,
  type AuditStage,
} from "./policy.ts";

interface AuditedRequest {
  readonly exchange: Pick<Exchange, "headers" | "url" | "peer">;
  readonly auditId: string;
  readonly info: RequestInfo;
  /** Undefined: authentication failed. */
  readonly user: UserInfo | undefined;
  /** What authentication found out. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** For the metrics. */
export interface AuditCounts {
  events: number;
  /** Requests refused because their event could not be recorded. */
  rejected: number;
  /** Requests by level. */
  readonly levels: Map<string, number>;
}

export class Auditor {
  readonly counts: AuditCounts = { events: 0, rejected: 0, levels: new Map() };

  constructor(
    private readonly policy: AuditPolicy,
    private readonly sink: AuditSink,
    private readonly clock: Clock,
  ) {}

  /** Undefined when the policy does not want to know of it. */
  begin(request: AuditedRequest): AuditTrail | undefined {
    const decision = auditDecision(this.policy, request.info, request.user);
    const { levels } = this.counts;
    levels.set(decision.level, (levels.get(decision.level) ?? 0) + 1);
    if (decision.level === "None") return undefined;
    return new AuditTrail(request, decision, this.clock, (event) => {
      this.counts.events++;
      return this.sink.write([event]);
    });
  }

  close(): void | Promise<void> {
    return this.sink.close();
  }
}

const maxUserAgent = 1024;
const streams = new Set(["proxy", "log", "exec", "attach", "portforward"]);

/** One request's. */
export class AuditTrail {
  /** The beginning of its answer is a stage of its own. */
  readonly longRunning: boolean;
  readonly #asked: Pick<
    AuditEvent,
    "requestURI" | "verb" | "user" | "sourceIPs"
  > & { agent: string };
  readonly #ref: Record<string, string> | undefined;
  readonly #receivedMs: number;
  readonly #annotations: Record<string, string>;
  #impersonated: object | undefined;
  #requestObject: unknown;
  #responseObject: unknown;
  #status: object | undefined;
  #isDelegated = false;

  constructor(
    private readonly request: AuditedRequest,
    private readonly decision: AuditDecision,
    private readonly clock: Clock,
    private readonly send: (event: AuditEvent) => boolean | Promise<boolean>,
  ) {
    const { exchange, info, user } = request;
    const { headers, url, peer } = exchange;
    this.#annotations = { ...request.annotations };
    this.longRunning = isLongRunning(info);
    this.#receivedMs = clock.now();
    const agent = headers["user-agent"] ?? "";
    this.#asked = {
      requestURI: url,
      verb: info.verb,
      user: shownUser(user),
      sourceIPs: sourceIps(headers, peer.remoteAddress),
      agent:
        agent.length > maxUserAgent
          ? `${agent.slice(0, maxUserAgent)}...TRUNCATED`
          : agent,
    };
    this.#ref = info.resourceRequest ? objectRef(info) : undefined;
  }

  /** Is the beginning of the answer recorded? Of a request that failed before it was known who asks nothing else is. */
  get recordsStart(): boolean {
    return this.longRunning || this.request.user === undefined;
  }

  /**
   * @param value or what makes it, called only where it is recorded
   * @param level what the request must be recorded at; it is dropped below
   */
  annotate(
    name: string,
    value: string | (() => string),
    level: "Metadata" | "Request" = "Metadata",
  ): void {
    if (reaches(this.decision.level, level))
      this.#annotations[name] ??= typeof value === "string" ? value : value();
  }

  impersonated(user: UserInfo): void {
    this.#impersonated = shownUser(user);
  }

  /** The decoded body of a write. It is copied. */
  received(body: AnyObject): void {
    const ref = this.#ref;
    const { metadata } = body;
    if (ref && metadata) {
      ref["namespace"] ||= metadata.namespace ?? "";
      ref["name"] ||= metadata.name ?? "";
      ref["uid"] ||= metadata.uid ?? "";
      ref["resourceVersion"] ||= metadata.resourceVersion ?? "";
    }
    if (reaches(this.decision.level, "Request"))
      this.#requestObject = this.#shown(withDefaults(body));
  }

  /** A patch, as it came. */
  receivedPatch(body: Buffer, contentType: string): void {
    if (reaches(this.decision.level, "Request"))
      this.#requestObject = patchOf(body, contentType);
  }

  /** Another server does what was asked: bodies are its own to record. */
  delegated(): void {
    this.#isDelegated = true;
  }

  /** Must the body of an answer with this status be kept for `answered`? */
  wantsAnswer(status: number): boolean {
    if (this.#isDelegated) return false;
    const { verb, subresource } = this.request.info;
    if (status >= 400) return true;
    if (verb === "watch" || streams.has(subresource)) return false;
    // Those may answer with a Status.
    const brief =
      verb === "delete" || (verb === "create" && subresource !== "");
    return brief || reaches(this.decision.level, "RequestResponse");
  }

  answered(
    status: number,
    body?: Uint8Array | string,
    contentType = "",
    encoding = "",
  ): void {
    this.#status = { metadata: {}, code: status };
    const answer =
      body && body.length > 0
        ? answerOf(body, contentType, encoding)
        : undefined;
    if (!answer) return;
    if (isStatus(answer)) this.#status = statusShown(answer, status);
    if (reaches(this.decision.level, "RequestResponse"))
      this.#responseObject = this.#shown(answer);
  }

  panicked(message: string): void {
    this.#status = {
      metadata: {},
      status: "Failure",
      message: `APIServer panic'd: ${message}`,
      reason: "InternalError",
      code: 500,
    };
  }

  /** False: it could not be recorded. */
  stage(stage: AuditStage): boolean | Promise<boolean> {
    if (this.decision.omits(stage)) return true;
    const { agent, requestURI, verb, user, sourceIPs } = this.#asked;
    const nowMs =
      stage === "RequestReceived" ? this.#receivedMs : this.clock.now();
    return this.send({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: this.decision.level,
      auditID: this.request.auditId,
      stage,
      requestURI,
      verb,
      user,
      ...(this.#impersonated ? { impersonatedUser: this.#impersonated } : {}),
      sourceIPs,
      ...(agent ? { userAgent: agent } : {}),
      ...(this.#ref ? { objectRef: given(this.#ref) } : {}),
      ...(this.#status ? { responseStatus: this.#status } : {}),
      ...(this.#requestObject === undefined
        ? {}
        : { requestObject: this.#requestObject }),
      ...(this.#responseObject === undefined
        ? {}
        : { responseObject: this.#responseObject }),
      requestReceivedTimestamp: formatMicroTime(this.#receivedMs),
      stageTimestamp: formatMicroTime(nowMs),
      ...(Object.keys(this.#annotations).length > 0
        ? { annotations: { ...this.#annotations } }
        : {}),
    });
  }

  #shown(object: AnyObject): AnyObject {
    return this.decision.omitManagedFields
      ? withoutManagedFields(object)
      : object;
  }
}

function shownUser(user: UserInfo | undefined): object {
  if (!user) return {};
  const { name, uid, groups, extra } = user;
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

function objectRef(info: RequestInfo): Record<string, string> {
  const { resource, namespace, group, version, subresource } = info;
  // In the order of the reference's fields.
  return {
    resource,
    namespace,
    name: info.objectName,
    uid: "",
    apiGroup: group,
    apiVersion: version,
    resourceVersion: "",
    subresource,
  };
}

function given(ref: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(ref).filter(([, value]) => value));
}

/** The proxies that the request names, the peer last. */
function sourceIps(headers: Exchange["headers"], peer: string): string[] {
  const forwarded = [headers["x-forwarded-for"], headers["x-real-ip"]]
    .flat()
    .flatMap((text) => text?.split(",") ?? [])
    .map((text) => text.trim())
    .filter(Boolean)
    .slice(0, 32);
  const own = peer.replace(/^::ffff:/, "");
  return [...new Set(own ? [...forwarded, own] : forwarded)];
}
