// Freezing of shared objects: what comes out of a cache is read by many, so that nobody can change it.

/**
 * Freezes a JSON tree in place. Parts already frozen are taken to be frozen all the way down. Depth is bounded by the
 * decoder's limit.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value))
    return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else
    for (const key in value) {
      const inner = value[key];
      if (typeof inner === "object") deepFreeze(inner);
    }
  return value;
}
