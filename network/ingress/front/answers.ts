// What the proxy answers by itself.
import { STATUS_CODES } from "node:http";
import { trimEnd } from "../../../api/patterns/trim.ts";
import type { Exchange } from "../../../http-kit/exchange.ts";
import type { PathChange, Redirect } from "../routing/route.ts";
import type { UpstreamFailure } from "../upstream/call.ts";
import type { Incoming } from "./incoming.ts";

export const failureStatus: Readonly<Record<UpstreamFailure, number>> = {
  connect: 502,
  reset: 502,
  protocol: 502,
  timeout: 504,
  overload: 503,
};

/** @returns the bytes of its body */
export function answerText(
  exchange: Exchange,
  status: number,
  text: string,
): number {
  const body = `${status} ${STATUS_CODES[status] ?? ""}: ${text}\n`;
  exchange.respond(
    status,
    {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      ...(status === 503 ? { "retry-after": "1" } : {}),
    },
    body,
  );
  return body.length;
}

export function changedPath(
  path: string,
  prefix: string | undefined,
  change: PathChange | undefined,
): string {
  if (!change) return path;
  if (change.type === "full") return change.value || "/";
  const rest = path.slice((prefix ?? "").length);
  const start = trimEnd(change.value, "/");
  const joined = `${start}${rest}`;
  return joined.startsWith("/") ? joined : `/${joined}`;
}

const ownPort = { http: 80, https: 443 } as const;

export function redirectLocation(
  { scheme, host, port, path }: Redirect,
  request: Incoming,
  prefix: string | undefined,
  socket: { readonly scheme: "http" | "https"; readonly port: number },
): string {
  const toScheme = scheme ?? socket.scheme;
  // Of a scheme that is given the usual port, else the port that the client used.
  const toPort = port ?? (scheme === undefined ? socket.port : ownPort[scheme]);
  const at = toPort === ownPort[toScheme] ? "" : `:${toPort}`;
  const to = changedPath(request.path, prefix, path);
  return `${toScheme}://${host ?? request.host}${at}${to}${request.queryText}`;
}
