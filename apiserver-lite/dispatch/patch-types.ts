// Which patch a PATCH's content type asks for, refused in two ways as by the reference: its router looks at each type of
// the header without parameters, its handler at the header up to the first semicolon as it is.
import { ApiError, errors } from "../../api/errors.ts";
import type { PatchType } from "../registry/verbs/patch-text.ts";

const patchTypes: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);
const cborApply = "application/apply-patch+cbor";

export interface AskedPatch {
  readonly type: PatchType;
  readonly mediaType: string;
}

export function mediaTypeOfPatch(wanted: PatchType): string {
  for (const [mediaType, type] of patchTypes)
    if (type === wanted) return mediaType;
  throw new Error(`no media type for ${wanted} patches`);
}

/** @param custom of custom resources, which have no strategic patches. Throws ApiError 415. */
export function patchTypeOf(
  header: string | undefined,
  { cbor = false, custom = false }: { cbor?: boolean; custom?: boolean } = {},
): AskedPatch {
  const typeOf = (name: string): PatchType | undefined =>
    cbor && name === cborApply
      ? "apply"
      : custom && patchTypes.get(name) === "strategic"
        ? undefined
        : patchTypes.get(name);
  const named = (header ?? "")
    .split(",")
    .map((one) => one.split(";", 1)[0]!.trim());
  if (!custom && !named.some(typeOf))
    throw new ApiError({
      code: 415,
      reason: "UnsupportedMediaType",
      message: "415: Unsupported Media Type",
      details: {},
    });
  const mediaType = (header ?? "").split(";", 1)[0]!;
  const type = typeOf(mediaType);
  if (type) return { type, mediaType };
  const accepted = [
    ...[...patchTypes.keys()].filter(typeOf),
    ...(cbor ? [cborApply] : []),
  ];
  throw errors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}
