// --cors-allowed-origins: which origins of browsers may read answers. Patterns have the reference's syntax (RE2) and
// take linear time whatever they are. As at the reference a pattern has to say where the host begins and ends; beyond
// it, a match that does not reach over the whole host allows nothing: `//example.com:` or `^https://example.com` never
// mean `https://example.com.evil.org`.
import type { RE2JS } from "re2js";

export interface AllowedOrigins {
  allows(origin: string): boolean;
}

/** A host name has at most 253 characters. */
const maxOriginLength = 512;

/** Throws an Error that names the pattern and what is wrong with it. */
export async function compileOrigins(
  patterns: readonly string[],
): Promise<AllowedOrigins | undefined> {
  if (patterns.length === 0) return undefined;
  const { RE2JS: Engine } = await import("re2js");
  const compiled = patterns.map((pattern) => {
    const pinned = /\^|\/\//.test(pattern) && /[$:]/.test(pattern);
    if (!pinned)
      throw new Error(
        `${JSON.stringify(pattern)} does not pin the start and the end of the host, as in "^https://example\\.com(:|$)"`,
      );
    try {
      return Engine.compile(pattern, Engine.LONGEST_MATCH);
    } catch (error) {
      throw new Error(
        `${JSON.stringify(pattern)} is no regular expression: ${(error as Error).message}`,
      );
    }
  });
  return {
    allows: (origin) =>
      origin.length <= maxOriginLength &&
      compiled.some((pattern) => matchesHost(pattern, origin)),
  };
}

function matchesHost(pattern: RE2JS, origin: string): boolean {
  const scheme = origin.indexOf("://");
  const hostStart = scheme < 0 ? 0 : scheme + "://".length;
  const colon = origin.lastIndexOf(":");
  const hasPort = colon > hostStart && !origin.endsWith("]");
  const hostEnd = hasPort ? colon : origin.length;
  const match = pattern.matcher(origin);
  return match.find() && match.start() <= hostStart && match.end() >= hostEnd;
}
