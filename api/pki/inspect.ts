// Reading certificates, by node:crypto: who, for which names, until when, and whether it is time to renew.
import { X509Certificate } from "node:crypto";
import { DerReader, Tag } from "./der.ts";
import { decodeSubject, type Subject } from "./names.ts";

interface CertificateInfo {
  readonly subject: Required<Subject>;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly dnsNames: readonly string[];
  /** As written by node:crypto: IPv6 addresses are in full upper-case form. */
  readonly ipAddresses: readonly string[];
  readonly isAuthority: boolean;
  /** sha256 of the DER in lower-case hex. */
  readonly fingerprint: string;
}

/** @param certificate PEM (the first of a bundle) or DER. Throws on anything else. */
export function inspectCertificate(
  certificate: string | Buffer,
): CertificateInfo {
  const parsed = new X509Certificate(certificate);
  const names = (parsed.subjectAltName ?? "").split(
    /, (?=(?:DNS|IP Address|URI|email):)/,
  );
  const withPrefix = (prefix: string) =>
    names
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  return {
    subject: certificateSubject(parsed.raw),
    issuer: parsed.issuer,
    notBeforeMs: new Date(parsed.validFrom).getTime(),
    notAfterMs: new Date(parsed.validTo).getTime(),
    dnsNames: withPrefix("DNS:"),
    ipAddresses: withPrefix("IP Address:"),
    isAuthority: parsed.ca,
    fingerprint: parsed.fingerprint256.replaceAll(":", "").toLowerCase(),
  };
}

/** Subject of a certificate in DER, with every organization (text forms of names are ambiguous). */
export function certificateSubject(der: Buffer): Required<Subject> {
  const body = new DerReader(der).enter(Tag.sequence).enter(Tag.sequence);
  let value = body.read();
  for (let skipped = value.tag === 0xa0 ? 0 : 1; skipped < 5; skipped++)
    value = body.read();
  return decodeSubject(value.raw);
}

/** When two thirds of its life are over. Epoch milliseconds. */
export function renewalTimeMs({
  notBeforeMs,
  notAfterMs,
}: Pick<CertificateInfo, "notBeforeMs" | "notAfterMs">): number {
  return notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3;
}
