// The target of a request in the form that is both matched and sent on, so that a backend never sees another path than the
// one that a route was chosen for (RFC 3986 6.2.2): characters that need no encoding are decoded, escapes are in upper
// case, dot segments are resolved, encoded ones too. An encoded slash stays what it is, no separator, and empty elements
// (`//`) stay. A path that would have dot segments after its slashes were decoded is refused, and so is one with what backends read in different ways is refused: a NUL, an escape that is none, a control
// character, a fragment; a backslash is encoded.

interface RequestTarget {
  /** Begins with a slash. */
  readonly path: string;
  /** With its question mark; "" without. */
  readonly query: string;
  /** Of a target in absolute form; it takes the place of the Host header (RFC 9112 3.2.2). */
  readonly authority?: string;
}

/** Control characters, the space, and the mark of a fragment. */
const forbidden = /[\p{Cc} #]/u;
const plainPath = /^[\w\-~!$&'()*+,;=:@/]*$/;
const absolute = /^https?:\/\/([^/?#]*)(.*)$/is;

/** A problem as text, for a 400. */
export function parseTarget(target: string): RequestTarget | string {
  if (target.startsWith("/")) return originForm(target);
  const parts = absolute.exec(target);
  if (!parts) return "the target of the request is neither a path nor a URL";
  const [, authority = "", rest = ""] = parts;
  const parsed = originForm(rest.startsWith("/") ? rest : `/${rest}`);
  return typeof parsed === "string" ? parsed : { ...parsed, authority };
}

function originForm(target: string): RequestTarget | string {
  const mark = target.indexOf("?");
  const raw = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark);
  if (query !== "" && forbidden.test(query))
    return "the query has characters that must be encoded";
  if (plainPath.test(raw)) return { path: raw, query };
  const path = normalPath(raw);
  return path === undefined
    ? "the path has characters that must be encoded, or a wrong escape"
    : { path, query };
}

const unreserved = /^[\w\-.~]$/;

function normalPath(raw: string): string | undefined {
  if (forbidden.test(raw)) return undefined;
  let wrong = false;
  const decoded = raw
    .replace(/\\/g, "%5C")
    .replace(/%(.{0,2})/gs, (escape, digits: string) => {
      if (!/^[0-9a-f]{2}$/i.test(digits) || digits === "00") {
        wrong = true;
        return escape;
      }
      const character = String.fromCharCode(parseInt(digits, 16));
      return unreserved.test(character) ? character : escape.toUpperCase();
    });
  if (wrong) return undefined;
  const path = withoutDotSegments(decoded);
  // A backend that decodes first and resolves then would leave the path that was matched.
  return /\/\.\.(\/|$)/.test(path.replace(/%2F|%5C/g, "/")) ? undefined : path;
}

function withoutDotSegments(path: string): string {
  if (!/\/\.\.?(\/|$)/.test(path)) return path;
  const elements = path.split("/").slice(1);
  const kept: string[] = [];
  elements.forEach((element, at) => {
    const last = at === elements.length - 1;
    if (element === "..") kept.pop();
    if (element !== "." && element !== "..") kept.push(element);
    else if (last) kept.push("");
  });
  return `/${kept.join("/")}`;
}
