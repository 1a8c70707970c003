// Values that an older key sealed: a write that changes nothing else seals them by today's, which is how keys are rotated.
import { errors } from "../../../api/errors.ts";
import type { Store } from "../../../storage/store.ts";
import type { StoredKind } from "./stored-kind.ts";

/** Of the value that the store has now; undefined: no value is. Rejects with ApiError 500 when it does not open. */
export function isStale(
  store: Store,
  kind: StoredKind,
  key: string,
): Promise<boolean> | undefined {
  return kind.form.mayBeStale ? isStaleNow(store, kind, key) : undefined;
}

async function isStaleNow(
  store: Store,
  kind: StoredKind,
  key: string,
): Promise<boolean> {
  const stored = await store.get(kind.storeKey(key));
  try {
    return stored !== undefined && (await kind.form.isStale(key, stored.value));
  } catch (error) {
    throw errors.internal((error as Error).message);
  }
}
