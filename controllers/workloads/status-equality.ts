// Whether a status has to be written: zeros are absent in what is read from the API, and empty lists and maps as well.
import { sameValue } from "../../api/objects/json-equality.ts";

export function sameStatus(
  observed: object | undefined,
  wanted: object,
): boolean {
  return sameValue(withoutZeros(observed), withoutZeros(wanted));
}

function withoutZeros(status: object | undefined): object {
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(([, value]) => value !== 0),
  );
}
