// Bearer tokens of an OpenID Connect issuer: a token that names the issuer is its, and good when a key of the issuer
// signed it with an accepted algorithm, it is for one of these clients, its time is now, and a mapping makes a user of its
// claims (of --oidc-* or --authentication-config). The groups may be claimed by another party (`distributed-claims.ts`).
import type { Clock } from "../../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../../api/contracts.ts";
import type { ClaimMapping } from "./claim-mapping.ts";
import { withDistributedClaim } from "./distributed-claims.ts";
import type { Issuer } from "./issuer.ts";
import { isSignedBy, peekToken, type PeekedToken } from "./signed-token.ts";

interface OidcOptions {
  readonly issuer: Issuer;
  /** A token is for at least one of them. */
  readonly clientIds: readonly string[];
  readonly algorithms: readonly string[];
  readonly mapping: ClaimMapping;
  /** Audiences this server answers to; callers that name others get no answer. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
}

export class OidcAuthenticator implements TokenAuthenticator {
  constructor(private readonly options: OidcOptions) {}

  /** Undefined: another issuer's. Rejects with why the token is bad. */
  async authenticateToken(
    token: string,
    audiences?: readonly string[],
  ): Promise<UserInfo | undefined> {
    const { issuer } = this.options;
    const peeked = peekToken(token);
    if (peeked?.claims["iss"] !== issuer.url) return undefined;
    if (
      audiences &&
      !audiences.some((each) => this.options.audiences.includes(each))
    )
      return undefined;
    await this.#verify(peeked, issuer);
    const { mapping } = this.options;
    const { groupsClaim: claim } = mapping;
    return mapping.userOf(
      claim === undefined
        ? peeked.claims
        : await withDistributedClaim(peeked.claims, {
            ...{ claim, issuer },
            verify: (token, party) => this.#verify(token, party),
          }),
    );
  }

  async #verify(token: PeekedToken, issuer: Issuer): Promise<void> {
    await this.#verifySignature(token, issuer);
    this.#checkClaims(token.claims);
  }

  async #verifySignature(token: PeekedToken, issuer: Issuer): Promise<void> {
    const { algorithms } = this.options;
    if (!algorithms.includes(token.algorithm))
      throw new Error(
        `oidc: the token is signed with ${token.algorithm}, which is not accepted`,
      );
    const keys = issuer.keys();
    if (keys?.some((key) => isSignedBy(token, key))) return;
    const newer = await issuer.newerKeys();
    if (!newer) throw new Error("oidc: authenticator not initialized");
    if (newer !== keys && newer.some((key) => isSignedBy(token, key))) return;
    throw new Error("oidc: failed to verify signature");
  }

  #checkClaims(claims: Readonly<Record<string, unknown>>): void {
    const { clientIds, clock } = this.options;
    const nowSeconds = clock.now() / 1000;
    const { aud, exp, nbf } = claims;
    if (![aud].flat().some((each) => clientIds.includes(each as string)))
      throw new Error("oidc: the token is for another audience");
    if (typeof exp !== "number" || nowSeconds >= exp)
      throw new Error("oidc: the token is expired");
    // Clocks differ: the reference allows five minutes.
    if (
      nbf !== undefined &&
      (typeof nbf !== "number" || nowSeconds + 300 < nbf)
    )
      throw new Error("oidc: the token is not valid yet");
  }
}
