// Event: core/v1 (stored) and events.k8s.io/v1 hold the same under other names.
import type { AnyObject } from "../../../api/object.ts";

const renamed: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

function rename(object: AnyObject, from: 0 | 1): AnyObject {
  const names = new Map(
    renamed.map((pair) => [pair[from], pair[1 - from]!] as const),
  );
  const result: AnyObject = { metadata: object.metadata };
  for (const [key, value] of Object.entries(object))
    result[names.get(key) ?? key] = value;
  return result;
}

/** Events without a reporter of their own: core/v1 has empty texts in its place, events.k8s.io/v1 has none. */
export function eventFromCore(object: AnyObject): AnyObject {
  const event = rename(object, 0);
  for (const name of ["reportingController", "reportingInstance"])
    if (event[name] === "") delete event[name];
  return event;
}

export function eventToCore(object: AnyObject): AnyObject {
  const event = rename(object, 1);
  event["reportingComponent"] ??= "";
  event["reportingInstance"] ??= "";
  return event;
}
