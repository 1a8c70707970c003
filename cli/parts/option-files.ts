// Files that options name. A file that can't be read, or lacks what the option needs, is a UsageError naming the option:
// an empty or damaged file never counts as "nothing configured".
import type { CertificatePair } from "../../api/pki/certificate.ts";
import {
  X509Certificate,
  createPrivateKey,
  createPublicKey,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";

export function readOptionFile(optionName: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--${optionName}: ${(error as Error).message}`);
  }
}

/** The certificates of a file of authorities; a UsageError where it holds none. */
export function readAuthorityFile(optionName: string, file: string): string {
  const text = readOptionFile(optionName, file);
  try {
    const certificates = text.match(
      /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g,
    );
    if (!certificates)
      throw new Error("data does not contain any valid certificates");
    for (const each of certificates) new X509Certificate(each);
    createSecureContext({ ca: text });
  } catch (error) {
    throw new UsageError(
      `--${optionName}: ${file}: ${(error as Error).message}`,
    );
  }
  return text;
}

/** @param what the options as messages name them */
export function checkPair(
  what: string,
  { certificate, key }: CertificatePair,
): void {
  let fits: boolean;
  try {
    fits = new X509Certificate(certificate).checkPrivateKey(
      createPrivateKey(key),
    );
    if (fits) createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new UsageError(`${what}: ${(error as Error).message}`);
  }
  if (!fits)
    throw new UsageError(`${what}: the key is not that of the certificate`);
}

/** The pair of two options, where both are given; a UsageError where only one is, or they do not make a pair. */
export function readPair(
  values: OptionValues,
  certificateName: string,
  keyName: string,
): CertificatePair | undefined {
  const certificateFile = values.optionalText(certificateName);
  const keyFile = values.optionalText(keyName);
  if (!certificateFile && !keyFile) return undefined;
  if (!certificateFile || !keyFile)
    throw new UsageError(
      `--${certificateName} and --${keyName} must be given together`,
    );
  const pair = {
    certificate: readOptionFile(certificateName, certificateFile),
    key: Buffer.from(readOptionFile(keyName, keyFile)),
  };
  checkPair(`--${certificateName}, --${keyName}`, pair);
  return pair;
}

/** A key of either kind, PEM. */
export function readKeyFile(
  optionName: string,
  file: string,
  kind: "public" | "private",
): Buffer {
  const text = readOptionFile(optionName, file);
  try {
    if (kind === "private") createPrivateKey(text);
    else createPublicKey(text);
  } catch (error) {
    throw new UsageError(
      `--${optionName}: ${file}: ${(error as Error).message}`,
    );
  }
  return Buffer.from(text);
}
