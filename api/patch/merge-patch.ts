// JSON merge patch (RFC 7386): objects are merged, null removes, everything else replaces. As at the reference, null removes
// in the objects of a list, too, unless the list takes the place of an object.
import { errors } from "../errors.ts";
import { getOwn, isJsonObject, setOwn, type JsonObject } from "./json-value.ts";

/** Throws ApiError 400 unless the patch is an object. Neither argument is changed; the result shares their parts. */
export function applyMergePatch<T>(document: T, patch: unknown): T {
  if (!isJsonObject(patch)) {
    const kind = Array.isArray(patch)
      ? "array"
      : patch === null
        ? "null"
        : typeof patch;
    throw errors.badRequest(
      `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return merge(document, patch) as T;
}

function merge(target: unknown, patch: JsonObject): JsonObject {
  const base = isJsonObject(target) ? target : {};
  const result: JsonObject = {};
  for (const key of Object.keys(base)) {
    if (!Object.hasOwn(patch, key)) setOwn(result, key, base[key]);
    else if (patch[key] !== null)
      setOwn(result, key, mergeValue(base[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (patch[key] !== null && !Object.hasOwn(base, key))
      setOwn(result, key, mergeValue(undefined, patch[key]));
  }
  return result;
}

function mergeValue(old: unknown, value: unknown): unknown {
  if (isJsonObject(value)) return merge(old, value);
  return Array.isArray(value) && !isJsonObject(old)
    ? withoutNulls(value)
    : value;
}

const withoutNulls = (list: readonly unknown[]): unknown[] =>
  list.map((item) =>
    Array.isArray(item)
      ? withoutNulls(item)
      : isJsonObject(item)
        ? merge(undefined, item)
        : item,
  );

/** The merge patch that turns `from` into `to`: what client-side tools send. */
export function createMergePatch(from: unknown, to: unknown): JsonObject {
  const patch: JsonObject = {};
  const [before, after] = [
    isJsonObject(from) ? from : {},
    isJsonObject(to) ? to : {},
  ];
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) setOwn(patch, key, null);
  for (const key of Object.keys(after)) {
    const [old, value] = [getOwn(before, key), after[key]];
    if (isJsonObject(old) && isJsonObject(value)) {
      const inner = createMergePatch(old, value);
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
    } else if (JSON.stringify(old) !== JSON.stringify(value))
      setOwn(patch, key, value);
  }
  return patch;
}
