// Encryption of stored values: vectors that a stock server 1.32 and openssl made, the order of providers and keys, and
// values that must not open.
import { createCipheriv } from "node:crypto";
import pino from "pino";
import { EncryptionMetrics } from "../../../../apiserver-lite/encryption/encryption-metrics.ts";
import {
  EncryptionRules,
  ValueEncryption,
  type EncryptionProvider,
} from "../../../../apiserver-lite/encryption/value-encryption.ts";
import type {
  ValuePlace,
  ValueSeal,
} from "../../../../apiserver-lite/registry/value-seal.ts";

import { FakeClock } from "../../../support/fake-clock.ts";

const keyA = Buffer.from("0123456789abcdef0123456789abcdef");
const keyB = Buffer.from("123456789abcdef0123456789abcdef0");
const key16 = keyA.subarray(0, 16);
const providers = ["aescbc", "aesgcm", "secretbox"] as const;
type Keyed = (typeof providers)[number];

const provider = (
  type: Keyed,
  ...keys: readonly (readonly [string, Buffer])[]
): EncryptionProvider => ({
  type,
  keys: keys.map(([name, secret]) => ({ name, secret })),
});
const identity: EncryptionProvider = { type: "identity" };
const parts = {
  metrics: new EncryptionMetrics("test"),
  clock: new FakeClock(),
  logger: pino({ level: "silent" }),
};

/** The seal of secrets. */
async function sealOf(
  list: readonly EncryptionProvider[],
  root = "/registry",
): Promise<ValueSeal> {
  const rules = await EncryptionRules.of(
    [{ resources: ["secrets"], providers: list }],
    root,
    parts,
  );
  return new ValueEncryption(rules).sealOf("", "secrets")!;
}

const placeOf = (name: string, resource = "secrets"): ValuePlace => ({
  key: `/registry/${resource}/default/${name}`,
  group: "",
  resource,
});
const place = placeOf("a");
const text = Buffer.from('{"kind":"Secret"}');
const open = (seal: ValueSeal, value: Uint8Array, at = place): Buffer =>
  Buffer.from(seal.open(value, at) as Uint8Array);

// Of a stock server with --etcd-prefix=/foo: a Secret, a ConfigMap and a LimitRange.
const stock: [Keyed, Buffer, ValuePlace, string][] = [
  [
    "aescbc",
    keyA,
    placeOf("s"),
    "azhzOmVuYzphZXNjYmM6djE6azE6rS4icaMgzmB7QftbtIzixumqWuIvN4MZ0SvICxyB9CyHW3N9tx1wVJbmiXX8xRdY8XwDrsRG+bTmXqq2AMFUnOuWM3c2uUPawjwwUQ8kyl7fsML3cJORNa8cw19Tqeo4cRO00iCnwRmPSgYgEESUxVuxUKHAYZQZOH8GPe7+h3337wFnG2G9d4z6igIgcNqIHU7Hj/kZU72WfU7m5MTSvJw7r9Si1lAQiNqDR+77GaG1VnNzY1BjtjUBeovXtkRaYf9AIRcV9sf88GEAM7G4KiZ+xIHrya75ezsoqi0CIPbuw3ZEtoJtvXMTozbQ6kfV",
  ],
  [
    "aesgcm",
    key16,
    placeOf("c", "configmaps"),
    "azhzOmVuYzphZXNnY206djE6azE6LjtVu0EOSgf+hMikjdSfLOqyo5JlpFV6i+jzm8wjUlz9eiUXbZzVPZrLSgOqMHzKANFyMMi7vEmFYwcTEyBGAOImlxmDZjoQCgD4ZCu7OFolw5d6p2kzu95ob0Rc9XoHW0ZcXLG6xuBOCLCGSJdKhYBVXg64Bjzu1UG2Ix2PYAYkR825w0eqDkXn8H7Z0G+e7yThJ0Lyh2Avrae8gDEyVFx3VbPAQFh0K45k/dq9LgWo4NHuSch0wfOPmsLsPVDzbyE/39JY7odMMXpoc6RREK5EUxVMJp1kRlUbxIGWe+F3Su3Hlw==",
  ],
  [
    "secretbox",
    keyA,
    placeOf("l", "limitranges"),
    "azhzOmVuYzpzZWNyZXRib3g6djE6azE6W87L0Va+bzasibPjbWXZxwEXItWC3ggRRwYZAOlXbWBPG6fNbkWaKQAYcePlf+XNo3FTowU/qoj7++lHM3LZyavpv6gpKN4Bd2MlgO0fwegDUHf2S1SuWkr6qSFalKSb6FQ9v2qAvi4fZOddwo/81/chnCwbz3Pgi4l0q3qK7N/4ok5L8JLGusj+A7B5ALu5OTd8yXXnga9zFl5CM+E7o/ClFR6RuqDAWy/kYnwVEJCEYQXdIxyZBAzVl746DJCpyhVovW7G2ZBMLIunpnwuky5vVwJLY2yXjCD4n42h8k/NTNT0Nd5IvDKcgyaNA6qU5Ia1d4zmv6cN3wHdDDzvHwFh/pBPXM6J4E7uBMFWqzN6xTHqHZaNGmIH41z5Tw==",
  ],
];

