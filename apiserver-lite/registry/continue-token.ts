// Tokens of paged lists: base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"key"}. rv -1 continues on the newest state
// (the inconsistent token of an expired list). Forged tokens are a 400.
import { errors } from "../../api/errors.ts";

export interface ContinueToken {
  /** -1: the newest state. */
  readonly revision: number;
  /** The first key not yet sent, within the resource. */
  readonly start: string;
}

const version = "meta.k8s.io/v1";

export function encodeContinue({ revision, start }: ContinueToken): string {
  return Buffer.from(
    JSON.stringify({ v: version, rv: revision, start }),
  ).toString("base64url");
}

/** Throws ApiError 400. `from` and `to` bound what the request may read. */
export function decodeContinue(
  text: string,
  from: string,
  to: string,
): ContinueToken {
  const refuse = (why: string) =>
    errors.badRequest(`continue key is not valid: ${why}`);
  if (text.length > 4096 || !/^[A-Za-z0-9_-]*$/.test(text))
    throw refuse("illegal base64 data at input byte 0");
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    token = JSON.parse(
      Buffer.from(text, "base64url").toString("utf8"),
    ) as typeof token;
  } catch {
    throw refuse("invalid character looking for beginning of value");
  }
  if (typeof token !== "object" || token === null || token.v !== version)
    throw refuse(
      `server does not recognize this encoded version ${JSON.stringify(String(token?.v ?? ""))}`,
    );
  const { rv, start } = token;
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0)
    throw refuse(
      `incorrect encoded start resourceVersion (version ${version})`,
    );
  if (typeof start !== "string" || start === "")
    throw refuse(`encoded start key empty (version ${version})`);
  if (
    start.startsWith("/") ||
    start.includes("..") ||
    start < from ||
    (to !== "" && start >= to)
  )
    throw refuse(JSON.stringify(start));
  return { revision: rv, start };
}
