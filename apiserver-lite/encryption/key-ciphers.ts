// What one key of an encryption provider makes of a value, in the reference's bytes: aescbc is the IV and the blocks with
// PKCS#7 padding; aesgcm is the nonce, the text and its tag, and authenticates the place too; secretbox is the nonce and
// the box. The error texts are the reference's.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type Nacl from "tweetnacl";

export type KeyedProvider = "aescbc" | "aesgcm" | "secretbox";

export interface KeyCipher {
  /** @param place the key of the value in the store */
  encrypt(value: Uint8Array, place: Uint8Array): Buffer;
  /** Throws for a value that this key or, where it is authenticated, this place did not make. */
  decrypt(value: Uint8Array, place: Uint8Array): Uint8Array;
}

export type SecretBox = typeof Nacl.secretbox;

/** tweetnacl is loaded only for a configuration that has a secretbox. */
export async function loadSecretBox(): Promise<SecretBox> {
  return (await import("tweetnacl")).default.secretbox;
}

const blockBytes = 16;
const gcmNonceBytes = 12;
const gcmTagBytes = 16;
const boxNonceBytes = 24;
const boxTagBytes = 16;

export const tooShort = (): Error =>
  new Error("the stored data was shorter than the required size");

/** @param key 16, 24 or 32 bytes */
export function aesCbc(key: Buffer): KeyCipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    encrypt(value) {
      const iv = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, key, iv);
      return Buffer.concat([iv, cipher.update(value), cipher.final()]);
    },
    decrypt(value) {
      if (value.length < blockBytes) throw tooShort();
      if (value.length % blockBytes !== 0)
        throw new Error("the stored data is not a multiple of the block size");
      const iv = value.subarray(0, blockBytes);
      const decipher = createDecipheriv(algorithm, key, iv);
      decipher.setAutoPadding(false);
      return withoutPadding(
        Buffer.concat([
          decipher.update(value.subarray(blockBytes)),
          decipher.final(),
        ]),
      );
    },
  };
}

function withoutPadding(padded: Buffer): Buffer {
  const size = padded.at(-1) ?? 0;
  if (size === 0 || size > padded.length)
    throw new Error("invalid PKCS7 data (empty or not padded)");
  const end = padded.length - size;
  if (padded.subarray(end).some((byte) => byte !== size))
    throw new Error("invalid padding on input");
  return padded.subarray(0, end);
}

/** @param key 16, 24 or 32 bytes */
export function aesGcm(key: Buffer): KeyCipher {
  const algorithm = `aes-${key.length * 8}-gcm` as "aes-256-gcm";
  return {
    encrypt(value, place) {
      const nonce = randomBytes(gcmNonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      cipher.setAAD(place);
      const text = [cipher.update(value), cipher.final()];
      return Buffer.concat([nonce, ...text, cipher.getAuthTag()]);
    },
    decrypt(value, place) {
      if (value.length < gcmNonceBytes) throw tooShort();
      const tagAt = value.length - gcmTagBytes;
      const failed = "cipher: message authentication failed";
      if (tagAt < gcmNonceBytes) throw new Error(failed);
      const nonce = value.subarray(0, gcmNonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce, {
        authTagLength: gcmTagBytes,
      });
      decipher.setAAD(place);
      decipher.setAuthTag(value.subarray(tagAt));
      const text = decipher.update(value.subarray(gcmNonceBytes, tagAt));
      try {
        return Buffer.concat([text, decipher.final()]);
      } catch (error) {
        throw new Error(failed, { cause: error });
      }
    },
  };
}

/** @param key 32 bytes */
export function secretBoxCipher(key: Buffer, box: SecretBox): KeyCipher {
  return {
    encrypt(value) {
      const nonce = randomBytes(boxNonceBytes);
      return Buffer.concat([
        nonce,
        box(plain(value), plain(nonce), plain(key)),
      ]);
    },
    decrypt(value) {
      if (value.length < boxNonceBytes + boxTagBytes) throw tooShort();
      const nonce = value.subarray(0, boxNonceBytes);
      const boxed = value.subarray(boxNonceBytes);
      const opened = box.open(plain(boxed), plain(nonce), plain(key));
      // The reference's text for every box that does not open.
      if (!opened)
        throw new Error("output array was not large enough for encryption");
      return opened;
    },
  };
}

/** The library takes no Buffers in tests, whose Uint8Array is another class. */
const plain = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
