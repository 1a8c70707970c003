// Which header fields go on, in either direction. Credentials never do: the next one trusts the API server, not the
// client.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { offeredProtocols } from "../authentication/bearer-subprotocol.ts";

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);
const CREDENTIALS = new Set(["authorization", "host", "cookie"]);

/** What a `Connection` header says belongs to its connection alone. */
function namedByConnection({ connection }: IncomingHttpHeaders): Set<string> {
  return new Set(
    connection?.split(",").map((name) => name.trim().toLowerCase()),
  );
}

/** Header fields, in lower case, by which front proxies name users to this server: names, and beginnings of names. */
export interface IdentityFields {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

export const noIdentityFields: IdentityFields = { names: [], prefixes: [] };

/** What a client says in these would look to the next server as if this one vouched for it. */
function namesUser(name: string, { names, prefixes }: IdentityFields): boolean {
  return (
    name.startsWith("x-remote-") ||
    names.includes(name) ||
    prefixes.some((prefix) => name.startsWith(prefix))
  );
}

/**
 * @param upgrading keep what makes the upgrade
 * @param identity what names users besides X-Remote-*
 */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  upgrading: boolean,
  remoteAddress: string,
  identity: IdentityFields,
): OutgoingHttpHeaders {
  const passed: OutgoingHttpHeaders = {};
  const own = namedByConnection(headers);
  if (upgrading) own.delete("upgrade");
  for (const [name, value] of Object.entries(headers)) {
    if (
      value === undefined ||
      own.has(name) ||
      name.startsWith(":") ||
      name.startsWith("impersonate-")
    )
      continue;
    if (CREDENTIALS.has(name) || namesUser(name, identity)) continue;
    if (
      HOP_BY_HOP.has(name) &&
      !(upgrading && (name === "upgrade" || name === "connection"))
    )
      continue;
    passed[name] = value;
  }
  if (headers["sec-websocket-protocol"] !== undefined) {
    const protocols = offeredProtocols(headers);
    if (protocols.length > 0)
      passed["sec-websocket-protocol"] = protocols.join(", ");
    else delete passed["sec-websocket-protocol"];
  }
  if (upgrading) passed["connection"] = "Upgrade";
  const forwarded = headers["x-forwarded-for"];
  passed["x-forwarded-for"] = forwarded
    ? `${String(forwarded)}, ${remoteAddress}`
    : remoteAddress;
  return passed;
}

export function responseHeaders(
  headers: IncomingHttpHeaders,
): OutgoingHttpHeaders {
  const passed: OutgoingHttpHeaders = {};
  const own = namedByConnection(headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !own.has(name))
      passed[name] = value;
  }
  return passed;
}
