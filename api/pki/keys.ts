// Private keys: EC P-256 for everything made here, PKCS #8 in PEM. Reading takes what node:crypto takes.
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";

/** About 0.1 ms. */
export function createPrivateKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "pem", type: "pkcs8" }) as string;
}

/** SubjectPublicKeyInfo in PEM. */
export function publicKeyPem(privateKeyPem: string): string {
  return createPublicKey(privateKeyPem).export({
    format: "pem",
    type: "spki",
  }) as string;
}

export function publicKeyDer(key: KeyObject | string): Buffer {
  return createPublicKey(key as string).export({ format: "der", type: "spki" });
}
