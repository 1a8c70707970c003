// Bearer tokens of an OpenID Connect issuer (--oidc-*): a token that names the issuer is its, and good when a key of the
// issuer signed it with an accepted algorithm, it is for this client, its time is now, and every required claim is there.
// User and groups are claims, with prefixes. Distributed claims are not followed.
import type { Clock } from "../../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../../api/contracts.ts";
import type { Issuer } from "./issuer.ts";
import { isSignedBy, peekToken, type PeekedToken } from "./signed-token.ts";

interface OidcOptions {
  readonly issuer: Issuer;
  readonly clientId: string;
  readonly algorithms: readonly string[];
  readonly usernameClaim: string;
  /** Undefined: the issuer's URL and # but for the claim email; "-": none. */
  readonly usernamePrefix: string | undefined;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
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
    await this.#verifySignature(peeked);
    this.#checkClaims(peeked.claims);
    return this.#userOf(peeked.claims);
  }

  async #verifySignature(token: PeekedToken): Promise<void> {
    const { issuer, algorithms } = this.options;
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
    const { clientId, requiredClaims, clock } = this.options;
    const nowSeconds = clock.now() / 1000;
    const { aud, exp, nbf } = claims;
    if (![aud].flat().includes(clientId))
      throw new Error("oidc: the token is for another audience");
    if (typeof exp !== "number" || nowSeconds >= exp)
      throw new Error("oidc: the token is expired");
    // Clocks differ: the reference allows five minutes.
    if (
      nbf !== undefined &&
      (typeof nbf !== "number" || nowSeconds + 300 < nbf)
    )
      throw new Error("oidc: the token is not valid yet");
    for (const [name, value] of Object.entries(requiredClaims))
      if (claims[name] !== value)
        throw new Error(
          `oidc: required claim ${name} is missing or has another value`,
        );
  }

  #userOf(claims: Readonly<Record<string, unknown>>): UserInfo {
    const { usernameClaim, usernamePrefix, issuer } = this.options;
    const { groupsClaim, groupsPrefix } = this.options;
    const name = claims[usernameClaim];
    if (typeof name !== "string" || name === "")
      throw new Error(`oidc: claim ${usernameClaim} is missing or no text`);
    if (
      usernameClaim === "email" &&
      claims["email_verified"] !== undefined &&
      claims["email_verified"] !== true
    )
      throw new Error("oidc: email not verified");
    const prefix =
      usernamePrefix === "-"
        ? ""
        : (usernamePrefix ??
          (usernameClaim === "email" ? "" : `${issuer.url}#`));
    const groups = groupsClaim ? claims[groupsClaim] : undefined;
    const list = groups === undefined ? [] : [groups].flat();
    if (!list.every((each) => typeof each === "string"))
      throw new Error(`oidc: claim ${groupsClaim} must hold texts`);
    return {
      name: prefix + name,
      groups: (list as string[]).map((each) => groupsPrefix + each),
      extra: {},
    };
  }
}
