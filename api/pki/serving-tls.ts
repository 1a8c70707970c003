// What every TLS port of the program has in common: the lowest version, the cipher suites, and which certificate is shown
// to a client that asks for a name (SNI). TLS 1.2 is the floor whatever is asked for.
import type { CertificatePair } from "./certificate.ts";
import type { PrivateKeyPem } from "./keys.ts";
import { X509Certificate } from "node:crypto";
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from "node:tls";

export interface TlsLimits {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** OpenSSL's names, colons between. */
  readonly ciphers: string;
}

/** AES-128 first, as the reference prefers it: a third cheaper on bulk than AES-256. The rest are Node's. */
export const defaultTlsLimits: TlsLimits = {
  minVersion: "TLSv1.2",
  ciphers: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
};

/** PEM; the certificate may hold its chain. */
export interface NamedPair {
  readonly certificate: string;
  readonly key: PrivateKeyPem;
  /** Host names, `*.example.com` for one label; empty: those of the certificate. */
  readonly names: readonly string[];
}

export interface ServingTls {
  readonly limits?: TlsLimits;
  readonly named?: readonly NamedPair[];
}

/** Options of a TLS server for one pair. */
export function secureContextOptions(
  pair: CertificatePair & { clientCa?: string | undefined },
  { limits = defaultTlsLimits }: ServingTls,
): SecureContextOptions {
  return {
    cert: pair.certificate,
    key: pair.key,
    ciphers: limits.ciphers,
    honorCipherOrder: true,
    minVersion: limits.minVersion,
    ...(pair.clientCa ? { ca: pair.clientCa } : {}),
  };
}

function namesOf(certificate: string): string[] {
  const { subjectAltName = "", subject } = new X509Certificate(certificate);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(
    ([, name]) => name!,
  );
  const commonName = /^CN=(.+)$/m.exec(subject ?? "")?.[1];
  return names.length === 0 && commonName ? [commonName] : names;
}

/**
 * Which pair a client gets by the name it asks for; undefined: the port's own. Given names win over those of
 * certificates, an exact name over a wildcard, and of the same name the first.
 * @param clientCa PEM; whose certificates clients may show
 */
export function contextsByName(
  tls: ServingTls,
  clientCa: string | undefined,
): (name: string) => SecureContext | undefined {
  const contexts = new Map<string, SecureContext>();
  const made = (tls.named ?? []).map((pair) => ({
    pair,
    context: createSecureContext(
      secureContextOptions({ ...pair, clientCa }, tls),
    ),
  }));
  const add = (name: string, context: SecureContext): void => {
    const key = name.toLowerCase();
    if (!contexts.has(key)) contexts.set(key, context);
  };
  for (const { pair, context } of made)
    for (const name of pair.names) add(name, context);
  for (const { pair, context } of made)
    if (pair.names.length === 0)
      for (const name of namesOf(pair.certificate)) add(name, context);
  return (asked) => {
    const name = asked.toLowerCase().replace(/\.$/, "");
    return contexts.get(name) ?? contexts.get(name.replace(/^[^.]+/, "*"));
  };
}

/**
 * The SNICallback of a TLS server.
 * @param reserved names that no certificate of `contextOf` takes
 */
export function serverNameCallback(
  contextOf: () => (name: string) => SecureContext | undefined,
  reserved?: (name: string) => SecureContext | undefined,
): (
  name: string,
  callback: (error: Error | null, context?: SecureContext) => void,
) => void {
  return (name, callback) =>
    callback(null, reserved?.(name) ?? contextOf()(name));
}
