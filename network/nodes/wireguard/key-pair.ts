// The node's key pair of WireGuard: X25519, made once and kept in a file that has the private key as `wg` writes one. A file
// that can't be read as a key is an error and never replaced: other nodes know the key's other half.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
} from "node:crypto";
import {
  readKeyIfAny,
  writePrivateFile,
} from "../../../http-kit/certificates/private-files.ts";

export interface WireguardKeys {
  /** Base64 of 32 bytes. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** Of RFC 8410: what comes before the 32 bytes of a private key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b656e04220420", "hex");
/** 32 bytes in base64: the last digit before the padding has two bits that are zero. */
const keyPattern = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const zeroKey = Buffer.alloc(32).toString("base64");

export function isWireguardKey(text: string): boolean {
  return keyPattern.test(text) && text !== zeroKey;
}

function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, Buffer.from(privateKey, "base64")]),
    format: "der",
    type: "pkcs8",
  });
  const { x } = createPublicKey(key).export({ format: "jwk" });
  return Buffer.from(x!, "base64url").toString("base64");
}

/** Throws for a file that holds no key, with the file's name. */
export function wireguardKeys(file: string): WireguardKeys {
  const found = readKeyIfAny(file)?.toString("latin1").trim();
  if (found !== undefined && !isWireguardKey(found))
    throw new Error(
      `${file} holds no WireGuard key: remove it, and the node gets a new one`,
    );
  if (found !== undefined)
    return { privateKey: found, publicKey: publicKeyOf(found) };
  const { d } = generateKeyPairSync("x25519").privateKey.export({
    format: "jwk",
  });
  const privateKey = Buffer.from(d!, "base64url").toString("base64");
  writePrivateFile(file, `${privateKey}\n`);
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}
