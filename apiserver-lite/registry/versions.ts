// resourceVersion in requests: parsing, waiting for a version not seen yet, refusing what history has lost.
import { ApiError, errors } from "../../api/errors.ts";
import type { Registry } from "./registry.ts";
import { storeFailure } from "../resources/store-failure.ts";

const freshTimeoutMs = 3000;

const maxVersion = 2n ** 64n - 1n;

/** undefined for unset. Throws ApiError 400. */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const digits = /^[0-9]+$/.test(text);
  if (digits && (text.length < 20 || BigInt(text) <= maxVersion))
    return Number(text);
  throw errors.badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${digits ? "value out of range" : "invalid syntax"}`,
  );
}

export function tooLarge(wanted: number, current: number): ApiError {
  return new ApiError(
    {
      code: 504,
      reason: "Timeout",
      message: `Timeout: Too large resource version: ${BigInt(wanted)}, current: ${current}`,
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

/** Waits up to 3 s for a version not older than `wanted`. Throws ApiError 504, 503. */
export async function notOlderThan(
  registry: Registry,
  wanted: number,
): Promise<void> {
  const { cache } = registry;
  if (cache.revision >= wanted) return;
  await mostRecent(registry);
  if (!(await cache.waitFor(wanted, freshTimeoutMs)))
    throw tooLarge(wanted, cache.revision);
}

/**
 * Before a consistent read: the newest state any server committed. Undefined when nothing has to be waited for, which
 * is the rule with local stores. Throws ApiError 503, 504.
 */
export function mostRecent(registry: Registry): Promise<void> | undefined {
  const { cache, store } = registry;
  const current = store.currentRevision();
  if (typeof current === "number" && current <= cache.revision)
    return undefined;
  return upTo(registry, current);
}

async function upTo(
  { cache }: Registry,
  current: number | Promise<number>,
): Promise<void> {
  try {
    const wanted = await current;
    if (await cache.waitFor(wanted, freshTimeoutMs)) return;
    throw tooLarge(wanted, cache.revision);
  } catch (error) {
    throw storeFailure(error);
  }
}

/** After a write that another one came before: its event, wherever it was made. */
export async function afterConflict(
  registry: Registry,
  revision: number,
): Promise<void> {
  await registry.cache.waitFor(revision + 1, 1000);
  await mostRecent(registry);
}
