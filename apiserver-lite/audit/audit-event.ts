// An event of the audit log, in the form of audit.k8s.io/v1.
import type { AuditStage } from "./policy.ts";

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
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Where events go: a file, a webhook, a buffer before one of them. */
export interface AuditSink {
  /** False: they could not be recorded. Must not throw. */
  write(events: readonly AuditEvent[]): boolean | Promise<boolean>;
  /** Waits for what is buffered. */
  close(): void | Promise<void>;
}
