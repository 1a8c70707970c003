// Private keys: EC P-256 for everything made here, PKCS #8 in PEM. Reading takes what node:crypto takes.
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";

/**
 * A private key's PEM as bytes, which lie outside of V8's heap: no heap snapshot or profile holds them, as it would hold
 * a string. TLS takes keys in this form; it does not take a KeyObject.
 */
export type PrivateKeyPem = Buffer;

/** About 0.1 ms. */
export function createPrivateKeyPem(): PrivateKeyPem {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return Buffer.from(privateKey.export({ format: "pem", type: "pkcs8" }));
}

/** SubjectPublicKeyInfo in PEM. */
export function publicKeyPem(privateKeyPem: PrivateKeyPem | string): string {
  return createPublicKey(privateKeyPem).export({
    format: "pem",
    type: "spki",
  }) as string;
}

export function publicKeyDer(key: KeyObject | PrivateKeyPem | string): Buffer {
  return createPublicKey(key as PrivateKeyPem).export({
    format: "der",
    type: "spki",
  });
}
