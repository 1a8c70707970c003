// Making certificates: authorities, and server and client certificates signed by them. Version 3, random serials,
// valid from five minutes ago (clocks differ). DER is written here rather than by a library: issuing a cluster's whole
// set takes milliseconds where loading one takes longer than the server may take to start.
import {
  createHash,
  createPrivateKey,
  randomBytes,
  X509Certificate,
} from "node:crypto";
import {
  DerReader,
  bitString,
  boolean,
  integer,
  octetString,
  oid,
  readOid,
  sequence,
  Tag,
  time,
  tlv,
} from "./der.ts";
import {
  createPrivateKeyPem,
  publicKeyDer,
  type PrivateKeyPem,
} from "./keys.ts";
import {
  encodeAlternativeNames,
  encodeSubject,
  type AlternativeNames,
  type Subject,
} from "./names.ts";
import { decodePem, encodePem } from "./pem.ts";
import { algorithmIdentifier, signDer } from "./signature.ts";

/** Both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: PrivateKeyPem;
}

export type KeyUsage =
  | "digital signature"
  | "content commitment"
  | "key encipherment"
  | "data encipherment"
  | "key agreement"
  | "cert sign"
  | "crl sign";
export type ExtendedKeyUsage =
  | "server auth"
  | "client auth"
  | "code signing"
  | "email protection"
  | "timestamping"
  | "ocsp signing"
  | "any";

export interface CertificateOptions extends AlternativeNames {
  readonly subject: Subject;
  /** Default: digital signature and key encipherment. */
  readonly keyUsages?: readonly KeyUsage[];
  readonly usages: readonly ExtendedKeyUsage[];
  readonly validityMs: number;
  readonly nowMs: number;
  /** How long before now it is valid; default five minutes. */
  readonly backdateMs?: number;
}

export const YEAR_MS = 365 * 24 * 3600 * 1000;
const BACKDATE_MS = 5 * 60 * 1000;
/** An authority is in the trust of others and can't be replaced when a clock that was ahead is set right. */
const AUTHORITY_BACKDATE_MS = YEAR_MS;

/** In the order of their bits. */
const keyUsageBits: readonly KeyUsage[] = [
  "digital signature",
  "content commitment",
  "key encipherment",
  "data encipherment",
  "key agreement",
  "cert sign",
  "crl sign",
];

const extendedKeyUsages: Readonly<Record<ExtendedKeyUsage, string>> = {
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  any: "2.5.29.37.0",
};

/** A self-signed authority with a fresh key. Default validity: ten years. */
export function createCertificateAuthority(options: {
  subject: Subject;
  nowMs: number;
  validityMs?: number;
}): CertificatePair {
  const key = createPrivateKeyPem();
  const publicKey = publicKeyDer(key);
  const subject = encodeSubject(options.subject);
  const keyId = keyIdentifier(publicKey);
  const certificate = signCertificate({
    issuer: subject,
    issuerKey: key,
    subject,
    publicKey,
    notBeforeMs: options.nowMs - AUTHORITY_BACKDATE_MS,
    notAfterMs: options.nowMs + (options.validityMs ?? 10 * YEAR_MS),
    extensions: [
      extension("2.5.29.19", sequence(boolean(true)), true),
      extension(
        "2.5.29.15",
        encodeKeyUsage(["digital signature", "key encipherment", "cert sign"]),
        true,
      ),
      extension("2.5.29.14", octetString(keyId)),
    ],
  });
  return { certificate, key };
}

/** A certificate with a fresh key. */
export function issueCertificate(
  authority: CertificatePair,
  options: CertificateOptions,
): CertificatePair {
  const key = createPrivateKeyPem();
  return {
    certificate: certifyPublicKey(authority, publicKeyDer(key), options),
    key,
  };
}

