// What ServiceAccount tokens say: the reference's bound tokens.
import { typed } from "../../resources/typed.ts";

export interface ObjectReference {
  readonly name: string;
  readonly uid: string;
}

export interface ServiceAccountClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Epoch seconds, as iat, nbf and warnafter. */
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly "kubernetes.io": {
    readonly namespace: string;
    readonly serviceaccount: ObjectReference;
    readonly pod?: ObjectReference;
    readonly secret?: ObjectReference;
    readonly node?: ObjectReference;
    /** Use after this is stale, though still accepted. */
    readonly warnafter?: number;
  };
}

export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

export function serviceAccountUserName(
  namespace: string,
  name: string,
): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** Undefined for a payload of any other shape. */
export function readClaims(
  payload: Record<string, unknown>,
): ServiceAccountClaims | undefined {
  const { aud, exp, nbf, sub, iss } = payload;
  const audiences = typeof aud === "string" ? [aud] : aud;
  const own = payload["kubernetes.io"] as
    Partial<ServiceAccountClaims["kubernetes.io"]> | undefined;
  if (
    !isTextList(audiences) ||
    typeof exp !== "number" ||
    typeof sub !== "string" ||
    typeof iss !== "string"
  ) {
    return undefined;
  }
  if (nbf !== undefined && typeof nbf !== "number") return undefined;
  if (
    typeof own !== "object" ||
    own === null ||
    typeof own.namespace !== "string"
  )
    return undefined;
  if (!isReference(own.serviceaccount)) return undefined;
  for (const reference of [own.pod, own.secret, own.node]) {
    if (reference !== undefined && !isReference(reference)) return undefined;
  }
  return {
    ...typed<ServiceAccountClaims>(payload),
    aud: audiences,
    nbf: nbf ?? 0,
  };
}

function isTextList(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.every((item) => typeof item === "string")
  );
}

function isReference(value: unknown): value is ObjectReference {
  const { name, uid } = (value ?? {}) as Partial<ObjectReference>;
  return typeof name === "string" && typeof uid === "string";
}
