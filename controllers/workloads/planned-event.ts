// An event that a plan wants recorded, about the object it was made for.
import type { KubeObject } from "../../api/object.ts";
import type { EventWriter } from "../../client/event-recorder.ts";

export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export function recordAll(
  recorder: EventWriter,
  subject: KubeObject,
  events: readonly PlannedEvent[],
): void {
  for (const { type, reason, message } of events)
    recorder.event(subject, type, reason, message);
}
