// How refusals name the object of a request.
import type { AdmissionAttributes } from "./plugin.ts";

/** Names in refusals: that of the object, or what it will be generated from. */
export function nameOf({ name, object }: AdmissionAttributes): string {
  return (
    name ||
    (object?.metadata.name ?? "") ||
    (object?.metadata.generateName ?? "")
  );
}
