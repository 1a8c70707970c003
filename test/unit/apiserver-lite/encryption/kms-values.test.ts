// The bytes of a KMS v2 provider: an EncryptedObject as protoc would read it, data keys derived as HKDF says, and what must
// not open.
import { createCipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { Reader } from "protobufjs/minimal.js";
import {
  dataKeyOf,
  seededCipher,
} from "../../../../apiserver-lite/encryption/kms/data-keys.ts";
import {
  decodeEncryptedObject,
  dekSourceTypes,
  encodeEncryptedObject,
  refuseDekSource,
  type EncryptedObject,
} from "../../../../apiserver-lite/encryption/kms/encrypted-object.ts";

const place = Buffer.from("/registry/secrets/default/a");
const text = Buffer.from("a secret");
const object: EncryptedObject = {
  encryptedData: Buffer.from("data"),
  keyID: "key-1",
  encryptedDEKSource: Buffer.from("source"),
  annotations: { "a.example.com": Buffer.from([0, 1]) },
  encryptedDEKSourceType: dekSourceTypes.hkdfSeed,
};

/** AES-GCM with the nonce in front and the tag behind, by node:crypto alone. */
function gcm(key: Buffer, aad = place): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(aad);
  const sealed = [cipher.update(text), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]);
}

test("an encrypted object is written field by field", () => {
  const bytes = encodeEncryptedObject(object);
  expect(bytes.toString("hex")).toBe(
    "0a0464617461" +
      "12056b65792d31" +
      "1a06736f75726365" +
      "22130a0d612e6578616d706c652e636f6d12020001" +
      "2801",
  );
  expect(decodeEncryptedObject(bytes)).toEqual(object);
  const reader = Reader.create(bytes);
  expect([reader.uint32() >>> 3, reader.string()]).toEqual([1, "data"]);
  // A plain key, the earlier form, has no type; unknown fields are left out.
  const plain = Buffer.concat([
    bytes.subarray(0, -2),
    Buffer.from("7a0161", "hex"),
  ]);
  expect(decodeEncryptedObject(plain).encryptedDEKSourceType).toBe(
    dekSourceTypes.aesGcmKey,
  );
});

test("keys are derived as HKDF-Expand with SHA-256 says, and stand in front of the value", () => {
  const salt = randomBytes(32);
  const material = randomBytes(32);
  // HKDF is Extract, one HMAC, and then Expand.
  const seed = createHmac("sha256", salt).update(material).digest();
  const info = randomBytes(32);
  const derived = Buffer.from(hkdfSync("sha256", material, salt, info, 32));
  const stored = Buffer.concat([info, gcm(derived)]);
  expect(
    dataKeyOf(seed, dekSourceTypes.hkdfSeed).decrypt(stored, place),
  ).toEqual(text);
  const cipher = seededCipher(seed);
  const own = cipher.encrypt(text, place);
  expect(own).toHaveLength(32 + 12 + text.length + 16);
  expect(cipher.decrypt(own, place)).toEqual(text);
  expect(cipher.encrypt(text, place).subarray(0, 32)).not.toEqual(
    own.subarray(0, 32),
  );
  for (const at of [0, 31, 32, 44, own.length - 1]) {
    const damaged = Buffer.from(own);
    damaged[at]! ^= 1;
    expect(() => cipher.decrypt(damaged, place)).toThrow(
      "cipher: message authentication failed",
    );
  }
  expect(() =>
    cipher.decrypt(own, Buffer.from("/registry/secrets/x/a")),
  ).toThrow("cipher: message authentication failed");
  for (const size of [0, 31])
    expect(() => cipher.decrypt(own.subarray(0, size), place)).toThrow(
      "the stored data was shorter than the required size",
    );
  for (const size of [32, 43, 59])
    expect(() => cipher.decrypt(own.subarray(0, size), place)).toThrow();
});

test("a plain key of earlier versions is read", () => {
  const key = randomBytes(32);
  expect(
    dataKeyOf(key, dekSourceTypes.aesGcmKey).decrypt(gcm(key), place),
  ).toEqual(text);
});

test.each<[string, Partial<EncryptedObject>, string]>([
  ["no data", { encryptedData: Buffer.alloc(0) }, "encrypted data is empty"],
  [
    "an unknown type",
    { encryptedDEKSourceType: 2 },
    "unknown encryptedDEKSourceType: 2",
  ],
  [
    "no source",
    { encryptedDEKSource: Buffer.alloc(0) },
    "failed to validate encrypted DEK source: encrypted DEK source is empty",
  ],
  [
    "a long source",
    { encryptedDEKSource: Buffer.alloc(1025) },
    "failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes, which exceeds the max size of 1024",
  ],
  ["no key", { keyID: "" }, "failed to validate key id: keyID is empty"],
  [
    "a long key",
    { keyID: "é".repeat(513) },
    "failed to validate key id: keyID is 1026 bytes, which exceeds the max size of 1024",
  ],
  [
    "an annotation of one part",
    { annotations: { name: Buffer.from("x") } },
    'failed to validate annotations: annotations: Invalid value: "name": should be a domain with at least two segments separated by dots',
  ],
  [
    "large annotations",
    { annotations: { "a.b": Buffer.alloc(32 * 1024) } },
    "failed to validate annotations: total size of annotations is 32771, which exceeds the max size of 32768",
  ],
  [
    "an annotation that is no domain",
    { annotations: { "A.b_": Buffer.from("x") } },
    'failed to validate annotations: annotations: Invalid value: "A.b_": a lowercase RFC 1123 subdomain must consist of',
  ],
])("%s is refused", (_, change, problem) => {
  const changed = { ...object, ...change };
  if (changed.encryptedData.length > 0)
    expect(() => refuseDekSource(changed)).toThrow(problem);
  const bytes =
    changed.encryptedData.length > 0
      ? encodeEncryptedObject(changed)
      : encodeEncryptedObject(object).subarray(6);
  expect(() => decodeEncryptedObject(bytes)).toThrow(problem);
});

test("bytes that are no object are refused, and damage never opens", () => {
  const bytes = encodeEncryptedObject(object);
  for (let size = 1; size < bytes.length; size++) {
    // Cut between two fields it may be an object, which says something else.
    try {
      expect(decodeEncryptedObject(bytes.subarray(0, size))).not.toEqual(
        object,
      );
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
  expect(() => decodeEncryptedObject(Buffer.from("{}"))).toThrow(
    "proto: cannot parse invalid wire-format data",
  );
});

test.each([
  [dekSourceTypes.hkdfSeed, 0, "invalid seed length 0 used for key generation"],
  [
    dekSourceTypes.hkdfSeed,
    31,
    "invalid seed length 31 used for key generation",
  ],
  [dekSourceTypes.aesGcmKey, 0, "crypto/aes: invalid key size 0"],
  [dekSourceTypes.aesGcmKey, 33, "crypto/aes: invalid key size 33"],
])(
  "a plaintext of source type %d with %d bytes is no key",
  (type, size, problem) => {
    expect(() => dataKeyOf(Buffer.alloc(size), type)).toThrow(problem);
  },
);
