// Is a certificate from one of these authorities, over the intermediates that came with it? Path building as far as
// clients need it (RFC 5280): signatures, names, times, basic constraints with path lengths, key usage, extended key
// usage down the path, name constraints as far as the path has no names they speak of.
// Invariant: the check refuses all it does not understand (a critical extension, a constraint) and broken algorithms.
import type { X509Certificate } from "node:crypto";
import { DerReader, Tag } from "./der.ts";
import { readCertificateFields, type CertificateFields } from "./extensions.ts";

/** Certificates between the leaf and the authority. */
export const maxIntermediates = 8;
/** Signatures are what verifying costs. */
const maxSignatures = 32;

const KEY_USAGE = "2.5.29.15";
const ALTERNATIVE_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const NAME_CONSTRAINTS = "2.5.29.30";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const ANY_USAGE = "2.5.29.37.0";
/** Those that may be critical: checked here, or saying nothing of who may be trusted. */
const understood: ReadonlySet<string> = new Set([
  KEY_USAGE,
  ALTERNATIVE_NAME,
  BASIC_CONSTRAINTS,
  NAME_CONSTRAINTS,
  EXTENDED_KEY_USAGE,
  // Subject and authority key identifiers, distribution points, policies, authority information.
  "2.5.29.14",
  "2.5.29.35",
  "2.5.29.31",
  "2.5.29.32",
  "1.3.6.1.5.5.7.1.1",
]);
/** MD2, MD5 and SHA-1, with RSA, DSA and ECDSA. */
const broken: ReadonlySet<string> = new Set([
  "1.2.840.113549.1.1.2",
  "1.2.840.113549.1.1.4",
  "1.2.840.113549.1.1.5",
  "1.3.14.3.2.29",
  "1.2.840.10040.4.3",
  "1.2.840.10045.4.1",
]);
/** Of names in constraints: e-mail, DNS, URI, IP address. Others speak of subjects, too. */
const alternativeNameTags: ReadonlySet<number> = new Set([
  0x81, 0x82, 0x86, 0x87,
]);

interface ChainOptions {
  readonly authorities: readonly X509Certificate[];
  /** As they were sent, in any order; only the first few count. */
  readonly intermediates?: readonly X509Certificate[];
  readonly nowMs: number;
  /** The extended key usage (dotted) every certificate of the path must allow, if it limits usages at all. */
  readonly usage: string;
}

/** When every certificate of the path is valid. Epoch milliseconds. */
interface VerifiedChain {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

interface Link {
  readonly certificate: X509Certificate;
  readonly fields: CertificateFields;
}

/** Undefined: there is no path. Never throws. */
export function verifyChain(
  leaf: X509Certificate,
  options: ChainOptions,
): VerifiedChain | undefined {
  try {
    return new Search(options).from([linkOf(leaf)]);
  } catch {
    // Not a sound certificate.
    return undefined;
  }
}

function linkOf(certificate: X509Certificate): Link {
  return { certificate, fields: readCertificateFields(certificate.raw) };
}

class Search {
  readonly #options: ChainOptions;
  readonly #intermediates: readonly X509Certificate[];
  #signatures = 0;

  constructor(options: ChainOptions) {
    this.#options = options;
    this.#intermediates = (options.intermediates ?? []).slice(
      0,
      maxIntermediates,
    );
  }

