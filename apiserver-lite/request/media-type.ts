// The media type of a Content-Type header, read in one pass: a header is looked at by every request with a body, so
// that its cost must be bound by its length, and its length by what anybody sends.

/** Longer ones are malformed. The longest of a known client is under 100. */
const maxHeaderLength = 1024;

/** Of an Accept header: browsers send some 200. */
const maxAcceptLength = 8192;

/** The clauses of an Accept header that are looked at: those that begin it, when it is longer than anybody's. */
export function leadingClauses(accept: string): string {
  return accept.length <= maxAcceptLength
    ? accept
    : accept.slice(0, accept.lastIndexOf(",", maxAcceptLength) + 1);
}

/** In lower case; "" without a header, "malformed" for one that cannot be read. */
export function mediaType(header: string | undefined): string {
  if (!header) return "";
  if (header.length > maxHeaderLength) return "malformed";
  const semicolon = header.indexOf(";");
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim();
  if (type === "" || /[\s,]/.test(type)) return "malformed";
  const wellFormed = semicolon < 0 || areParameters(header, semicolon);
  return wellFormed ? type.toLowerCase() : "malformed";
}

/** From a semicolon to the end: `; key=token` or `; key="text"` again and again; the last semicolon may end it. */
function areParameters(header: string, from: number): boolean {
  const parameter =
    /;\s*(?:[^\s;=",]+\s*=\s*(?:[^\s;,"]+|"(?:[^"\\]|\\.)*")\s*)?/sy;
  let at = from;
  while (at < header.length) {
    parameter.lastIndex = at;
    if (!parameter.test(header)) return false;
    const empty = header.slice(at + 1, parameter.lastIndex).trim() === "";
    at = parameter.lastIndex;
    if (empty) return at === header.length;
  }
  return true;
}
