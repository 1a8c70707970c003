// Bootstrap tokens as secrets of kube-system: what both controllers read of them.
import type { Secret } from "../../api/types/core-v1.ts";

export const tokenNamespace = "kube-system";
export const tokenType = "bootstrap.kubernetes.io/token";
const namePrefix = "bootstrap-token-";

function field({ data }: Secret, name: string): string {
  return Buffer.from(data?.[name] ?? "", "base64").toString("utf8");
}

/** Undefined: it does not expire. One that can't be read as a time has passed. */
export function expiryMs(secret: Secret): number | undefined {
  const text = field(secret, "expiration");
  if (text === "") return undefined;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? 0 : timeMs;
}

export function isToken({ type, metadata }: Secret): boolean {
  return type === tokenType && metadata.name.startsWith(namePrefix);
}

/** The halves of a token that may sign cluster-info now; undefined: it may not. */
export function signingToken(
  secret: Secret,
  nowMs: number,
): { id: string; secret: string } | undefined {
  const id = field(secret, "token-id");
  const half = field(secret, "token-secret");
  const expires = expiryMs(secret);
  return isToken(secret) &&
    !secret.metadata.deletionTimestamp &&
    /^[a-z0-9]{6}$/.test(id) &&
    /^[a-z0-9]{16}$/.test(half) &&
    secret.metadata.name === `${namePrefix}${id}` &&
    (expires === undefined || expires > nowMs) &&
    field(secret, "usage-bootstrap-signing") === "true"
    ? { id, secret: half }
    : undefined;
}
