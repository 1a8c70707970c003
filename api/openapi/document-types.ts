// The media types of the documents, and which of them an Accept header asks for.

export const JSON_TYPE = "application/json";

/** The subtype that clients ask with has an "@", which a well-formed one may not: answers carry the other. */
const protobufSubtypes = (version: 2 | 3): readonly string[] => [
  `com.github.proto-openapi.spec.v${version}.v1.0+protobuf`,
  `com.github.proto-openapi.spec.v${version}@v1.0+protobuf`,
];

/** A clause of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
}

export const contentTypeOf = (version: 2 | 3, protobuf: boolean): string =>
  protobuf ? `application/${protobufSubtypes(version)[0]!}` : JSON_TYPE;

const anything: MediaRange = { type: "*", subtype: "*" };

/** Whether protobuf is the first form that is accepted; undefined: none is. */
export function takesProtobuf(
  version: 2 | 3,
  accepts: readonly MediaRange[] = [anything],
): boolean | undefined {
  const subtypes = protobufSubtypes(version);
  for (const { type, subtype } of accepts) {
    if (type !== "*" && type !== "application") continue;
    if (subtype === "*" || subtype === "json") return false;
    if (subtypes.includes(subtype)) return true;
  }
  return undefined;
}