  /** @param path from the leaf up to the last certificate whose issuer is looked for */
  from(path: readonly Link[]): VerifiedChain | undefined {
    const last = path.at(-1)!;
    if (!this.#isSound(last)) return undefined;
    for (const authority of this.#options.authorities) {
      const link = linkOf(authority);
      if (!this.#isIssuer(last, link)) continue;
      if (!this.#isSound(link, true)) continue;
      const full = [...path, link];
      if (full.every((_, at) => at === 0 || mayIssue(full, at)))
        return validityOf(full);
    }
    if (path.length > maxIntermediates) return undefined;
    for (const certificate of this.#intermediates) {
      if (path.some((link) => link.certificate.raw.equals(certificate.raw)))
        continue;
      const link = linkOf(certificate);
      // An intermediate that does not say it is an authority is none, whatever its version.
      if (!certificate.ca || !this.#isIssuer(last, link)) continue;
      const found = this.from([...path, link]);
      if (found) return found;
    }
    return undefined;
  }

  #isIssuer({ certificate }: Link, { certificate: issuer }: Link): boolean {
    if (!certificate.checkIssued(issuer)) return false;
    if (++this.#signatures > maxSignatures)
      throw new RangeError("too many paths");
    return certificate.verify(issuer.publicKey);
  }

  #isSound({ certificate, fields }: Link, isAuthority = false): boolean {
    const { nowMs, usage } = this.#options;
    const { notBeforeMs, notAfterMs } = validityOf([{ certificate, fields }]);
    if (!(nowMs >= notBeforeMs && nowMs <= notAfterMs)) return false;
    // A trusted authority need not prove itself by its own signature.
    if (!isAuthority && broken.has(fields.signatureAlgorithm)) return false;
    for (const [id, { critical }] of fields.extensions)
      if (critical && !understood.has(id)) return false;
    const usages = certificate.keyUsage as string[] | undefined;
    return !usages || usages.includes(usage) || usages.includes(ANY_USAGE);
  }
}

function validityOf(path: readonly Link[]): VerifiedChain {
  return {
    notBeforeMs: Math.max(
      ...path.map(({ certificate }) => Date.parse(certificate.validFrom)),
    ),
    notAfterMs: Math.min(
      ...path.map(({ certificate }) => Date.parse(certificate.validTo)),
    ),
  };
}

/** May the certificate at this place of the path issue those before it? */
function mayIssue(path: readonly Link[], at: number): boolean {
  const { certificate, fields } = path[at]!;
  const { extensions } = fields;
  // Before version 3 there was nowhere to say that it is an authority's: being trusted is enough.
  if (!certificate.ca && fields.version >= 3) return false;
  const usage = extensions.get(KEY_USAGE);
  if (usage && !maySignCertificates(usage.value)) return false;
  const basic = extensions.get(BASIC_CONSTRAINTS);
  const length = basic && pathLengthOf(basic.value);
  const below = path
    .slice(1, at)
    .filter(({ certificate: each }) => each.subject !== each.issuer).length;
  if (length !== undefined && below > length) return false;
  const names = extensions.get(NAME_CONSTRAINTS);
  return !names || constrainsNothing(names.value, path.slice(0, at));
}

/** Bit 5 of the bit string; its first byte counts the unused bits. */
function maySignCertificates(value: Buffer): boolean {
  const { content } = new DerReader(value).expect(Tag.bitString);
  return ((content[1] ?? 0) & 0x04) !== 0;
}

/** Of intermediates below; undefined: any number. */
function pathLengthOf(value: Buffer): number | undefined {
  const fields = new DerReader(value).enter(Tag.sequence);
  while (!fields.done) {
    const { tag, content } = fields.read();
    if (tag === Tag.integer)
      return content.length > 4
        ? Infinity
        : content.readIntBE(0, content.length);
  }
  return undefined;
}

/** The constraints are on alternative names alone, and no certificate below has any: they could forbid nothing. */
function constrainsNothing(value: Buffer, below: readonly Link[]): boolean {
  if (below.some(({ fields }) => fields.extensions.has(ALTERNATIVE_NAME)))
    return false;
  const trees = new DerReader(value).enter(Tag.sequence);
  while (!trees.done) {
    const list = new DerReader(trees.read().content);
    while (!list.done) {
      const base = list.enter(Tag.sequence).read();
      if (!alternativeNameTags.has(base.tag)) return false;
    }
  }
  return true;
}
