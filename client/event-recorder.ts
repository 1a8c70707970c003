// Records Events about objects, as the reference's recorder: repeated events raise the count of the first (a patch),
// more than ten different messages of one kind within ten minutes become one "(combined from similar events)", and an
// object that a source speaks of too often is cut to 25 at once and one every five minutes.
//
// Events are best effort: event() never waits and never throws; at most 1000 wait to be sent, more are dropped and
// counted. Memory is bounded by LRU maps of 4096 keys.
import { randomInt } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { formatTime } from "../api/clock.ts";
import type { Clock } from "../api/clock.ts";
import { ApiError, isNotFound } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import type { Event, ObjectReference } from "../api/types/core-v1.ts";
import { sleep } from "../api/queueing/backoff.ts";
import type { Client } from "./client.ts";
import { events } from "./resources.ts";
import { TokenBucket } from "../api/queueing/token-bucket.ts";

const cacheSize = 4096;
const maxSimilar = 10;
const similarWindowMs = 600_000;
const spamBurst = 25;
const spamPerSecond = 1 / 300;
const queueLimit = 1000;
const sendAttempts = 5;

interface EventRecorderOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  /** Shown as the source: `deployment-controller`, `kubelet` … */
  component: string;
  /** The node's name, for a recorder on a node. */
  host?: string;
  /** Most requests: `burst` at once, then as many a second; those above it wait. Absent or 0 a second: no limit. */
  rateLimit?: { perSecond: number; burst: number };
}

/** The object itself (with apiVersion and kind set), or a reference when only that is known or a fieldPath is meant. */
type EventSubject = KubeObject | ObjectReference;

interface Similar {
  messages: Set<string>;
  lastMs: number;
}

interface Recorded {
  name: string;
  count: number;
  firstTimestamp: string;
}

const nanosecondsInMs = 1_000_000;
/** What two events of one process lie apart at most; what another process names in the same millisecond is unlikely to be equal. */
const maxStep = 1000;
let lastMs = 0;
let lastNanoseconds = 0;

/**
 * A time in nanoseconds, in hexadecimal, later than all before: clients list events by name, and kubectl describe shows
 * those of one second in that order (the reference names them so).
 */
function uniqueTime(nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastNanoseconds = 0;
  }
  lastNanoseconds += randomInt(1, maxStep);
  if (lastNanoseconds >= nanosecondsInMs) {
    lastMs++;
    lastNanoseconds = 0;
  }
  const time = BigInt(lastMs) * BigInt(nanosecondsInMs);
  return (time + BigInt(lastNanoseconds)).toString(16);
}

/** What those need who only write events. */
export type EventWriter = Pick<EventRecorder, "event">;

export class EventRecorder {
  readonly #spam = new LRUCache<string, TokenBucket>({ max: cacheSize });
  readonly #similar = new LRUCache<string, Similar>({ max: cacheSize });
  readonly #recorded = new LRUCache<string, Recorded>({ max: cacheSize });
  readonly #queue: Event[] = [];
  readonly #stopped = new AbortController();
  #sending: Promise<void> | undefined;
  #dropped = 0;

  readonly #rate: TokenBucket | undefined;

