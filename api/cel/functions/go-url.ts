// URLs as the reference's parser takes them apart: stricter than WHATWG on control characters, ports and escapes,
// laxer on everything else; nothing is normalized but the case of the scheme.
import { Buffer } from "node:buffer";
import { quote } from "./opaque.ts";
import type { Pace, Steps } from "../../queueing/steps.ts";

/** Not a URL; the message is the reference's. */
export class UrlError extends Error {}

export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly userInfo: string | undefined;
  /** Unescaped, with the port. */
  readonly host: string;
  /** As written. */
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

type Part = "host" | "zone" | "path" | "user" | "query" | "fragment";

/** A text as a URL; `viaRequest` wants an absolute one or a path, and knows no fragments. Throws UrlError. */
export function parseGoUrl(text: string, viaRequest: boolean): GoUrl {
  try {
    return parse(text, viaRequest);
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    throw new UrlError(`parse ${quote(text)}: ${error.message}`);
  }
}

function parse(text: string, viaRequest: boolean): GoUrl {
  const hash = viaRequest ? -1 : text.indexOf("#");
  const fragment = hash < 0 ? "" : text.slice(hash + 1);
  const whole = hash < 0 ? text : text.slice(0, hash);
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(whole))
    throw new UrlError("net/url: invalid control character in URL");
  if (whole === "" && viaRequest) throw new UrlError("empty url");
  const none = { opaque: "", userInfo: undefined, host: "", fragment };
  if (whole === "*") return { ...none, scheme: "", path: "*", query: "" };
  const { scheme, rest: afterScheme } = splitScheme(whole);
  const [hierarchy, query] = splitQuery(afterScheme);
  if (!hierarchy.startsWith("/")) {
    if (scheme !== "")
      return { ...none, scheme, opaque: hierarchy, path: "", query };
    if (viaRequest) throw new UrlError("invalid URI for request");
    if (hierarchy.split("/", 1)[0]?.includes(":"))
      throw new UrlError("first path segment in URL cannot contain colon");
  }
  const hasAuthority =
    hierarchy.startsWith("//") &&
    (scheme !== "" || (!viaRequest && !hierarchy.startsWith("///")));
  let path = hierarchy;
  let authority = {};
  if (hasAuthority) {
    const slash = hierarchy.indexOf("/", 2);
    const end = slash < 0 ? hierarchy.length : slash;
    authority = parseAuthority(hierarchy.slice(2, end));
    path = hierarchy.slice(end);
  }
  unescape(path, "path");
  unescape(fragment, "fragment");
  return { ...none, ...authority, scheme, path, query };
}

function splitScheme(text: string): { scheme: string; rest: string } {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*)?:/.exec(text);
  if (!match) return { scheme: "", rest: text };
  if (match[1] === undefined) throw new UrlError("missing protocol scheme");
  return {
    scheme: match[1].toLowerCase(),
    rest: text.slice(match[0].length),
  };
}

function splitQuery(text: string): [string, string] {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function parseAuthority(text: string): {
  userInfo: string | undefined;
  host: string;
} {
  const at = text.lastIndexOf("@");
  const host = parseHost(text.slice(at + 1));
  if (at < 0) return { userInfo: undefined, host };
  const userInfo = text.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userInfo))
    throw new UrlError("net/url: invalid userinfo");
  for (const part of userInfo.split(":", 2)) unescape(part, "user");
  return { userInfo, host };
}

function parseHost(host: string): string {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end < 0) throw new UrlError("missing ']' in host");
    checkPort(host.slice(end + 1));
    const zone = host.slice(0, end).indexOf("%25");
    if (zone >= 0)
      return (
        unescape(host.slice(0, zone), "host") +
        unescape(host.slice(zone, end), "zone") +
        unescape(host.slice(end), "host")
      );
  } else {
    const colon = host.lastIndexOf(":");
    if (colon >= 0) checkPort(host.slice(colon));
  }
  return unescape(host, "host");
}

function checkPort(port: string): void {
  if (!/^(?::[0-9]*)?$/.test(port))
    throw new UrlError(`invalid port ${quote(port)} after host`);
}

const hostCharacters = /[^A-Za-z0-9!$&'()*+,;=:[\]<>"\-_.~%\u0080-\uffff]/;

/** Throws UrlError for bad escapes, and characters that a host cannot have. */
function unescape(text: string, part: Part): string {
  if (part === "path" && !text.includes("%")) return text;
  const bytes: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at + 3)) {
    const escape = text.slice(at, at + 3);
    if (!/^%[0-9a-fA-F]{2}$/.test(escape))
      throw new UrlError(`invalid URL escape ${quote(escape)}`);
    const code = parseInt(escape.slice(1), 16);
    const plainHost = part === "host" && code < 128 && escape !== "%25";
    const zone =
      part === "zone" &&
      escape !== "%25" &&
      escape !== "%20" &&
      hostCharacters.test(String.fromCharCode(code));
    if (plainHost || zone)
      throw new UrlError(`invalid URL escape ${quote(escape)}`);
    bytes.push(Buffer.from(text.slice(from, at)), Buffer.from([code]));
    from = at + 3;
  }
  if (part === "host" || part === "zone") {
    const bad = hostCharacters.exec(text)?.[0];
    if (bad !== undefined)
      throw new UrlError(`invalid character ${quote(bad)} in host name`);
  }
  bytes.push(Buffer.from(text.slice(from)));
  const joined = Buffer.concat(bytes).toString();
  return part === "query" ? joined.replaceAll("+", " ") : joined;
}

/** The path with everything escaped that has to be; as written where that is valid. */
export function escapedPath({ path }: GoUrl): string {
  if (/^[A-Za-z0-9!$&'()*+,;=:@[\]\-_.~/%]*$/.test(path)) return path;
  return [...unescape(path, "path")]
    .map((point) =>
      /[A-Za-z0-9$&+,/:;=@\-_.~]/.test(point) ? point : percent(point),
    )
    .join("");
}

const percent = (point: string): string =>
  [...Buffer.from(point)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");

/** Values by key; pairs with bad escapes or semicolons are left out. In steps, as a query may have a million pairs. */
export function* readingQuery(
  { query }: GoUrl,
  pace: Pace,
): Steps<Map<string, string[]>> {
  const values = new Map<string, string[]>();
  for (let from = 0, end = 0; end >= 0; from = end + 1) {
    end = query.indexOf("&", from);
    addPair(values, query.slice(from, end < 0 ? undefined : end));
    if (pace.isOver()) yield;
  }
  return values;
}

function addPair(values: Map<string, string[]>, pair: string): void {
  if (pair === "" || pair.includes(";")) return;
  const at = pair.indexOf("=");
  try {
    const [key, value] = [
      at < 0 ? pair : pair.slice(0, at),
      at < 0 ? "" : pair.slice(at + 1),
    ].map((part) => unescape(part.replaceAll("+", " "), "path")) as [
      string,
      string,
    ];
    const list = values.get(key);
    if (list) list.push(value);
    else values.set(key, [value]);
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
  }
}

/** Without the port and the brackets of IPv6. */
export function hostAndPort({ host }: GoUrl): { name: string; port: string } {
  const bracketed = /^\[([^\]]*)\](?::([0-9]*))?$/.exec(host);
  if (bracketed)
    return { name: bracketed[1] as string, port: bracketed[2] ?? "" };
  const colon = host.lastIndexOf(":");
  return colon < 0
    ? { name: host, port: "" }
    : { name: host.slice(0, colon), port: host.slice(colon + 1) };
}
