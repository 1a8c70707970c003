// Path and query of a request, and how long they may be: both are taken apart before it is known who asks, so that their
// cost is bound here. Selectors are long; paths and lists of parameters never are.
import { malformed } from "./route.ts";

/** A name has 253 characters at most; no known proxied application needs more than this. */
const maxPathLength = 64 * 1024;
const maxParameters = 4096;

/** Both as sent. */
interface RequestTarget {
  readonly path: string;
  readonly rawQuery: string;
  readonly query: URLSearchParams;
}

/** Throws a PlainAnswer of 414. */
export function parseTarget(url: string): RequestTarget {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const rawQuery = mark < 0 ? "" : url.slice(mark + 1);
  if (path.length > maxPathLength || hasTooMany(rawQuery))
    throw malformed(414, "414 URI Too Long");
  return { path, rawQuery, query: parseQuery(rawQuery) };
}

function hasTooMany(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf("&"); at >= 0; at = query.indexOf("&", at + 1))
    if (++count > maxParameters) return true;
  return false;
}

/** Pairs that are not well-formed are left out, as the reference does. */
function parseQuery(text: string): URLSearchParams {
  if (!/[%;]/.test(text)) return new URLSearchParams(text);
  const wellFormed = (pair: string): boolean =>
    !pair.includes(";") && !/%(?![\da-fA-F]{2})/.test(pair);
  return new URLSearchParams(text.split("&").filter(wellFormed).join("&"));
}
