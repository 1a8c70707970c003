// The field of a Secret that takes values as text: they are moved into `data` when it is written, and never returned.
import type { Secret } from "../types/core-v1.ts";

/** Changes the secret; a key of `stringData` replaces the same one of `data`. */
export function encodeStringData(secret: Secret): void {
  if (!secret.stringData) return;
  secret.data = { ...secret.data };
  for (const [key, value] of Object.entries(secret.stringData))
    secret.data[key] = Buffer.from(value).toString("base64");
  delete secret.stringData;
}
