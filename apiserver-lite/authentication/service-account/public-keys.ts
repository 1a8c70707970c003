// The public keys by which tokens of service accounts are verified: fixed ones of this server's files, or those that an
// external signer publishes, which change while the server runs.
import {
  type VerificationKey,
  tokenKeyId,
  verifyJwt,
} from "../../../api/pki/jwt.ts";

export interface PublicKeys {
  /**
   * The keys of a token: those with the id that it names, all for "". A key that is not known may have come since: it is
   * looked for, and the answer is a promise. Never rejects: a token whose keys can't be had is not valid.
   */
  named(
    id: string,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]>;
  /** Those that others may verify tokens with. */
  published(): readonly VerificationKey[];
  /** How long others may keep them, in whole seconds. */
  maxAgeSeconds(): number;
  /** Called after the keys have changed: what was verified before may no longer be. */
  subscribe(listener: () => void): void;
}

const fixedMaxAgeSeconds = 3600;

/** Keys that stay the same as long as the server runs. */
export function fixedKeys(keys: readonly VerificationKey[]): PublicKeys {
  return {
    named: () => keys,
    published: () => keys,
    maxAgeSeconds: () => fixedMaxAgeSeconds,
    subscribe: () => undefined,
  };
}

/** The claims of a token that one of the keys signed. The answer is at hand where the keys are. */
export function verifiedClaims(
  token: string,
  keys: PublicKeys,
):
  | Record<string, unknown>
  | undefined
  | Promise<Record<string, unknown> | undefined> {
  const found = keys.named(tokenKeyId(token));
  return found instanceof Promise
    ? found.then((late) => verifyJwt(token, late))
    : verifyJwt(token, found);
}
