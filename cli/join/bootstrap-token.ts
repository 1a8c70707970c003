// Bootstrap tokens, `abcdef.0123456789abcdef`: an id, which is no secret, and a secret. And the pin of an authority:
// sha256 of its public key, as kubeadm writes it.
import { createHash, randomInt, X509Certificate } from "node:crypto";
import { UsageError } from "../options/table.ts";

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

const random = (count: number): string =>
  Array.from({ length: count }, () => letters[randomInt(letters.length)]).join(
    "",
  );

export function createToken(): BootstrapToken {
  return { id: random(6), secret: random(16) };
}

/** @throws UsageError that does not repeat what was given */
export function parseToken(text: string, what = "--token"): BootstrapToken {
  const [, id, secret] = form.exec(text) ?? [];
  if (id === undefined || secret === undefined)
    throw new UsageError(
      `${what}: a token is six letters and digits, a dot, and sixteen more (abcdef.0123456789abcdef)`,
    );
  return { id, secret };
}

export function tokenText({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`;
}

/** `sha256:HEX` of an authority's public key. @param certificate PEM */
export function authorityPin(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({
    type: "spki",
    format: "der",
  });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** @throws UsageError for one that is none */
export function checkPin(text: string): string {
  if (!/^sha256:[0-9a-f]{64}$/i.test(text))
    throw new UsageError(
      `invalid argument "${text}" for "--discovery-token-ca-cert-hash": must be sha256: and 64 hexadecimal digits`,
    );
  return text.toLowerCase();
}
