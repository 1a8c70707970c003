// Compact JSON Web Signatures with node:crypto: RS256, ES256, ES384 and ES512, and the algorithm must be the key's own.
import type { PrivateKeyPem } from "./keys.ts";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";

type JwtAlgorithm = "RS256" | "ES256" | "ES384" | "ES512";

export interface VerificationKey {
  readonly id: string;
  readonly algorithm: JwtAlgorithm;
  readonly key: KeyObject;
}

/** Signs the claims of a token; whatever it answers with is the whole token. */
export interface TokenSigner {
  sign(claims: object): string | Promise<string>;
}

const hashes: Readonly<Record<JwtAlgorithm, string>> = {
  ...{ RS256: "sha256", ES256: "sha256" },
  ...{ ES384: "sha384", ES512: "sha512" },
};

/** By node:crypto's names of the curves. */
const algorithmsOfCurves: Readonly<Record<string, JwtAlgorithm>> = {
  ...{ prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" },
};

export function isJwtAlgorithm(name: unknown): name is JwtAlgorithm {
  return typeof name === "string" && Object.hasOwn(hashes, name);
}

/** Longer tokens are not looked at. */
const MAX_TOKEN_BYTES = 16 * 1024;

/** @param pem a public or private key, RSA or EC. The id is the hash of the public key, as the reference's. */
export function verificationKey(pem: string | Buffer): VerificationKey {
  const key = createPublicKey(pem);
  const id = createHash("sha256")
    .update(key.export({ format: "der", type: "spki" }))
    .digest("base64url");
  return { id, algorithm: algorithmOf(key), key };
}

/** @param spki a public key, RSA or EC, as DER. Throws an Error for any other. */
export function namedVerificationKey(
  id: string,
  spki: Uint8Array,
): VerificationKey {
  const key = createPublicKey({
    ...{ key: Buffer.from(spki), format: "der" as const, type: "spki" },
  });
  return { id, algorithm: algorithmOf(key), key };
}

function algorithmOf(key: KeyObject): JwtAlgorithm {
  if (key.asymmetricKeyType === "rsa") return "RS256";
  const curve = key.asymmetricKeyDetails?.namedCurve ?? "";
  const algorithm =
    key.asymmetricKeyType === "ec" ? algorithmsOfCurves[curve] : undefined;
  if (!algorithm)
    throw new Error(
      "ServiceAccount keys must be EC P-256, P-384, P-521 or RSA",
    );
  return algorithm;
}

export class JwtSigner implements TokenSigner {
  readonly #key: KeyObject;
  readonly #hash: string;
  readonly #header: string;

  constructor(privateKeyPem: PrivateKeyPem | string) {
    this.#key = createPrivateKey(privateKeyPem);
    const { id, algorithm } = verificationKey(privateKeyPem);
    this.#hash = hashes[algorithm];
    this.#header = encode({ alg: algorithm, kid: id });
  }

  sign(claims: object): string {
    const content = `${this.#header}.${encode(claims)}`;
    // dsaEncoding is ignored for RSA.
    const signature = sign(this.#hash, Buffer.from(content), {
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

/** The id of the key that a token says it is signed with; "" where it names none. */
export function tokenKeyId(token: string): string {
  if (token.length > MAX_TOKEN_BYTES) return "";
  const { kid } = decode(token.split(".", 1)[0]!) ?? {};
  return typeof kid === "string" ? kid : "";
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
      verify(
        hashes[algorithm],
        content,
        { key, dsaEncoding: "ieee-p1363" },
        bytes,
      ),
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
