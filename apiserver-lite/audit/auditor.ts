// What is told of each request: one event a stage, in the form of audit.k8s.io/v1. Bodies are not recorded yet: the levels
// Request and RequestResponse tell what Metadata does. The calls of this process's own parts are not audited.
import { formatMicroTime, type Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { auditDecision, type AuditPolicy, type AuditStage } from "./policy.ts";

export interface AuditSink {
  /** One event. Must not throw. */
  write(event: AuditEvent): void;
}

export interface AuditEvent {
  readonly kind: "Event";
  readonly apiVersion: "audit.k8s.io/v1";
  readonly level: string;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: object;
  readonly impersonatedUser?: object;
  readonly sourceIPs: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: object;
  readonly responseStatus?: object;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One request's. */
export interface AuditTrail {
  annotate(name: string, value: string): void;
  stage(stage: AuditStage, status?: number): void;
}

export interface AuditedRequest {
  readonly exchange: Exchange;
  readonly auditId: string;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** Who asked to be `user`. */
  readonly original: UserInfo;
}

export class Auditor {
  constructor(
    private readonly policy: AuditPolicy,
    private readonly sink: AuditSink,
    private readonly clock: Clock,
  ) {}

  /** Undefined when the policy does not want to know of it. Tells that the request was received. */
  begin(request: AuditedRequest): AuditTrail | undefined {
    const { info, user, original } = request;
    const { level, omits } = auditDecision(this.policy, info, original);
    if (level === "None") return undefined;
    const receivedMs = this.clock.now();
    const annotations: Record<string, string> = {};
    const { headers, url, peer } = request.exchange;
    const constant = {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level,
      auditID: request.auditId,
    } as const;
    const asked = {
      requestURI: url,
      verb: info.verb,
      user: shownUser(original),
      ...(user === original ? {} : { impersonatedUser: shownUser(user) }),
      sourceIPs: sourceIps(headers, peer.remoteAddress),
      ...(headers["user-agent"] ? { userAgent: headers["user-agent"] } : {}),
      ...(info.resourceRequest ? { objectRef: objectRef(info) } : {}),
    };
    const trail: AuditTrail = {
      annotate: (name, value) => void (annotations[name] = value),
      stage: (stage, status = 0) => {
        if (omits(stage)) return;
        this.sink.write({
          ...constant,
          stage,
          ...asked,
          ...(status > 0
            ? { responseStatus: { metadata: {}, code: status } }
            : {}),
          requestReceivedTimestamp: formatMicroTime(receivedMs),
          stageTimestamp: formatMicroTime(this.clock.now()),
          ...(Object.keys(annotations).length > 0
            ? { annotations: { ...annotations } }
            : {}),
        });
      },
    };
    trail.stage("RequestReceived");
    return trail;
  }
}

function shownUser({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    groups,
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

function objectRef(info: RequestInfo): object {
  const { resource, namespace, name, group, version, subresource } = info;
  return {
    resource,
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(group ? { apiGroup: group } : {}),
    apiVersion: version,
    ...(subresource ? { subresource } : {}),
  };
}

/** As the request's way tells, the peer last. */
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
