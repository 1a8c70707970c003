// A bearer token among the subprotocols that a WebSocket client offers: scripts in browsers can send it in no other way.
// As at the reference it counts in a WebSocket handshake alone, is base64url without padding, and comes beside another
// protocol, which is the one the handshake is answered with: a token is neither passed on nor sent back.
import type { IncomingHttpHeaders } from "node:http";
import { errors } from "../../api/errors.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";
/** A token is among them; the longest has a few kilobytes. */
const maxLength = 32 * 1024;

const isToken = (protocol: string): boolean => protocol.startsWith(PREFIX);

function offered(headers: IncomingHttpHeaders): string[] {
  return (headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "");
}

/** What the client offers beside a token. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  return offered(headers).filter((protocol) => !isToken(protocol));
}

/** Undefined: there is none. Throws ApiError 401 for one that can't be read, or comes alone. */
export function subprotocolToken(
  headers: IncomingHttpHeaders,
): string | undefined {
  const text = headers["sec-websocket-protocol"];
  if (!text?.includes(PREFIX) || text.length > maxLength) return undefined;
  if (!asksForWebSocket(headers)) return undefined;
  const carrier = offered(headers).find(isToken);
  if (carrier === undefined) return undefined;
  const encoded = carrier.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  const token = bytes.toString();
  // What is not base64url, or no UTF-8, does not come back as it was.
  const read =
    token !== "" &&
    bytes.toString("base64url") === encoded &&
    bytes.equals(Buffer.from(token));
  if (!read || offeredProtocols(headers).length === 0)
    throw errors.unauthorized();
  return token;
}

function asksForWebSocket({
  connection = "",
  upgrade = "",
}: IncomingHttpHeaders): boolean {
  return (
    /(^|,)\s*upgrade\s*(,|$)/i.test(connection) && /^websocket$/i.test(upgrade)
  );
}
