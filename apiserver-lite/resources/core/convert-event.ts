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

export const eventFromCore = (object: AnyObject): AnyObject =>
  rename(object, 0);
export const eventToCore = (object: AnyObject): AnyObject => rename(object, 1);
