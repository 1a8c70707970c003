// Freezes a JSON tree in place. Depth is bounded by the decoder's limit.
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
