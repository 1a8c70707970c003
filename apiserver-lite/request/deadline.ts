// The time a request may take: --request-timeout, or less with the `timeout` parameter. Long-running requests
// (watch, logs, streams, proxies, profiles) have none.
import { parseDurationMs } from "../../api/duration.ts";
import { ApiError, errors } from "../../api/errors.ts";
import type { RequestInfo } from "./request-info.ts";

const longRunning = new Set(["exec", "attach", "portforward", "proxy", "log"]);

export function isLongRunning(info: RequestInfo): boolean {
  if (!info.resourceRequest) return info.path.startsWith("/debug/pprof/");
  return info.verb === "watch" || longRunning.has(info.subresource);
}

/** Milliseconds. Throws ApiError 400 for a `timeout` that is no duration. */
export function allottedMs(query: URLSearchParams, maxMs: number): number {
  const text = query.size > 0 ? query.get("timeout") : null;
  if (!text) return maxMs;
  let askedMs: number;
  try {
    askedMs = parseDurationMs(text);
  } catch (error) {
    throw errors.badRequest(
      `invalid timeout specified in the request URL - ${(error as Error).message}`,
    );
  }
  return askedMs > 0 ? Math.min(askedMs, maxMs) : maxMs;
}

/** 504: the request's time is over; what works for it goes on all the same. */
export function timedOut(): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: "Timeout: request did not complete within the allotted timeout",
    details: {},
  });
}
