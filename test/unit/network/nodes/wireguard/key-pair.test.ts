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

test("the public key is the one of RFC 7748, section 6.1", () => {
  const file = path.join(directory(), "wireguard.key");
  const base64 = (hex: string): string =>
    Buffer.from(hex, "hex").toString("base64");
  fs.writeFileSync(
    file,
    base64("77076d0a7318a57d3c16c17251b26645df4c2f92ebc0992ac177fba51db92c2a"),
  );
  expect(wireguardKeys(file).publicKey).toBe(
    base64("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"),
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
