// Authenticates ServiceAccount tokens: signature (remembered), times, audiences, and on every request that the account
// and the object the token is bound to are still the same ones.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../../api/clock.ts";
import type {
  AuthenticationRemarks,
  TokenAuthenticator,
  UserInfo,
} from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import type { StateReader } from "../../resources/state.ts";
import {
  readClaims,
  serviceAccountGroups,
  serviceAccountUserName,
  type ObjectReference,
  type ServiceAccountClaims,
} from "./claims.ts";
import { peekClaims } from "../../../api/pki/jwt.ts";
import { type PublicKeys, verifiedClaims } from "./public-keys.ts";
import type { TokenMetrics } from "./token-metrics.ts";

interface ServiceAccountAuthenticatorOptions {
  readonly issuers: readonly string[];
  readonly keys: PublicKeys;
  /** Audiences this server answers to; the default of requests that name none. */
  readonly audiences: readonly string[];
  readonly state: StateReader;
  readonly clock: Clock;
  readonly metrics?: TokenMetrics;
}

/** After an object's deletion was asked for, its tokens are good this much longer. */
const DELETION_GRACE_MS = 60_000;
/** Tokens whose signature is remembered. */
const maxRemembered = 4096;

export class ServiceAccountAuthenticator implements TokenAuthenticator {
  readonly #options: ServiceAccountAuthenticatorOptions;
  readonly #verified = new LRUCache<string, ServiceAccountClaims>({
    max: maxRemembered,
  });

  constructor(options: ServiceAccountAuthenticatorOptions) {
    this.#options = options;
    options.keys.subscribe(() => this.#verified.clear());
  }

  authenticateToken(
    token: string,
    audiences = this.#options.audiences,
    remarks?: AuthenticationRemarks,
  ): Promise<UserInfo | undefined> {
    const known = this.#verified.get(token);
    if (known) return this.#answer(known, audiences, remarks);
    if (!this.#isMine(token)) return Promise.resolve(undefined);
    const payload = verifiedClaims(token, this.#options.keys);
    return payload instanceof Promise
      ? payload.then((late) =>
          this.#answer(this.#read(token, late), audiences, remarks),
        )
      : this.#answer(this.#read(token, payload), audiences, remarks);
  }

  #answer(
    claims: ServiceAccountClaims | undefined,
    audiences: readonly string[],
    remarks: AuthenticationRemarks | undefined,
  ): Promise<UserInfo> {
    const user = claims && this.#userOf(claims, audiences);
    if (!user) return Promise.reject(errors.unauthorized());
    if (remarks) this.#remark(claims, remarks);
    return Promise.resolve(user);
  }

  /** A token that lives longer than was asked, for clients that never read their file again, may be past that time. */
  #remark(claims: ServiceAccountClaims, remarks: AuthenticationRemarks): void {
    const { warnafter } = claims["kubernetes.io"];
    if (!warnafter) return;
    const late = Math.floor(this.#options.clock.now() / 1000) - warnafter;
    const isStale = this.#options.clock.now() > warnafter * 1000;
    this.#options.metrics?.projected(isStale);
    if (isStale)
      remarks.annotate(
        "authentication.k8s.io/stale-token",
        `subject: ${claims.sub}, seconds after warning threshold: ${late}`,
      );
  }

  /** The audiences of those asked for that the token is meant for. The token has been authenticated. */
  audiencesOf(token: string, asked: readonly string[]): string[] {
    const { aud = [] } = (peekClaims(token) ?? {}) as { aud?: unknown };
    return Array.isArray(aud)
      ? asked.filter((audience) => aud.includes(audience))
      : [];
  }

  #isMine(token: string): boolean {
    const { iss } = peekClaims(token) ?? {};
    return typeof iss === "string" && this.#options.issuers.includes(iss);
  }

  #read(
    token: string,
    payload: Record<string, unknown> | undefined,
  ): ServiceAccountClaims | undefined {
    const claims = payload && readClaims(payload);
    if (claims) this.#verified.set(token, claims);
    return claims;
  }

  #userOf(
    claims: ServiceAccountClaims,
    audiences: readonly string[],
  ): UserInfo | undefined {
    const nowSeconds = this.#options.clock.now() / 1000;
    if (nowSeconds >= claims.exp || nowSeconds < claims.nbf) return undefined;
    if (!claims.aud.some((audience) => audiences.includes(audience)))
      return undefined;
    const { namespace, serviceaccount, pod, secret, node } =
      claims["kubernetes.io"];
    if (claims.sub !== serviceAccountUserName(namespace, serviceaccount.name))
      return undefined;
    if (!this.#isLive("serviceaccounts", namespace, serviceaccount))
      return undefined;
    if (pod && !this.#isLive("pods", namespace, pod)) return undefined;
    if (secret && !this.#isLive("secrets", namespace, secret)) return undefined;
    // A pod's node is reported, not checked; a token bound to a node alone is valid as long as the node exists.
    if (node && !pod && !this.#isLive("nodes", "", node)) return undefined;

    const extra: Record<string, string[]> = {};
    const add = (name: string, value: string | undefined): void => {
      if (value) extra[`authentication.kubernetes.io/${name}`] = [value];
    };
    add("credential-id", claims.jti && `JTI=${claims.jti}`);
    add("node-name", node?.name);
    add("node-uid", node?.uid);
    add("pod-name", pod?.name);
    add("pod-uid", pod?.uid);
    return {
      name: claims.sub,
      uid: serviceaccount.uid,
      groups: serviceAccountGroups(namespace),
      extra,
    };
  }

  #isLive(
    resource: string,
    namespace: string,
    { name, uid }: ObjectReference,
  ): boolean {
    const object = this.#options.state.read("", resource, namespace, name);
    if (!object || object.metadata.uid !== uid) return false;
    const { deletionTimestamp } = object.metadata;
    return (
      !deletionTimestamp ||
      this.#options.clock.now() <
        Date.parse(deletionTimestamp) + DELETION_GRACE_MS
    );
  }
}
