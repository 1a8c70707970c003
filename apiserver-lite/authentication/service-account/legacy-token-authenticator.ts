// Authenticates the tokens of Secrets of type kubernetes.io/service-account-token: they have no end, so on every request
// the Secret must hold that very token and the account must be the same (--service-account-lookup; without it the
// signature decides alone). A Secret that is marked as invalid refuses; the day of a token's last use becomes a label of
// its Secret, which the controller that removes unused ones reads.
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { formatTime, type Clock } from "../../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import { peekClaims } from "../../../api/pki/jwt.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { StateReader } from "../../resources/state.ts";
import { serviceAccountGroups, serviceAccountUserName } from "./claims.ts";
import { type PublicKeys, verifiedClaims } from "./public-keys.ts";

interface LegacyTokenOptions {
  readonly keys: PublicKeys;
  /** Audiences this server answers to: the tokens name none. */
  readonly audiences: readonly string[];
  readonly lookup: boolean;
  readonly state: StateReader;
  readonly clock: Clock;
  /** Writes the label of the last use; it is not waited for. */
  readonly noteUse: (secret: Readonly<AnyObject>, date: string) => void;
}

interface LegacyClaims {
  readonly namespace: string;
  readonly secret: string;
  readonly account: string;
  readonly uid: string;
}

const legacyIssuer = "kubernetes/serviceaccount";
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";
/** Tokens whose signature is remembered. */
const maxRemembered = 1024;
const dayMs = 24 * 3_600_000;

export class LegacyTokenAuthenticator implements TokenAuthenticator {
  readonly #options: LegacyTokenOptions;
  readonly #verified = new LRUCache<string, LegacyClaims>({
    max: maxRemembered,
  });

  constructor(options: LegacyTokenOptions) {
    this.#options = options;
    options.keys.subscribe(() => this.#verified.clear());
  }

  authenticateToken(
    token: string,
    audiences = this.#options.audiences,
  ): Promise<UserInfo | undefined> {
    const known = this.#verified.get(token);
    if (known) return this.#answer(known, token, audiences);
    if (peekClaims(token)?.["iss"] !== legacyIssuer)
      return Promise.resolve(undefined);
    const payload = verifiedClaims(token, this.#options.keys);
    return payload instanceof Promise
      ? payload.then((late) =>
          this.#answer(this.#read(token, late), token, audiences),
        )
      : this.#answer(this.#read(token, payload), token, audiences);
  }

  #answer(
    claims: LegacyClaims | undefined,
    token: string,
    audiences: readonly string[],
  ): Promise<UserInfo> {
    const meant = this.#options.audiences.some((own) =>
      audiences.includes(own),
    );
    if (!claims || !meant || !this.#isCurrent(claims, token))
      return Promise.reject(errors.unauthorized());
    const { namespace, account, uid } = claims;
    return Promise.resolve({
      name: serviceAccountUserName(namespace, account),
      uid,
      groups: serviceAccountGroups(namespace),
      extra: {},
    });
  }

  #read(
    token: string,
    payload: Record<string, unknown> | undefined,
  ): LegacyClaims | undefined {
    const claims = payload && readLegacyClaims(payload);
    if (claims) this.#verified.set(token, claims);
    return claims;
  }

  #isCurrent(claims: LegacyClaims, token: string): boolean {
    const { lookup, state } = this.#options;
    if (!lookup) return true;
    const { namespace, account, uid } = claims;
    const secret = state.read("", "secrets", namespace, claims.secret);
    if (!secret || secret.metadata.deletionTimestamp) return false;
    const { token: held = "" } = (secret["data"] ?? {}) as { token?: string };
    if (!isSame(Buffer.from(held, "base64"), Buffer.from(token))) return false;
    const found = state.read("", "serviceaccounts", namespace, account);
    if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp)
      return false;
    this.#noteUse(secret);
    return !secret.metadata.labels?.[invalidSinceLabel];
  }

  /** One from a server whose clock is ahead is left as it is. */
  #noteUse(secret: Readonly<AnyObject>): void {
    const nowMs = this.#options.clock.now();
    const today = formatTime(nowMs).slice(0, 10);
    const tomorrow = formatTime(nowMs + dayMs).slice(0, 10);
    const lastUsed = secret.metadata.labels?.[lastUsedLabel];
    if (lastUsed !== today && lastUsed !== tomorrow)
      this.#options.noteUse(secret, today);
  }
}

const isSame = (held: Buffer, given: Buffer): boolean =>
  held.length === given.length && timingSafeEqual(held, given);

/** Undefined for a payload of any other shape, or one whose subject is another account. */
function readLegacyClaims(
  payload: Record<string, unknown>,
): LegacyClaims | undefined {
  const text = (name: string): string => {
    const value = payload[`kubernetes.io/serviceaccount/${name}`];
    return typeof value === "string" ? value : "";
  };
  const claims = {
    namespace: text("namespace"),
    secret: text("secret.name"),
    account: text("service-account.name"),
    uid: text("service-account.uid"),
  };
  const complete = Object.values(claims).every((value) => value !== "");
  const subject = serviceAccountUserName(claims.namespace, claims.account);
  return complete && payload["sub"] === subject ? claims : undefined;
}
