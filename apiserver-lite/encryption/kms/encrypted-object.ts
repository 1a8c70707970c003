// EncryptedObject: what the reference stores of a value that a KMS v2 provider encrypts, and what it takes of one: the
// value under a data key, and what the plug-in needs to give back that key. The error texts are the reference's.
//
// Example: `k8s:enc:kms:v2:NAME:` and 0a <encryptedData> 12 <keyID> 1a <encryptedDEKSource> 22 <annotations> 28 01.
import { dnsSubdomainProblems } from "../../../api/names.ts";
import { createWireCodec, type WireTable } from "../../../grpc/wire.ts";

/** Where the data key comes from. */
export const dekSourceTypes = {
  /** It is the plaintext of the source. */
  aesGcmKey: 0,
  /** Each value has one of its own, derived from the plaintext of the source and bytes in front of the value. */
  hkdfSeed: 1,
} as const;

export type Annotations = Readonly<Record<string, Uint8Array>>;

/** What names a data key, and what a plug-in needs to decrypt it. */
export interface DekSource {
  readonly keyID: string;
  readonly encryptedDEKSource: Uint8Array;
  readonly annotations: Annotations;
  readonly encryptedDEKSourceType: number;
}

export interface EncryptedObject extends DekSource {
  readonly encryptedData: Uint8Array;
}

const table: WireTable = {
  EncryptedObject: [
    ["encryptedData", 1, "bytes", 0],
    ["keyID", 2, "string", 0],
    ["encryptedDEKSource", 3, "bytes", 0],
    ["annotations", 4, "bytes", 2],
    ["encryptedDEKSourceType", 5, "int32", 0],
  ],
};
const codec = createWireCodec(table);

const maxAnnotationsBytes = 32 * 1024;
const maxKeyIdBytes = 1024;
const maxSourceBytes = 1024;

/** Throws for an object that is not to be stored. */
export function encodeEncryptedObject(object: EncryptedObject): Buffer {
  if (object.encryptedData.length === 0)
    throw new Error("encrypted data is empty");
  return codec.encode("EncryptedObject", object);
}

/** Throws for bytes that are none. */
export function decodeEncryptedObject(bytes: Uint8Array): EncryptedObject {
  const object = parsed(bytes);
  refuseType(object);
  if (object.encryptedData.length === 0)
    throw new Error("encrypted data is empty");
  refuseSource(object);
  return object;
}

function parsed(bytes: Uint8Array): EncryptedObject {
  try {
    const fields = codec.decode("EncryptedObject", bytes);
    return {
      encryptedData: fields["encryptedData"] as Buffer,
      keyID: fields["keyID"] as string,
      encryptedDEKSource: fields["encryptedDEKSource"] as Buffer,
      annotations: fields["annotations"] as Annotations,
      encryptedDEKSourceType: fields["encryptedDEKSourceType"] as number,
    };
  } catch (error) {
    throw new Error("proto: cannot parse invalid wire-format data", {
      cause: error,
    });
  }
}

/** Throws for what a plug-in must not answer. */
export function refuseDekSource(source: DekSource): void {
  refuseType(source);
  refuseSource(source);
}

function refuseType({ encryptedDEKSourceType: type }: DekSource): void {
  if (type !== dekSourceTypes.aesGcmKey && type !== dekSourceTypes.hkdfSeed)
    throw new Error(`unknown encryptedDEKSourceType: ${type}`);
}

function refuseSource({
  encryptedDEKSource: source,
  keyID,
  annotations,
}: DekSource): void {
  const failed = "failed to validate encrypted DEK source:";
  if (source.length === 0)
    throw new Error(`${failed} encrypted DEK source is empty`);
  if (source.length > maxSourceBytes)
    throw new Error(
      `${failed} encrypted DEK source is ${source.length} bytes, which exceeds the max size of ${maxSourceBytes}`,
    );
  const problem = keyIdProblem(keyID);
  if (problem) throw new Error(`failed to validate key id: ${problem.text}`);
  refuseAnnotations(annotations);
}

/** `error` is what metrics call it. */
export function keyIdProblem(
  keyId: string,
): { error: "empty" | "too_long"; text: string } | undefined {
  if (keyId === "") return { error: "empty", text: "keyID is empty" };
  const bytes = Buffer.byteLength(keyId);
  return bytes > maxKeyIdBytes
    ? {
        error: "too_long",
        text: `keyID is ${bytes} bytes, which exceeds the max size of ${maxKeyIdBytes}`,
      }
    : undefined;
}

function refuseAnnotations(annotations: Annotations): void {
  const problems: string[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations)) {
    const problem = domainProblem(name);
    if (problem !== undefined)
      problems.push(
        `annotations: Invalid value: ${JSON.stringify(name)}: ${problem}`,
      );
    bytes += Buffer.byteLength(name) + value.length;
  }
  if (bytes > maxAnnotationsBytes)
    problems.push(
      `total size of annotations is ${bytes}, which exceeds the max size of ${maxAnnotationsBytes}`,
    );
  if (problems.length === 0) return;
  const text = problems.length > 1 ? `[${problems.join(", ")}]` : problems[0];
  throw new Error(`failed to validate annotations: ${text}`);
}

/** Of a fully qualified domain name. */
function domainProblem(name: string): string | undefined {
  if (name === "") return "must be a domain name";
  const domain = name.endsWith(".") ? name.slice(0, -1) : name;
  const [problem] = dnsSubdomainProblems(domain);
  if (problem !== undefined) return problem;
  return domain.split(".").length < 2
    ? "should be a domain with at least two segments separated by dots"
    : undefined;
}
