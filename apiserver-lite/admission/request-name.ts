// How refusals name the object of a request.
import type { AnyObject } from "../../api/object.ts";
import type { AdmissionAttributes } from "./plugin.ts";

/** The name of the object, or what it will be generated from; the reference's text where there is none. */
export function nameOf({ name, object }: AdmissionAttributes): string {
  if (name) return name;
  const metadata = (object as Partial<AnyObject> | undefined)?.metadata;
  if (object && !metadata) return "Unknown/errorGettingName";
  return metadata?.name || metadata?.generateName || "Unknown";
}
