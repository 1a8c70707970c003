// Copies of requests for a mirror backend. Its answer is read and dropped; a mirror that is slow, full or gone loses its
// copy and never holds the request itself back.
import type { ResponseSink, UpstreamRequest } from "../upstream/call.ts";
import type { ClientBody } from "./client-body.ts";
import type { Backend } from "../upstream/backend.ts";

const dropped: ResponseSink = {
  onResponse: () => undefined,
  onData: () => true,
  onEnd: () => undefined,
  onError: () => undefined,
};

/** @param request as it is sent to the route's own backend */
export function mirrorRequest(
  backend: Backend,
  request: UpstreamRequest,
  body: ClientBody | undefined,
  nowMs: number,
): void {
  const endpoint = backend.choose([], nowMs);
  if (!endpoint) return;
  const copy = body?.copy();
  try {
    const http2 = backend.protocol === "h2c" || backend.protocol === "h2";
    endpoint.call({ ...request, body: copy }, dropped, http2, nowMs);
  } catch {
    copy?.destroy();
  }
}
