// What is refused of a request on HTTP/1 by its head alone, whatever it asks for: what two programs could take for
// different requests, and what Node's parser lets pass that no server of the reference serves. The texts are the
// reference's.
import type { IncomingMessage } from "node:http";

/**
 * More than anyone sends. A request with more is refused: Node's own limits (128 of HTTP/2, 1,000 of HTTP/1) drop the
 * fields beyond them, and one of those may say as whom the request is to be served.
 */
export const maxHeaderFields = 8192;

/** What a Host header may consist of: Go's list, which is that of RFC 3986 and lets names with underscores pass. */
const host = /^[\w!$%&'()*+,\-.:;=[\]~]*$/;

/** Status and text; undefined: it is served. The connection ends with a refusal. */
export function refusalOf(
  request: IncomingMessage,
): [status: number, text: string] | undefined {
  const { headers, rawHeaders, httpVersionMajor, httpVersionMinor } = request;
  if (httpVersionMajor !== 1)
    return [505, "HTTP Version Not Supported: unsupported protocol version"];
  if (rawHeaders.length > 2 * maxHeaderFields)
    return [431, "Request Header Fields Too Large"];
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    // HTTP/1.0 has no codings: whether there is a body depends on who reads it (RFC 9112 6.1).
    if (httpVersionMinor === 0)
      return [400, "Bad Request: a transfer encoding in HTTP/1.0"];
    // Node takes the last one off and leaves the others in the body.
    if (coding.toLowerCase() !== "chunked")
      return [501, "Not Implemented: unsupported transfer encoding"];
  }
  if (hasTwoHosts(rawHeaders))
    return [400, "Bad Request: too many Host headers"];
  if (headers.host === undefined)
    return httpVersionMinor === 0
      ? undefined
      : [400, "Bad Request: missing required Host header"];
  return host.test(headers.host)
    ? undefined
    : [400, "Bad Request: malformed Host header"];
}

/** Node takes the first. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}
