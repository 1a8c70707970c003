// --service-account-private-key-file: the key that signs tokens in Secrets, and what is none.
import { generateKeyPairSync } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { verificationKey, verifyJwt } from "../../../api/pki/jwt.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import {
  clusterTokenSigner,
  tokenSigner,
} from "../../../cli/parts/signing-authorities.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const own = createPrivateKeyPem();
const file = (content: string | Buffer): string => {
  const name = path.join(directory(), `${Math.random()}.key`);
  fs.writeFileSync(name, content);
  return name;
};
const values = (name?: string) =>
  parseOptions(
    controllerManagerOptions,
    name === undefined ? [] : [`--service-account-private-key-file=${name}`],
  );
const signs = (
  signer: ReturnType<typeof tokenSigner>,
  key: string | Buffer,
): boolean =>
  verifyJwt(signer!.serviceAccountTokenSigner!.sign({ a: 1 }), [
    verificationKey(key),
  ]) !== undefined;

test("the file's key signs, and none without it", () => {
  const given = createPrivateKeyPem();
  expect(tokenSigner(values())).toBeUndefined();
  expect(signs(tokenSigner(values(file(given))), given)).toBe(true);
  expect(signs(tokenSigner(values(file(given))), own)).toBe(false);
});

test("in a whole cluster: the controllers' key, the server's, its own", () => {
  const [first, second] = [createPrivateKeyPem(), createPrivateKeyPem()];
  const server = (...argv: string[]) => parseOptions(serverOptions, argv);
  const withFile = server(`--service-account-signing-key-file=${file(second)}`);
  expect(
    signs(clusterTokenSigner(values(file(first)), withFile, own), first),
  ).toBe(true);
  expect(signs(clusterTokenSigner(values(), withFile, own), second)).toBe(true);
  expect(signs(clusterTokenSigner(values(), server(), own), own)).toBe(true);
});

test.each<[string, () => string]>([
  ["a file that is not there", () => "/nowhere/sa.key"],
  ["no key", () => file("text")],
  [
    "a public key",
    () =>
      file(
        generateKeyPairSync("ec", {
          namedCurve: "P-256",
          publicKeyEncoding: { type: "spki", format: "pem" },
          privateKeyEncoding: { type: "pkcs8", format: "pem" },
        }).publicKey,
      ),
  ],
  [
    "a key that signs no tokens",
    () =>
      file(
        generateKeyPairSync("ed25519", {
          publicKeyEncoding: { type: "spki", format: "pem" },
          privateKeyEncoding: { type: "pkcs8", format: "pem" },
        }).privateKey,
      ),
  ],
])("%s is refused by the option's name", (_name, make) => {
  expect(() => tokenSigner(values(make()))).toThrow(
    "--service-account-private-key-file",
  );
});

test("a period of no time is refused", () => {
  expect(() =>
    parseOptions(controllerManagerOptions, [
      "--legacy-service-account-token-clean-up-period=0s",
    ]),
  ).toThrow("legacy-service-account-token-clean-up-period");
});
