// Freezing of shared objects: an object from a cache has many readers, so no reader may change it.

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
