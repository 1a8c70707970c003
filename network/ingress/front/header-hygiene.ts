// Which headers pass the proxy. Of a request: what belongs to the connection (RFC 9110 7.6.1) and the framing stay here;
// what says where a request came from is written by the proxy, and a client's own is dropped unless the client is a
// trusted proxy, in every spelling that a backend may take for it (CGI knows no difference of `-` and `_`). Of an answer:
// what belongs to the connection.
import type { HeaderChanges } from "../routing/route.ts";

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

/** Written by the proxy, or meant for it. */
const ownRequest = new Set(["host", "content-length", "expect"]);

/** `_` as `-`. */
const origin = /^(forwarded|x-forwarded-.+|x-real-ip|x-original-.+)$/;

interface RequestOrigin {
  readonly clientAddress: string;
  readonly scheme: "http" | "https";
  /** As the client gave it. */
  readonly authority: string;
  readonly port: number;
  /** What the client says of where the request came from is true. */
  readonly trusted: boolean;
}

/** Names that a Connection header takes for itself. */
function connectionNames(rawHeaders: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === "connection")
      for (const name of rawHeaders[at + 1]!.split(","))
        names.add(name.trim().toLowerCase());
  return names;
}

const noNames: ReadonlySet<string> = new Set();
const harmless = new Set(["keep-alive", "close", "upgrade", "te", ""]);

function ownNames(rawHeaders: readonly string[]): ReadonlySet<string> {
  const names = connectionNames(rawHeaders);
  for (const name of names) if (harmless.has(name)) names.delete(name);
  return names.size === 0 ? noNames : names;
}

/** @returns names and values in turns, without Host and framing */
export function forwardedRequestHeaders(
  rawHeaders: readonly string[],
  from: RequestOrigin,
): string[] {
  const connection = ownNames(rawHeaders);
  const headers: string[] = [];
  const said = new Map<string, string>();
  let cookie = -1;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    const lower = name.toLowerCase();
    if (lower.startsWith(":") || hopByHop.has(lower) || ownRequest.has(lower)) {
      // The one use of TE between proxies: gRPC's servers ask for it.
      if (lower === "te" && /(^|,)\s*trailers\s*(,|$)/i.test(value))
        headers.push("te", "trailers");
      continue;
    }
    if (connection.has(lower)) continue;
    const first = lower.charCodeAt(0);
    // Only names that begin with "f" or "x" can be of these.
    if (
      (first === 0x66 || first === 0x78) &&
      origin.test(lower.replaceAll("_", "-"))
    ) {
      if (from.trusted && !lower.includes("_"))
        said.set(
          lower,
          said.has(lower) ? `${said.get(lower)}, ${value}` : value,
        );
      continue;
    }
    if (lower === "cookie") {
      // HTTP/2 may send each pair in a field of its own; programs behind HTTP/1.1 read one (RFC 9113 8.2.3).
      if (cookie >= 0) {
        headers[cookie] += `; ${value}`;
        continue;
      }
      cookie = headers.length + 1;
    }
    headers.push(name, value);
  }
  addOrigin(headers, from, said);
  return headers;
}

function addOrigin(
  headers: string[],
  { clientAddress, scheme, authority, port }: RequestOrigin,
  said: ReadonlyMap<string, string>,
): void {
  const chain = said.get("x-forwarded-for");
  headers.push(
    "x-forwarded-for",
    chain ? `${chain}, ${clientAddress}` : clientAddress,
    "x-forwarded-proto",
    said.get("x-forwarded-proto") ?? scheme,
    "x-forwarded-host",
    said.get("x-forwarded-host") ?? authority,
    "x-forwarded-port",
    said.get("x-forwarded-port") ?? String(port),
    "x-real-ip",
    said.get("x-real-ip") ?? clientAddress,
  );
  const forwarded = said.get("forwarded");
  if (forwarded !== undefined) headers.push("forwarded", forwarded);
}

/** @returns names and values in turns */
export function forwardedResponseHeaders(
  rawHeaders: readonly string[],
): string[] {
  const connection = ownNames(rawHeaders);
  const headers: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const lower = name.toLowerCase();
    if (!hopByHop.has(lower) && !connection.has(lower))
      headers.push(name, rawHeaders[at + 1]!);
  }
  return headers;
}

/** What a filter of a route changes, in the specification's order: set, add, remove. */
export function changedHeaders(
  headers: readonly string[],
  changes: HeaderChanges | undefined,
): string[] {
  if (!changes) return headers as string[];
  const { set = [], add = [], remove = [] } = changes;
  const gone = new Set(
    [...set.map(([name]) => name), ...remove].map((name) => name.toLowerCase()),
  );
  const changed: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (!gone.has(headers[at]!.toLowerCase()))
      changed.push(headers[at]!, headers[at + 1]!);
  for (const [name, value] of [...set, ...add]) changed.push(name, value);
  return changed;
}

/** As an object, of which a name that comes several times has a list. */
export function headerObject(
  headers: readonly string[],
): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = Object.create(null) as Record<
    string,
    string | string[]
  >;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    const value = headers[at + 1]!;
    const known = all[name];
    all[name] = known === undefined ? value : [known, value].flat();
  }
  return all;
}
