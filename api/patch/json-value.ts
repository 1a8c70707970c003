// Plain JSON values as patches handle them: copied, compared and written without ever touching a prototype
// (`__proto__` is a legal key of a ConfigMap's data), and without recursion deeper than a decoder lets in.

export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

export function copyJson<T>(value: T): T {
  if (Array.isArray(value))
    return value.map((item: unknown) => copyJson(item)) as T;
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyJson(value[key]));
  return copy as T;
}

/** Deep equality, keys in any order. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => equalJson(item, right[index]))
    );
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]),
    )
  );
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
