// What a data key of a KMS v2 provider makes of a value. A seed is what the reference writes by: each value is under an
// AES-GCM key of its own, derived (HKDF-Expand with SHA-256) from the seed and 32 random bytes that are put in front of the
// value, so that no number of writes wears a key out. A plain AES-GCM key is only read: earlier versions wrote by it.
import { createHmac, randomBytes } from "node:crypto";
import { aesGcm, tooShort, type KeyCipher } from "../key-ciphers.ts";
import { dekSourceTypes } from "./encrypted-object.ts";

export const seedBytes = 32;
const infoBytes = 32;

/** By the plaintext of a source. Throws for one that is no key. */
export function dataKeyOf(
  source: Uint8Array,
  type: number,
): Pick<KeyCipher, "decrypt"> {
  const key = Buffer.from(source);
  if (type === dekSourceTypes.hkdfSeed) return seededCipher(key);
  if (![16, 24, 32].includes(key.length))
    throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return aesGcm(key);
}

/** @param seed at least 32 bytes */
export function seededCipher(seed: Buffer): KeyCipher {
  if (seed.length < seedBytes)
    throw new Error(
      `invalid seed length ${seed.length} used for key generation`,
    );
  return {
    encrypt(value, place) {
      const info = randomBytes(infoBytes);
      const sealed = aesGcm(derivedKey(seed, info)).encrypt(value, place);
      return Buffer.concat([info, sealed]);
    },
    decrypt(value, place) {
      if (value.length < infoBytes) throw tooShort();
      const info = value.subarray(0, infoBytes);
      const sealed = value.subarray(infoBytes);
      return aesGcm(derivedKey(seed, info)).decrypt(sealed, place);
    },
  };
}

const firstBlock = Buffer.from([1]);

/** The first 32 bytes of the stream, which are one block. */
function derivedKey(seed: Buffer, info: Uint8Array): Buffer {
  return createHmac("sha256", seed).update(info).update(firstBlock).digest();
}
