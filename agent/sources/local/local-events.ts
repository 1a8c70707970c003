// Events of a node without an API server: the last ones, so that a client of the agent's port can show why a pod does not
// run. An event that comes again is counted.
import type { Clock } from "../../../api/clock.ts";
import { formatTime } from "../../../api/clock.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Event } from "../../../api/types/core-v1.ts";
import type { EventSink } from "../../events/pod-events.ts";

/** Older ones go. */
const maxKept = 500;

export class LocalEvents implements EventSink {
  readonly #clock: Clock;
  readonly #nodeName: string;
  /** By what makes two the same; the one that came last is last. */
  readonly #kept = new Map<string, Event>();
  #count = 0;

  constructor(clock: Clock, nodeName: string) {
    this.#clock = clock;
    this.#nodeName = nodeName;
  }

  list(): readonly Event[] {
    return [...this.#kept.values()];
  }

  event(
    { kind = "", metadata }: KubeObject,
    type: string,
    reason: string,
    message: string,
    { fieldPath }: { readonly fieldPath?: string } = {},
  ): void {
    const { name, namespace = "default", uid = "" } = metadata;
    const key = [kind, uid, name, fieldPath, type, reason, message].join("\0");
    const before = this.#kept.get(key);
    const now = formatTime(this.#clock.now());
    this.#kept.delete(key);
    this.#kept.set(key, {
      apiVersion: "v1",
      kind: "Event",
      metadata: before?.metadata ?? {
        name: `${name}.${(++this.#count).toString(16)}`,
        namespace,
      },
      involvedObject: {
        kind,
        name,
        namespace,
        uid,
        ...(fieldPath ? { fieldPath } : {}),
      },
      type,
      reason,
      message,
      count: (before?.count ?? 0) + 1,
      firstTimestamp: before?.firstTimestamp ?? now,
      lastTimestamp: now,
      source: { component: "kubelet", host: this.#nodeName },
    });
    if (this.#kept.size > maxKept)
      this.#kept.delete(this.#kept.keys().next().value!);
  }
}
