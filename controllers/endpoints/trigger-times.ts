// When what a Service's endpoints changed by has happened: a pod became ready or unready, the Service came. Written with
// the endpoints, so that who programs them can measure how long the change took. One a controller; a Service's times are
// those of its last reconcile. As at the reference an object that changes twice in between counts once.
import { formatTime } from "../../api/clock.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import type { Pod, Service } from "../../api/types/core-v1.ts";

export const triggerTimeAnnotation =
  "endpoints.kubernetes.io/last-change-trigger-time";

interface Seen {
  readonly service: number;
  /** By name. */
  readonly pods: ReadonlyMap<string, number>;
}

export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /** Undefined: nothing that has a time has changed. Of a new Service it is its creation. */
  next(
    key: string,
    { metadata }: Service,
    pods: readonly Pod[],
  ): string | undefined {
    const before = this.#seen.get(key);
    const service = Date.parse(metadata.creationTimestamp ?? "");
    const times = new Map<string, number>();
    const changed: number[] = [];
    for (const pod of pods) {
      const ready = findCondition(pod.status?.conditions, "Ready");
      const time = Date.parse(ready?.lastTransitionTime ?? "");
      if (Number.isNaN(time)) continue;
      times.set(pod.metadata.name, time);
      if (time > (before?.pods.get(pod.metadata.name) ?? -Infinity))
        changed.push(time);
    }
    this.#seen.set(key, { service, pods: times });
    if (!before) return formatted(service);
    if (service > before.service) changed.push(service);
    return changed.length > 0 ? formatted(Math.min(...changed)) : undefined;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** The times of objects are whole seconds. */
const formatted = (time: number): string | undefined =>
  Number.isNaN(time) ? undefined : formatTime(time);

/** The annotations with the time, or without one. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {};
  return time === undefined
    ? others
    : { ...others, [triggerTimeAnnotation]: time };
}
