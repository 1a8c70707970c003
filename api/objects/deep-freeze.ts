// Freezing of shared objects: what comes out of a cache is read by many, so that nobody can change it.

/** Freezes value and everything below it, in place. Parts already frozen are taken to be frozen all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value))
    return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** A private copy of a plain JSON tree that may be changed. */
export function mutableCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(mutableCopy) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value))
    copy[key] = typeof part === "object" ? mutableCopy(part) : part;
  return copy as T;
}
