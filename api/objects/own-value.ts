// Values of maps whose keys are a user's: a key such as `constructor` names nothing that every object has.

/** Undefined where the map has no such key, or is none. */
export function ownValue<T>(
  map: Readonly<Record<string, T>> | undefined,
  key: string,
): T | undefined {
  return map && Object.hasOwn(map, key) ? map[key] : undefined;
}
