// Signatures over DER as X.509 writes them: an algorithm identifier and a bit string.
import { createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { oid, sequence, Tag, tlv } from "./der.ts";

const NULL = tlv(Tag.null);
const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const RSA_SHA256 = "1.2.840.113549.1.1.11";
const ED25519 = "1.3.101.112";

/** Digest by algorithm; null where the algorithm has its own. */
const digests: Readonly<Record<string, string | null>> = {
  [ECDSA_SHA256]: "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  [RSA_SHA256]: "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  [ED25519]: null,
};

export function algorithmIdentifier(key: KeyObject): Buffer {
  switch (key.asymmetricKeyType) {
    case "ec":
      return sequence(oid(ECDSA_SHA256));
    case "rsa":
      return sequence(oid(RSA_SHA256), NULL);
    case "ed25519":
      return sequence(oid(ED25519));
    default:
      throw new RangeError(
        `can't sign with a key of type ${key.asymmetricKeyType ?? "unknown"}`,
      );
  }
}

export function signDer(der: Buffer, key: KeyObject): Buffer {
  return sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", der, key);
}

export const knowsAlgorithm = (algorithm: string): boolean =>
  digests[algorithm] !== undefined;

/** False also for algorithms and keys that are not supported. */
export function verifyDer(
  der: Buffer,
  algorithm: string,
  publicKey: Buffer,
  signature: Buffer,
): boolean {
  const digest = digests[algorithm];
  if (digest === undefined) return false;
  try {
    return verify(
      digest,
      der,
      createPublicKey({ key: publicKey, format: "der", type: "spki" }),
      signature,
    );
  } catch {
    return false;
  }
}
