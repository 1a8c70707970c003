// Reading fields of maps, objects and optional values.
import {
  Failure,
  ListValue,
  MapValue,
  Optional,
  type Result,
  type Value,
} from "../values/value.ts";

/** `value.field`; of an optional value, an optional field. */
export function selectField(value: Value, field: string): Result {
  if (value instanceof MapValue) {
    const found = value.field(field);
    return found === undefined ? new Failure(`no such key: ${field}`) : found;
  }
  if (value instanceof Optional) return optionalField(value, field);
  if (value instanceof ListValue)
    return new Failure("unsupported index type 'string' in list");
  return new Failure(`no such key: ${field}`);
}

/** `value.?field`: none where the field is absent. */
export function optionalField(value: Value, field: string): Result {
  const inner = value instanceof Optional ? value.value : value;
  if (inner === undefined) return Optional.none;
  if (!(inner instanceof MapValue)) return Optional.none;
  const found = inner.field(field);
  if (found === undefined) return Optional.none;
  return found instanceof Failure ? found : new Optional(found);
}

/** `has(value.field)` */
export function hasField(value: Value, field: string): Result {
  const inner = value instanceof Optional ? value.value : value;
  if (!(inner instanceof MapValue)) return false;
  return inner.has(field);
}