test.each(stock)("reads %s of a stock server", async (type, key, at, value) => {
  const seal = await sealOf([provider(type, ["k1", key])], "/foo");
  const object = open(seal, Buffer.from(value, "base64"), at);
  expect(object.subarray(0, 4)).toEqual(Buffer.from("k8s\0"));
  expect(object.toString()).toContain("stockclear");
});

test("reads aescbc of openssl enc", async () => {
  // printf '{"kind":"Secret"}' | openssl enc -aes-256-cbc -K … -iv 000102030405060708090a0b0c0d0e0f
  const iv = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
  const sealed = Buffer.concat([
    Buffer.from("k8s:enc:aescbc:v1:k1:"),
    iv,
    Buffer.from("FT7BJhgwxlEIbPWfzljouA6zI54k94z9c4PDZvQWFqc=", "base64"),
  ]);
  const seal = await sealOf([provider("aescbc", ["k1", keyA])]);
  expect(open(seal, sealed)).toEqual(text);
});

describe.each(providers)("%s", (type) => {
  test("writes with the first key under its prefix, in other bytes each time", async () => {
    const seal = await sealOf([
      provider(type, ["new", keyB], ["old", keyA]),
      identity,
    ]);
    const sealed = [text, text, Buffer.alloc(0), Buffer.alloc(70_000, 7)].map(
      (value) => Buffer.from(seal.seal(value, place)),
    );
    for (const each of sealed) {
      const head = `k8s:enc:${type}:v1:new:`;
      expect(each.subarray(0, head.length).toString()).toBe(head);
      expect(each.includes(text)).toBe(false);
    }
    expect(sealed[0]!.equals(sealed[1]!)).toBe(false);
    expect(open(seal, sealed[0]!)).toEqual(text);
    expect(open(seal, sealed[2]!)).toHaveLength(0);
    expect(open(seal, sealed[3]!).equals(Buffer.alloc(70_000, 7))).toBe(true);
  });

  test("every damaged or cut value is refused by name, and so is one of another key of the same name", async () => {
    const seal = await sealOf([provider(type, ["k1", keyA])]);
    const sealed = Buffer.from(seal.seal(text, place));
    const head = `k8s:enc:${type}:v1:k1:`.length;
    for (let length = head; length < sealed.length; length++)
      expect(() => open(seal, sealed.subarray(0, length))).toThrow(
        /^(the stored data|cipher: message|invalid (PKCS7|padding)|output array)/,
      );
    for (let length = 0; length < head; length++)
      expect(() => open(seal, sealed.subarray(0, length))).toThrow(
        /^no matching (key|prefix) /,
      );
    const authenticated = type !== "aescbc";
    for (let at = head; authenticated && at < sealed.length; at++) {
      const damaged = Buffer.from(sealed);
      damaged[at]! ^= 1;
      expect(() => open(seal, damaged)).toThrow();
    }
    const other = await sealOf([provider(type, ["k1", keyB])]);
    if (authenticated) expect(() => open(other, sealed)).toThrow();
    const renamed = await sealOf([provider(type, ["k2", keyA])]);
    expect(() => open(renamed, sealed)).toThrow(
      /^no matching key was found for the provided (AES|Secretbox) transformer$/,
    );
    expect(() => open(seal, text)).toThrow(/^no matching prefix found$/);
  });

  test("a provider that fails passes a value on to the next one with its prefix", async () => {
    const old = await sealOf([provider(type, ["k1", keyA])]);
    const both = await sealOf([
      provider(type, ["k1", keyB]),
      provider("aesgcm", ["k9", keyB]),
      provider(type, ["k1", keyA]),
    ]);
    const sealed = Array.from({ length: 20 }, () => old.seal(text, place));
    // One in 256 paddings of a wrong key is right by chance: such a value opens as something else.
    const opened = sealed.filter((each) => open(both, each).equals(text));
    expect(opened.length).toBeGreaterThan(type === "aescbc" ? 10 : 19);
  });
});

