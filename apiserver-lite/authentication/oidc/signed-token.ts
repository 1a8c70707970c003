// JSON web tokens of an OpenID Connect issuer: signature by one of the issuer's published keys (RFC 7515, 7517, 7518).
import {
  constants,
  createPublicKey,
  verify,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";

/** A public key as the issuer's key set has it. */
export interface PublishedKey extends JsonWebKey {
  readonly kid?: string;
  readonly use?: string;
  readonly alg?: string;
}

export interface IssuerKey {
  readonly id: string | undefined;
  /** What the key may be used with; undefined: any of its type. */
  readonly algorithm: string | undefined;
  readonly key: KeyObject;
}

const MAX_TOKEN_CHARACTERS = 64 * 1024;

const curves: Readonly<Record<string, string>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
  ES512: "secp521r1",
};

export interface PeekedToken {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
  /** What was signed. */
  readonly content: Buffer;
  readonly signature: Buffer;
}

function decode(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(text, "base64url").toString(),
    );
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The parts of a token without any check; undefined when it is none. */
export function peekToken(token: string): PeekedToken | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  const [head, body, signature] = parts as [string, string, string];
  const header = decode(head);
  const claims = decode(body);
  if (!header || !claims || typeof header["alg"] !== "string") return undefined;
  return {
    algorithm: header["alg"],
    keyId: typeof header["kid"] === "string" ? header["kid"] : undefined,
    claims,
    content: Buffer.from(`${head}.${body}`),
    signature: Buffer.from(signature, "base64url"),
  };
}

/** Keys of a key set that can verify; others are left out. */
export function issuerKeys(keys: readonly PublishedKey[]): IssuerKey[] {
  return keys.flatMap((jwk): IssuerKey[] => {
    if (jwk.use !== undefined && jwk.use !== "sig") return [];
    if (jwk.kty !== "RSA" && jwk.kty !== "EC") return [];
    try {
      const key = createPublicKey({ key: jwk, format: "jwk" });
      return [{ id: jwk.kid, algorithm: jwk.alg, key }];
    } catch {
      return [];
    }
  });
}

/** The algorithm must be of the key's own type: a token does not choose how it is checked. */
export function isSignedBy(
  { algorithm, keyId, content, signature }: PeekedToken,
  issuerKey: IssuerKey,
): boolean {
  const { key } = issuerKey;
  if (keyId !== undefined && issuerKey.id !== keyId) return false;
  if (issuerKey.algorithm !== undefined && issuerKey.algorithm !== algorithm)
    return false;
  const digest = `sha${algorithm.slice(2)}`;
  const isRsa = key.asymmetricKeyType === "rsa";
  switch (algorithm.slice(0, 2)) {
    case "RS":
      return isRsa && verify(digest, content, key, signature);
    case "PS":
      return (
        isRsa &&
        verify(
          digest,
          content,
          {
            key,
            padding: constants.RSA_PKCS1_PSS_PADDING,
            saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
          },
          signature,
        )
      );
    case "ES":
      return (
        key.asymmetricKeyType === "ec" &&
        key.asymmetricKeyDetails?.namedCurve === curves[algorithm] &&
        verify(digest, content, { key, dsaEncoding: "ieee-p1363" }, signature)
      );
    default:
      return false;
  }
}
