// A claim that another party holds (OpenID Connect Core 1.0, 5.6.2): the token names where a token with the claim is to be
// had, which is fetched and verified as the party's. As at the reference this is done for the claim of the groups alone, and
// the party may be another issuer, whose keys are asked with the same roots.
// Only https is spoken, a party that can't be had or believed makes the whole token bad, and parties are few.
import type { Claims } from "./claim-mapping.ts";
import type { Issuer } from "./issuer.ts";
import { peekToken, type PeekedToken } from "./signed-token.ts";

const namesClaim = "_claim_names";
const sourcesClaim = "_claim_sources";

interface ClaimSource {
  readonly endpoint: string;
  readonly accessToken: string;
}

/** Rejects unless an issuer has signed the token, and it is for this server and of this time. */
type Verify = (token: PeekedToken, issuer: Issuer) => Promise<void>;

function fieldsOf(value: unknown, what: string): Claims {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Claims;
  throw new Error(`oidc: ${what} must be an object`);
}

function textOf(value: unknown, what: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  throw new Error(`oidc: ${what} must be a text`);
}

/** Undefined: the token has the claim itself, or no party has. @throws Error for what is no source */
function sourceOf(claims: Claims, claim: string): ClaimSource | undefined {
  if (claims[claim] !== undefined || claims[namesClaim] === undefined)
    return undefined;
  const source = textOf(
    fieldsOf(claims[namesClaim], namesClaim)[claim],
    `${namesClaim}.${claim}`,
  );
  const sources = fieldsOf(claims[sourcesClaim], sourcesClaim);
  if (source === "") return undefined;
  const place = `${sourcesClaim}.${source}`;
  if (!Object.hasOwn(sources, source))
    throw new Error(`oidc: ${place} is missing`);
  const found = fieldsOf(sources[source], place);
  const endpoint = textOf(found["endpoint"], `${place}.endpoint`);
  // One without is aggregated: the claim is inside, which the reference does not read.
  if (endpoint === "") return undefined;
  if (!endpoint.startsWith("https://"))
    throw new Error(`oidc: ${place}.endpoint must be an https URL`);
  return {
    endpoint,
    accessToken: textOf(found["access_token"], `${place}.access_token`),
  };
}

/** The claims, with the one that another party holds. Rejects when the party can't be asked or believed. */
export async function withDistributedClaim(
  claims: Claims,
  { claim, issuer, verify }: { claim: string; issuer: Issuer; verify: Verify },
): Promise<Claims> {
  const source = sourceOf(claims, claim);
  if (!source) return claims;
  const text = await issuer.claimToken(source.endpoint, source.accessToken);
  const token = peekToken(text.trim());
  const url = token?.claims["iss"];
  if (!token || typeof url !== "string" || !url.startsWith("https://"))
    throw new Error(
      `oidc: ${source.endpoint} answered no token of an https issuer`,
    );
  await verify(token, issuer.party(url));
  const value = token.claims[claim];
  if (value === undefined)
    throw new Error(
      `oidc: the token of ${source.endpoint} does not have the claim ${claim}`,
    );
  return { ...claims, [claim]: value };
}