test("aesgcm refuses a value at another key; the key has the store's own root", async () => {
  const list = [provider("aesgcm", ["k1", key16])];
  const seal = await sealOf(list);
  const sealed = seal.seal(text, place);
  expect(() => open(seal, sealed, placeOf("b"))).toThrow(
    "cipher: message authentication failed",
  );
  const elsewhere = await sealOf(list, "/foo");
  expect(() => open(elsewhere, sealed)).toThrow();
  // Byte by byte as the reference lays it out.
  const nonce = Buffer.alloc(12, 3);
  const cipher = createCipheriv("aes-128-gcm", key16, nonce);
  cipher.setAAD(Buffer.from("/foo/secrets/default/a"));
  const made = Buffer.concat([
    ...[Buffer.from("k8s:enc:aesgcm:v1:k1:"), nonce],
    ...[cipher.update(text), cipher.final(), cipher.getAuthTag()],
  ]);
  expect(open(elsewhere, made)).toEqual(text);
});

test("identity reads what is in clear and nothing encrypted, also in front of the provider that reads it", async () => {
  const cbc = provider("aescbc", ["k1", keyA]);
  const sealed = (await sealOf([cbc])).seal(text, place);
  const alone = await sealOf([identity]);
  expect(open(alone, text)).toEqual(text);
  expect(() => open(alone, sealed)).toThrow("no matching prefix found");
  const leaving = await sealOf([identity, cbc]);
  expect(leaving.seal(text, place)).toEqual(text);
  expect(open(leaving, sealed)).toEqual(text);
  expect(leaving.isStale!(sealed, place)).toBe(true);
  expect(leaving.isStale!(text, place)).toBe(false);
});

test("values of other providers and keys than the first are stale", async () => {
  const one = provider("aescbc", ["k1", keyA]);
  const first = await sealOf([one]);
  const sealed = first.seal(text, place);
  expect(first.mayBeStale!()).toBe(false);
  const rotated = await sealOf([
    provider("aescbc", ["k2", keyB], ["k1", keyA]),
  ]);
  expect(rotated.mayBeStale!()).toBe(true);
  expect(rotated.isStale!(sealed, place)).toBe(true);
  const current = rotated.seal(text, place);
  expect(rotated.isStale!(current, place)).toBe(false);
  const other = await sealOf([provider("secretbox", ["k1", keyA]), one]);
  expect(other.isStale!(sealed, place)).toBe(true);
  expect(() => other.isStale!(current, place)).toThrow();
});

test("the first rule of a resource counts: its own, its group's, any; the rest is in clear", async () => {
  const rules = (list: readonly [string, string][]): Promise<EncryptionRules> =>
    EncryptionRules.of(
      list.map(([resource, key]) => ({
        resources: [resource],
        providers: [provider("aescbc", [key, keyA])],
      })),
      "/registry",
      parts,
    );
  const { sealOf: lookup } = new ValueEncryption(
    await rules([
      ["secrets", "own"],
      ["*.apps", "apps"],
      ["*.", "core"],
      ["*.*", "any"],
    ]),
  );
  const keyOf = (seal: ValueSeal): string =>
    Buffer.from(seal.seal(text, place)).toString("latin1").split(":")[4]!;
  expect(keyOf(lookup("", "secrets")!)).toBe("own");
  expect(keyOf(lookup("", "configmaps")!)).toBe("core");
  expect(keyOf(lookup("events.k8s.io", "events")!)).toBe("core");
  expect(keyOf(lookup("apps", "deployments")!)).toBe("apps");
  expect(keyOf(lookup("example.com", "secrets")!)).toBe("any");
  const some = new ValueEncryption(await rules([["secrets", "own"]]));
  const pods = some.sealOf("", "pods")!;
  expect(pods.seal(text, place)).toEqual(text);
  expect(() => open(pods, Buffer.from("k8s:enc:kms:v2:x"))).toThrow(
    "identity transformer tried to read encrypted data",
  );
  await expect(
    rules([
      ["*.", "a"],
      ["secrets", "b"],
    ]),
  ).rejects.toThrow('resource "secrets" is masked by earlier rule "*."');
  await expect(
    rules([
      ["*.*", "a"],
      ["*.apps", "b"],
    ]),
  ).rejects.toThrow('resource "*.apps" is masked by earlier rule "*.*"');
});

test("rules can be exchanged: seals that were given out follow", async () => {
  const of = (key: string): Promise<EncryptionRules> =>
    EncryptionRules.of(
      [
        {
          resources: ["*.*"],
          providers: [provider("aescbc", [key, keyA])],
        },
      ],
      "/registry",
      parts,
    );
  const encryption = new ValueEncryption(await of("a"));
  const seal = encryption.sealOf("", "pods")!;
  const sealed = seal.seal(text, place);
  encryption.use(await of("b"));
  expect(Buffer.from(seal.seal(text, place)).toString("latin1")).toMatch(
    /^k8s:enc:aescbc:v1:b:/,
  );
  expect(() => open(seal, sealed)).toThrow("no matching key");
});
