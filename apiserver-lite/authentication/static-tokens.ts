// The token file: CSV lines of token, user name, uid and an optional quoted, comma-separated list of groups.
import { createHash, timingSafeEqual } from "node:crypto";
import type { TokenAuthenticator, UserInfo } from "../../api/contracts.ts";

/** Throws an Error naming the line that can't be used. */
export function parseTokenFile(
  text: string,
  file: string,
): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return;
    const [token = "", name = "", uid = "", groups = ""] = splitCsv(line);
    if (token === "" || name === "" || splitCsv(line).length < 3) {
      throw new Error(
        `${file}: line ${index + 1}: expected at least 3 columns: token, user name, user uid`,
      );
    }
    const names = groups
      .split(",")
      .map((group) => group.trim())
      .filter((group) => group !== "");
    users.set(token, { name, uid, groups: names, extra: {} });
  });
  return users;
}

function splitCsv(line: string): string[] {
  const cells = line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))/g);
  return [...cells].map(
    ([, quoted, plain]) =>
      (quoted ?? "").replaceAll('""', '"') || (plain ?? "").trim(),
  );
}

export class StaticTokenAuthenticator implements TokenAuthenticator {
  readonly #byDigest = new Map<string, { digest: Buffer; user: UserInfo }>();

  constructor(users: ReadonlyMap<string, UserInfo>) {
    for (const [token, user] of users) {
      const digest = digestOf(token);
      this.#byDigest.set(digest.toString("base64"), { digest, user });
    }
  }

  authenticateToken(token: string): Promise<UserInfo | undefined> {
    const digest = digestOf(token);
    const known = this.#byDigest.get(digest.toString("base64"));
    return Promise.resolve(
      known && timingSafeEqual(known.digest, digest) ? known.user : undefined,
    );
  }
}

/** The time of a digest's look-up reveals nothing about the token. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
