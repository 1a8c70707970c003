// Values of expressions as short text, for tables of answers.
import {
  formatSeconds,
  formatTimestamp,
} from "../../../../api/cel/values/time.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Result,
} from "../../../../api/cel/values/value.ts";

export function show(value: Result): string {
  if (value instanceof Failure) return `failure: ${value.message}`;
  if (value instanceof ListValue) {
    const items = Array.from({ length: value.size }, (_, at) =>
      show(value.at(at)),
    );
    return `[${items.join(", ")}]`;
  }
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map(
      (key) => `${show(key)}: ${show(value.get(key) as Result)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.type.name;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (value instanceof Optional)
    return value.value === undefined ? "none" : `some(${show(value.value)})`;
  return String(value);
}