  constructor(private readonly options: EventRecorderOptions) {
    const { clock, rateLimit } = options;
    if (rateLimit && rateLimit.perSecond > 0)
      this.#rate = new TokenBucket(
        clock,
        rateLimit.perSecond,
        Math.max(1, rateLimit.burst),
      );
  }

  /** Events dropped because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * @param subject what it is about
   * @param type "Normal" or "Warning"
   * @param reason a short CamelCase word
   */
  event(
    subject: EventSubject,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
    extra: { annotations?: Record<string, string> } = {},
  ): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#queue.length >= queueLimit) {
      this.#dropped++;
      return;
    }
    const { component, host, clock } = this.options;
    const involvedObject = objectReference(subject);
    const time = formatTime(clock.now());
    this.#queue.push({
      apiVersion: "v1",
      kind: "Event",
      metadata: {
        name: `${involvedObject.name ?? "unknown"}.${uniqueTime(clock.now())}`,
        namespace: involvedObject.namespace || "default",
        ...(extra.annotations ? { annotations: extra.annotations } : {}),
      },
      involvedObject,
      reason,
      message,
      type,
      source: { component, ...(host ? { host } : {}) },
      reportingComponent: component,
      reportingInstance: host ?? "",
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    });
    this.#sending ??= this.#send();
  }

  /** Resolves when all that was recorded so far was sent or given up. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  /** Sends no more; the waiting events are dropped. */
  stop(): void {
    this.#stopped.abort();
    this.#queue.length = 0;
  }

  async #send(): Promise<void> {
    // The caller goes on first.
    await Promise.resolve();
    try {
      for (let event = this.#queue.shift(); event; event = this.#queue.shift())
        await this.#sendOne(event);
    } finally {
      this.#sending = undefined;
    }
  }

  async #sendOne(event: Event): Promise<void> {
    const { clock, logger } = this.options;
    const combined = this.#combine(event);
    if (!this.#withinRate(event)) return;
    for (let attempt = 1; attempt <= sendAttempts; attempt++) {
      const waitMs = this.#rate?.reserve() ?? 0;
      if (waitMs > 0) await sleep(clock, waitMs, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      try {
        return await this.#write(event, combined);
      } catch (error) {
        // The server's answer is final (a namespace that ends …), unless it asks for patience; a lost connection is not.
        const final = error instanceof ApiError && error.code < 429;
        if (final || attempt === sendAttempts) {
          logger.debug(
            { err: error, reason: event.reason },
            "event was not recorded",
          );
          return;
        }
        await sleep(clock, 200 * 4 ** attempt, this.#stopped.signal);
      }
    }
  }

  #withinRate(event: Event): boolean {
    const { involvedObject: object, source } = event;
    const key = [
      source?.component,
      source?.host,
      object.kind,
      object.namespace,
      object.name,
      object.uid,
      object.apiVersion,
    ].join("|");
    let bucket = this.#spam.get(key);
    if (!bucket) {
      bucket = new TokenBucket(this.options.clock, spamPerSecond, spamBurst);
      this.#spam.set(key, bucket);
    }
    return bucket.tryTake();
  }

  /** Turns the event into the combined one when too many like it differ only in their message; returns its key. */
  #combine(event: Event): string {
    const base = [
      event.source?.component,
      event.involvedObject.kind,
      event.involvedObject.namespace,
      event.involvedObject.name,
      event.involvedObject.uid,
      event.involvedObject.fieldPath,
      event.type,
      event.reason,
    ].join("|");
    const nowMs = this.options.clock.now();
    let similar = this.#similar.get(base);
    if (!similar || nowMs - similar.lastMs > similarWindowMs)
      similar = { messages: new Set(), lastMs: nowMs };
    similar.messages.add(event.message ?? "");
    similar.lastMs = nowMs;
    this.#similar.set(base, similar);
    if (similar.messages.size < maxSimilar) return `${base}|${event.message}`;
    // Which message left the set does not matter, only that it stays bounded.
    similar.messages.delete(similar.messages.values().next().value ?? "");
    event.message = `(combined from similar events): ${event.message}`;
    return base;
  }

  async #write(event: Event, key: string): Promise<void> {
    const client = this.options.client.resource(events);
    const known = this.#recorded.get(key);
    if (known) {
      try {
        await client.patch(known.name, event.metadata.namespace, {
          type: "strategic",
          body: {
            count: known.count + 1,
            lastTimestamp: event.lastTimestamp,
            message: event.message,
          },
        });
        known.count++;
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        event.count = known.count + 1;
        event.firstTimestamp = known.firstTimestamp;
      }
    }
    await client.create(event);
    this.#recorded.set(key, {
      name: event.metadata.name,
      count: event.count ?? 1,
      firstTimestamp: event.firstTimestamp ?? "",
    });
  }
}

/** The reference Events and others use; a reference is returned as it is. */
export function objectReference(subject: EventSubject): ObjectReference {
  if (!("metadata" in subject)) return subject as ObjectReference;
  const { apiVersion, kind, metadata } = subject;
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    ...(metadata.uid ? { uid: metadata.uid } : {}),
    ...(metadata.resourceVersion
      ? { resourceVersion: metadata.resourceVersion }
      : {}),
  };
}
