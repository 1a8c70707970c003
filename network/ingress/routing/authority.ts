// Host names of requests (the Host header, `:authority`, an absolute target) in the one form that routes are looked up by:
// lower case, without port and without the dot of the root. Whatever is not a host is refused: two programs that read it
// differently would route and authorize different requests.
import { isIPv6 } from "node:net";

interface Authority {
  readonly host: string;
  readonly port: number | undefined;
}

/** Reg-names of DNS, with underscores, which some use; RFC 3986 allows more, that no route can have. */
const namePattern = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i;
const longestName = 254;
const cacheSize = 4096;

/** Undefined: it is none. */
function parse(text: string): Authority | undefined {
  const bracket = text.startsWith("[") ? text.indexOf("]") : -1;
  const colon = text.indexOf(":", bracket + 1);
  const name = colon < 0 ? text : text.slice(0, colon);
  const digits = colon < 0 ? "" : text.slice(colon + 1);
  if (colon >= 0 && digits !== "" && !/^\d{1,5}$/.test(digits))
    return undefined;
  const port = digits === "" ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (bracket >= 0)
    return bracket === name.length - 1 && isIPv6(name.slice(1, -1))
      ? { host: name.toLowerCase(), port }
      : undefined;
  if (name.length > longestName || !namePattern.test(name)) return undefined;
  const host = name.toLowerCase();
  return { host: host.endsWith(".") ? host.slice(0, -1) : host, port };
}

/** Keeps what it parsed: most requests are for few hosts. */
export class AuthorityParser {
  readonly #known = new Map<string, Authority | undefined>();

  /** Undefined: it is none. */
  parse(text: string): Authority | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const parsed = parse(text);
    if (parsed && text.length <= longestName) {
      if (this.#known.size >= cacheSize) this.#known.clear();
      this.#known.set(text, parsed);
    }
    return parsed;
  }
}
