// resourceVersion in requests: parsing, waiting for a version not seen yet, refusing what history has lost.
import { ApiError, errors } from "../../api/errors.ts";
import type { Registry } from "./registry.ts";

const freshTimeoutMs = 3000;

/** undefined for unset. Throws ApiError 400. */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^[0-9]{1,16}$/.test(text)) {
    const why = /^[0-9]+$/.test(text) ? "value out of range" : "invalid syntax";
    throw errors.badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
    );
  }
  return Number(text);
}

export function tooLarge(wanted: number, current: number): ApiError {
  return new ApiError(
    {
      code: 504,
      reason: "Timeout",
      message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
      details: {
        causes: [
          {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version",
          },
        ],
        retryAfterSeconds: 1,
      },
    },
    { "Retry-After": "1" },
  );
}

/** Waits up to 3 s for a version not older than `wanted`. */
export async function notOlderThan(
  registry: Registry,
  wanted: number,
): Promise<void> {
  const { cache } = registry;
  if (cache.revision >= wanted) return;
  if (!(await cache.waitFor(wanted, freshTimeoutMs)))
    throw tooLarge(wanted, cache.revision);
}

/** Before a consistent read: the newest committed state. Local stores are always there. */
export async function mostRecent(registry: Registry): Promise<void> {
  const { cache, store } = registry;
  if (store.revision > cache.revision)
    await cache.waitFor(store.revision, freshTimeoutMs);
}
