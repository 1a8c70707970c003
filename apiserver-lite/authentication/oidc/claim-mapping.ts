// From the claims of a good token to who its bearer is, as the --oidc-* options say it: user and groups are claims with
// prefixes, and some claims must have a certain value.
import type { UserInfo } from "../../../api/contracts.ts";

export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimMapping {
  /** The claim that groups are taken from as they are. */
  readonly groupsClaim?: string | undefined;
  /** Rejects with why the claims are not good enough. */
  userOf(claims: Claims): Promise<UserInfo>;
}

interface PlainMapping {
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  /** Claim → the text that it must have. */
  readonly requiredClaims: Readonly<Record<string, string>>;
}

export function plainMapping(options: PlainMapping): ClaimMapping {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = options;
  return {
    groupsClaim,
    userOf: async (claims) => {
      checkRequired(claims, options.requiredClaims);
      return {
        name: usernamePrefix + usernameOf(claims, usernameClaim),
        groups: groupsClaim
          ? groupsOf(claims, groupsClaim).map((each) => groupsPrefix + each)
          : [],
        extra: credentialOf(claims),
      };
    },
  };
}

/** Throws Error. */
export function checkRequired(
  claims: Claims,
  required: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(required))
    if (claims[name] !== value)
      throw new Error(
        `oidc: required claim ${name} is missing or has another value`,
      );
}

/** Throws Error; an address that is not verified is none. */
export function usernameOf(claims: Claims, claim: string): string {
  const name = claims[claim];
  if (typeof name !== "string" || name === "")
    throw new Error(`oidc: claim ${claim} is missing or no text`);
  if (
    claim === "email" &&
    claims["email_verified"] !== undefined &&
    claims["email_verified"] !== true
  )
    throw new Error("oidc: email not verified");
  return name;
}

/** A text is a list of one. Throws Error. */
export function groupsOf(claims: Claims, claim: string): string[] {
  const list = claims[claim] === undefined ? [] : [claims[claim]].flat();
  if (!list.every((each) => typeof each === "string"))
    throw new Error(`oidc: claim ${claim} must hold texts`);
  return list;
}

/** The token's own name, for audit. */
export function credentialOf({ jti }: Claims): Record<string, string[]> {
  return typeof jti === "string" && jti !== ""
    ? { "authentication.kubernetes.io/credential-id": [`JTI=${jti}`] }
    : {};
}
