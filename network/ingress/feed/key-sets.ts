// Sets of keys: what waits to be looked at, and who depends on what.

/** Takes the keys out; those that are left when it is late stay. */
export function* drain(
  keys: Set<string>,
  late: () => boolean = () => false,
): Generator<string> {
  for (const key of keys) {
    keys.delete(key);
    yield key;
    if (late()) return;
  }
}

export function file(
  index: Map<string, Set<string>>,
  key: string,
  value: string,
): void {
  const values = index.get(key) ?? new Set();
  index.set(key, values.add(value));
}

export function unfile(
  index: Map<string, Set<string>>,
  key: string,
  value: string,
): void {
  const values = index.get(key);
  values?.delete(value);
  if (values?.size === 0) index.delete(key);
}
