// Plain JSON values as patches handle them: copied and written without ever touching a prototype
// (`__proto__` is a legal key of a ConfigMap's data), and without recursion deeper than a decoder lets in.

import { ExactNumber } from "../exact-number.ts";
import type { Steps } from "../queueing/steps.ts";

export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** As the reference's decoder calls what it met. */
export function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** An own property, whatever its name. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else object[key] = value;
}

export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A private copy; keys that are undefined are left out, as JSON would. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = (value as unknown[]).slice();
    for (let at = 0; at < list.length; at++) {
      const item = list[at];
      if (typeof item === "object" && item !== null) list[at] = copyJson(item);
    }
    return list as T;
  }
  if (value instanceof ExactNumber) return value;
  // Spreading copies own properties whatever their name, and the shape with them: several times faster than one by one.
  const copy: JsonObject = { ...(value as JsonObject) };
  for (const key in copy) {
    const inner = copy[key];
    if (typeof inner === "object" && inner !== null)
      copy[key] = copyJson(inner);
    else if (inner === undefined) delete copy[key];
  }
  return copy as T;
}

/** Objects with more members are copied in steps. */
const manyMembers = 1000;

/** A copy of an object, in steps where one of its fields has very many members. */
export function* copyingJson<T extends object>(value: T): Steps<T> {
  const copy = { ...value } as JsonObject;
  for (const key in copy) {
    const inner = copy[key];
    if (isJsonObject(inner) && Object.keys(inner).length > manyMembers)
      copy[key] = yield* copyingMembers(inner);
    else if (inner === undefined) delete copy[key];
    else copy[key] = copyJson(inner);
  }
  return copy as T;
}

function* copyingMembers(object: JsonObject): Steps<JsonObject> {
  const copy: JsonObject = {};
  let copied = 0;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value !== undefined) setOwn(copy, key, copyJson(value));
    if (++copied % manyMembers === 0) yield;
  }
  return copy;
}

/** About the bytes the value takes as JSON text. Stops counting above `limit`. */
export function jsonSize(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += jsonSize(item, limit - size) + 1;
      if (size > limit) break;
    }
    return size;
  }
  for (const key of Object.keys(value)) {
    size += key.length + 4 + jsonSize((value as JsonObject)[key], limit - size);
    if (size > limit) break;
  }
  return size;
}

/** The tree with the keys of its objects in order. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort())
    setOwn(result, key, sortedKeys(value[key]));
  return result;
}