/** A certificate (PEM) for someone else's public key (SubjectPublicKeyInfo). It never outlives its authority. */
export function certifyPublicKey(
  authority: CertificatePair,
  publicKey: Buffer,
  options: CertificateOptions,
): string {
  const issuer = new X509Certificate(authority.certificate);
  const issuerKeyId = subjectKeyIdentifier(authority.certificate);
  const names = encodeAlternativeNames(options);
  const usages = options.usages.map((usage) => oid(extendedKeyUsages[usage]));
  const keyUsages = options.keyUsages ?? [
    "digital signature",
    "key encipherment",
  ];
  const extensions = [
    // An extension without a bit would make the certificate invalid; none allows every usage.
    ...(keyUsages.length > 0
      ? [extension("2.5.29.15", encodeKeyUsage(keyUsages), true)]
      : []),
    ...(usages.length > 0 ? [extension("2.5.29.37", sequence(...usages))] : []),
    extension("2.5.29.19", sequence(), true),
    ...(issuerKeyId
      ? [extension("2.5.29.35", sequence(tlv(0x80, issuerKeyId)))]
      : []),
    ...(names ? [extension("2.5.29.17", names)] : []),
  ];
  return signCertificate({
    issuer: subjectOf(authority.certificate),
    issuerKey: authority.key,
    subject: encodeSubject(options.subject),
    publicKey,
    notBeforeMs: options.nowMs - (options.backdateMs ?? BACKDATE_MS),
    notAfterMs: Math.min(
      options.nowMs + options.validityMs,
      new Date(issuer.validTo).getTime(),
    ),
    extensions,
  });
}

interface Unsigned {
  readonly issuer: Buffer;
  readonly issuerKey: PrivateKeyPem;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly extensions: readonly Buffer[];
}

function signCertificate(unsigned: Unsigned): string {
  const key = createPrivateKey(unsigned.issuerKey);
  const algorithm = algorithmIdentifier(key);
  const serial = randomBytes(16);
  // Positive and of full length.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    unsigned.issuer,
    sequence(time(unsigned.notBeforeMs), time(unsigned.notAfterMs)),
    unsigned.subject,
    unsigned.publicKey,
    tlv(0xa3, sequence(...unsigned.extensions)),
  );
  return encodePem(
    "CERTIFICATE",
    sequence(body, algorithm, bitString(signDer(body, key))),
  );
}

export function extension(
  id: string,
  content: Buffer,
  critical = false,
): Buffer {
  return sequence(
    oid(id),
    ...(critical ? [boolean(true)] : []),
    octetString(content),
  );
}

function encodeKeyUsage(usages: readonly KeyUsage[]): Buffer {
  let bits = 0;
  for (const usage of usages) bits |= 0x80 >> keyUsageBits.indexOf(usage);
  let unused = 0;
  while (unused < 7 && (bits & (1 << unused)) === 0) unused++;
  return bitString(Buffer.from([bits]), unused);
}

function keyIdentifier(publicKey: Buffer): Buffer {
  return createHash("sha1").update(publicKey).digest();
}

/**
 * The key identifier an authority's certificate gives itself, if it does: what it signs must name exactly that, however
 * the authority's maker computed it.
 */
function subjectKeyIdentifier(certificatePem: string): Buffer | undefined {
  const block = decodePem(certificatePem)[0];
  if (!block) throw new RangeError("not a PEM certificate");
  const body = new DerReader(block.der).enter(Tag.sequence).enter(Tag.sequence);
  while (!body.done) {
    const value = body.read();
    if (value.tag !== 0xa3) continue;
    const extensions = new DerReader(value.content).enter(Tag.sequence);
    while (!extensions.done) {
      const each = extensions.enter(Tag.sequence);
      if (readOid(each.read().content) !== "2.5.29.14") continue;
      let content = each.read();
      // The boolean `critical` may come before the value.
      if (content.tag !== Tag.octetString) content = each.read();
      return new DerReader(content.content).expect(Tag.octetString).content;
    }
  }
  return undefined;
}

/** The subject's bytes as they are in the certificate: an issuer name must match them exactly. */
function subjectOf(certificatePem: string): Buffer {
  const block = decodePem(certificatePem)[0];
  if (!block) throw new RangeError("not a PEM certificate");
  const body = new DerReader(block.der).enter(Tag.sequence).enter(Tag.sequence);
  let value = body.read();
  // [0] version, serial, algorithm, issuer, validity, subject; the version may be left out.
  for (let skipped = value.tag === 0xa0 ? 0 : 1; skipped < 5; skipped++)
    value = body.read();
  return value.raw;
}
