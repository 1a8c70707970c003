// Compact JSON Web Signatures with node:crypto: ES256 and RS256 only, and the algorithm must be the key's own.
import type { PrivateKeyPem } from "./keys.ts";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";

export interface VerificationKey {
  readonly id: string;
  readonly algorithm: "ES256" | "RS256";
  readonly key: KeyObject;
}

/** Longer tokens are not looked at. */
const MAX_TOKEN_BYTES = 16 * 1024;

/** @param pem a public or private key, EC P-256 or RSA. The id is the hash of the public key, as the reference's. */
export function verificationKey(pem: string | Buffer): VerificationKey {
  const key = createPublicKey(pem);
  const id = createHash("sha256")
    .update(key.export({ format: "der", type: "spki" }))
    .digest("base64url");
  return { id, algorithm: algorithmOf(key), key };
}

function algorithmOf(key: KeyObject): "ES256" | "RS256" {
  if (key.asymmetricKeyType === "rsa") return "RS256";
  if (
    key.asymmetricKeyType === "ec" &&
    key.asymmetricKeyDetails?.namedCurve === "prime256v1"
  )
    return "ES256";
  throw new Error("ServiceAccount keys must be EC P-256 or RSA");
}

export class JwtSigner {
  readonly #key: KeyObject;
  readonly #header: string;

  constructor(privateKeyPem: PrivateKeyPem | string) {
    this.#key = createPrivateKey(privateKeyPem);
    const { id, algorithm } = verificationKey(privateKeyPem);
    this.#header = encode({ alg: algorithm, kid: id });
  }

  sign(claims: object): string {
    const content = `${this.#header}.${encode(claims)}`;
    // dsaEncoding is ignored for RSA.
    const signature = sign("sha256", Buffer.from(content), {
      key: this.#key,
      dsaEncoding: "ieee-p1363",
    });
    return `${content}.${signature.toString("base64url")}`;
  }
}

/** The claims without any check; undefined when it is no JSON web token. */
export function peekClaims(token: string): Record<string, unknown> | undefined {
  if (token.length > MAX_TOKEN_BYTES) return undefined;
  const parts = token.split(".");
  return parts.length === 3 ? decode(parts[1]!) : undefined;
}

/** The claims when the signature is one of these keys'. */
export function verifyJwt(
  token: string,
  keys: readonly VerificationKey[],
): Record<string, unknown> | undefined {
  if (token.length > MAX_TOKEN_BYTES) return undefined;
  const [header = "", claims = "", signature = ""] = token.split(".");
  const { alg, kid } = decode(header) ?? {};
  const content = Buffer.from(`${header}.${claims}`);
  const bytes = Buffer.from(signature, "base64url");
  const good = keys.some(
    ({ id, algorithm, key }) =>
      alg === algorithm &&
      (kid === undefined || kid === "" || kid === id) &&
      verify("sha256", content, { key, dsaEncoding: "ieee-p1363" }, bytes),
  );
  return good ? decode(claims) : undefined;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(text, "base64url").toString(),
    );
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
