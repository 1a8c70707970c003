// Certificate signing requests (PKCS #10): made for the agent's certificates, parsed and verified for the certificates
// API. Everything that reaches parseCsr comes from outside: it throws a RangeError on whatever is not a sound request.
import { createPrivateKey } from "node:crypto";
import {
  bitString,
  DerReader,
  integer,
  oid,
  readOid,
  sequence,
  setOf,
  Tag,
  tlv,
} from "./der.ts";
import { extension } from "./certificate.ts";
import { publicKeyDer, type PrivateKeyPem } from "./keys.ts";
import {
  decodeAlternativeNames,
  decodeSubject,
  encodeAlternativeNames,
  encodeSubject,
  type AlternativeNames,
  type Subject,
} from "./names.ts";
import { decodePem, encodePem } from "./pem.ts";
import {
  algorithmIdentifier,
  knowsAlgorithm,
  signDer,
  verifyDer,
} from "./signature.ts";

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";

export interface CertificateRequest extends Required<AlternativeNames> {
  readonly subject: Required<Subject>;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
}

/** A request in PEM, signed with the key (PEM) it asks a certificate for. */
export function createCsr(
  keyPem: PrivateKeyPem,
  subject: Subject,
  names: AlternativeNames = {},
): string {
  const key = createPrivateKey(keyPem);
  const alternativeNames = encodeAlternativeNames(names);
  const attributes = alternativeNames
    ? [
        sequence(
          oid(EXTENSION_REQUEST),
          setOf(
            sequence(extension(SUBJECT_ALTERNATIVE_NAME, alternativeNames)),
          ),
        ),
      ]
    : [];
  const body = sequence(
    integer(Buffer.from([0])),
    encodeSubject(subject),
    publicKeyDer(keyPem),
    tlv(0xa0, ...attributes),
  );
  return encodePem(
    "CERTIFICATE REQUEST",
    sequence(body, algorithmIdentifier(key), bitString(signDer(body, key))),
  );
}

interface SignedRequest {
  readonly request: CertificateRequest;
  readonly body: Buffer;
  /** Dotted. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

const wrongSignature = "the request's signature does not match its key";

/** Parses a request in PEM and checks its signature. */
export function parseCsr(pem: string): CertificateRequest {
  const signed = readCsr(pem);
  if (!isSigned(signed)) throw new RangeError(wrongSignature);
  return signed.request;
}

/** Why no signer could take a request in PEM; undefined also where its algorithm is not known here. */
export function csrProblem(pem: string): string | undefined {
  try {
    const signed = readCsr(pem);
    return isSigned(signed) || !knowsAlgorithm(signed.algorithm)
      ? undefined
      : wrongSignature;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

function isSigned({
  request,
  body,
  algorithm,
  signature,
}: SignedRequest): boolean {
  return verifyDer(body, algorithm, request.publicKey, signature);
}

function readCsr(pem: string): SignedRequest {
  const block = decodePem(pem)[0];
  if (!block || !/^(NEW )?CERTIFICATE REQUEST$/.test(block.label)) {
    throw new RangeError("PEM block type must be CERTIFICATE REQUEST");
  }
  const request = new DerReader(block.der).enter(Tag.sequence);
  const body = request.expect(Tag.sequence);
  const algorithm = readOid(
    request.enter(Tag.sequence).expect(Tag.oid).content,
  );
  const signature = request.expect(Tag.bitString).content.subarray(1);

  const fields = new DerReader(body.content);
  fields.expect(Tag.integer);
  const subject = decodeSubject(fields.expect(Tag.sequence).raw);
  const publicKey = fields.expect(Tag.sequence).raw;
  const names = fields.done ? undefined : requestedNames(fields.enter(0xa0));
  const none = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
  return {
    request: { subject, publicKey, ...(names ?? none) },
    body: body.raw,
    algorithm,
    signature,
  };
}

function requestedNames(
  attributes: DerReader,
): Required<AlternativeNames> | undefined {
  while (!attributes.done) {
    const attribute = attributes.enter(Tag.sequence);
    if (readOid(attribute.expect(Tag.oid).content) !== EXTENSION_REQUEST)
      continue;
    const extensions = attribute.enter(Tag.set).enter(Tag.sequence);
    while (!extensions.done) {
      const item = extensions.enter(Tag.sequence);
      const id = readOid(item.expect(Tag.oid).content);
      let value = item.read();
      if (value.tag === Tag.boolean) value = item.read();
      if (id === SUBJECT_ALTERNATIVE_NAME)
        return decodeAlternativeNames(value.content);
    }
  }
  return undefined;
}
