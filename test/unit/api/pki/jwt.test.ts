// Tokens under keys of all kinds that the reference takes, and that no other algorithm than the key's own counts.
import { generateKeyPairSync } from "node:crypto";
import {
  JwtSigner,
  tokenKeyId,
  verificationKey,
  verifyJwt,
} from "../../../../api/pki/jwt.ts";

const pemOf = (curve: string): string =>
  generateKeyPairSync("ec", { namedCurve: curve })
    .privateKey.export({ format: "pem", type: "pkcs8" })
    .toString();
const keys: [string, string][] = [
  [
    "RS256",
    generateKeyPairSync("rsa", { modulusLength: 2048 })
      .privateKey.export({ format: "pem", type: "pkcs8" })
      .toString(),
  ],
  ["ES256", pemOf("P-256")],
  ["ES384", pemOf("P-384")],
  ["ES512", pemOf("P-521")],
];

test.each(keys)("%s", (algorithm, pem) => {
  const token = new JwtSigner(pem).sign({ a: 1 });
  const key = verificationKey(pem);
  expect(key.algorithm).toBe(algorithm);
  expect(tokenKeyId(token)).toBe(key.id);
  expect(verifyJwt(token, [key])).toEqual({ a: 1 });
  const others = keys.filter(([name]) => name !== algorithm);
  expect(
    verifyJwt(
      token,
      others.map(([, other]) => verificationKey(other)),
    ),
  ).toBeUndefined();
  const [, payload, signature] = token.split(".");
  for (const alg of ["none", "HS256", ...others.map(([name]) => name)]) {
    const header = Buffer.from(JSON.stringify({ alg })).toString("base64url");
    expect(
      verifyJwt(`${header}.${payload}.${signature}`, [key]),
    ).toBeUndefined();
  }
});

test("a key of another curve is no key of tokens", () => {
  expect(() => verificationKey(pemOf("secp256k1"))).toThrow(
    "ServiceAccount keys must be EC P-256, P-384, P-521 or RSA",
  );
});
