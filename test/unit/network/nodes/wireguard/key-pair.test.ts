// The node's key pair: made once and kept; the public key is X25519's.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  isWireguardKey,
  wireguardKeys,
} from "../../../../../network/nodes/wireguard/key-pair.ts";
import { useTempDirectories } from "../../../../support/temp-directory.ts";

const directory = useTempDirectories();

test("made once, in a file of its owner alone", () => {
  const file = path.join(directory(), "data", "wireguard.key");
  const keys = wireguardKeys(file);
  expect(isWireguardKey(keys.publicKey)).toBe(true);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(wireguardKeys(file)).toEqual(keys);
});

test("the public key is the one that `wg pubkey` has for the private key", () => {
  const file = path.join(directory(), "wireguard.key");
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, n) => n + 1));
  fs.writeFileSync(file, `${bytes.toString("base64")}\n`);
  expect(wireguardKeys(file).publicKey).toBe(
    "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9/AsrhtHHw=",
  );
});

test("a damaged file is an error with its name, and stays", () => {
  const file = path.join(directory(), "wireguard.key");
  for (const text of ["", "no key\n", `${"A".repeat(43)}=`]) {
    fs.writeFileSync(file, text);
    expect(() => wireguardKeys(file)).toThrow(file);
    expect(fs.readFileSync(file, "utf8")).toBe(text);
  }
});
