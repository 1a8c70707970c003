// A certificate's extensions and signature algorithm, read from its DER: what node:crypto does not show.
// Everything here may come from a stranger: what is not sound throws a RangeError.
import { DerReader, readOid, Tag } from "./der.ts";

interface Extension {
  readonly critical: boolean;
  /** DER of the extension's own type. */
  readonly value: Buffer;
}

export interface CertificateFields {
  /** Dotted. */
  readonly signatureAlgorithm: string;
  /** 1, 2 or 3. */
  readonly version: number;
  /** By dotted identifier. */
  readonly extensions: ReadonlyMap<string, Extension>;
}

const BOOLEAN = 0x01;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;

export function readCertificateFields(der: Buffer): CertificateFields {
  const outer = new DerReader(der).enter(Tag.sequence);
  const body = outer.enter(Tag.sequence);
  const signatureAlgorithm = readOid(
    outer.enter(Tag.sequence).expect(Tag.oid).content,
  );
  let version = 1;
  const extensions = new Map<string, Extension>();
  while (!body.done) {
    const { tag, content } = body.read();
    if (tag === VERSION)
      version = (new DerReader(content).read().content[0] ?? 0) + 1;
    if (tag !== EXTENSIONS) continue;
    const list = new DerReader(content).enter(Tag.sequence);
    while (!list.done) {
      const item = list.enter(Tag.sequence);
      const id = readOid(item.expect(Tag.oid).content);
      let next = item.read();
      const critical = next.tag === BOOLEAN && next.content[0] !== 0;
      if (next.tag === BOOLEAN) next = item.read();
      if (next.tag !== Tag.octetString)
        throw new RangeError(`extension ${id} has no octet string`);
      if (extensions.has(id)) throw new RangeError(`extension ${id} twice`);
      extensions.set(id, { critical, value: next.content });
    }
  }
  return { signatureAlgorithm, version, extensions };
}
