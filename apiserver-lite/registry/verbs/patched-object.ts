// A patch's result is decoded like a body, but what does not fit is a 422 that shows the patch: the patched object as
// JSON for JSON and merge patches, the patch itself in the reference's notation for maps for strategic ones, which also
// have words of their own for wrong types.
import { conform, TypeMismatch } from "../../../api/codec/conform.ts";
import {
  strictDecodingError,
  type FieldValidation,
} from "../../../api/codec/json.ts";
import { internalTypeName } from "../../../api/codec/value-type-names.ts";
import { errors, type ApiError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { hasExactNumbers, plainNumbers } from "../../../api/exact-number.ts";
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import {
  isJsonObject,
  jsonKind,
  sortedKeys,
  type JsonObject,
} from "../../../api/patch/json-value.ts";
import { mapNotation, valueType } from "../../../api/patch/map-notation.ts";
import type { Conformed, ObjectSchema } from "../../../api/schema.ts";
import type { Types } from "../kinds/kind-definition.ts";
import type { Change } from "./patch-text.ts";

/** What the object must be. */
interface PatchTarget {
  readonly apiVersion: string;
  readonly info: { group: string; version: string; kind: string };
  readonly schema: ObjectSchema | undefined;
  readonly types: Types;
  readonly custom?: boolean;
}

/** `changed` is used up. `warn` takes the problems in mode Warn. Throws ApiError 422. */
export function conformPatched(
  changed: unknown,
  change: Change,
  target: PatchTarget,
  { mode, warn }: { mode: FieldValidation; warn: (problem: string) => void },
): AnyObject {
  const refuse = (why: string): ApiError =>
    invalidPatch(
      change.shown
        ? mapNotation(change.shown)
        : JSON.stringify(target.custom ? sortedKeys(changed) : changed),
      why,
    );
  if (!isJsonObject(changed))
    throw refuse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(changed)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  let conformed: Pick<Conformed, "object" | "problems">;
  try {
    conformed = decode(changed, change, target, mode !== "Ignore");
  } catch (error) {
    if (error instanceof TypeMismatch)
      throw refuse(change.shown ? wordsForMaps(error) : error.message);
    throw error;
  }
  const unknown = conformed.problems.map(
    ({ kind, path }) => `${kind} field ${JSON.stringify(path)}`,
  );
  // The reference patches maps, and what it writes of a map is in the order of the keys.
  unknown.sort();
  const problems = [...change.problems, ...unknown];
  if (problems.length > 0 && mode === "Strict")
    throw refuse(strictDecodingError(problems));
  if (mode === "Warn") problems.forEach(warn);
  const object = conformed.object as AnyObject;
  if (target.custom) {
    const { apiVersion, info } = target;
    if (object.kind !== info.kind || object.apiVersion !== apiVersion)
      throw otherKind(object, { apiVersion, kind: info.kind });
  }
  object.metadata ??= {} as AnyObject["metadata"];
  object.kind = target.info.kind;
  object.apiVersion = target.apiVersion;
  return object;
}

function decode(
  changed: JsonObject,
  change: Change,
  { apiVersion, info, schema, types, custom }: PatchTarget,
  strict: boolean,
): Pick<Conformed, "object" | "problems"> {
  if (!schema)
    return { object: plainNumbers(changed) as JsonObject, problems: [] };
  if (custom) return conform(changed, schema, strict);
  // Stored objects have none.
  if (change.shown) {
    const exact = hasExactNumbers(change.shown);
    return conform(exact ? plainNumbers(changed) : changed, schema, strict);
  }
  const said = changed as Partial<AnyObject>;
  // Without a version the reference decodes into its internal type, whose fields have other names.
  if (!said.apiVersion)
    return {
      object: {},
      problems: Object.keys(changed)
        .filter((key) => key !== "kind" && key !== "apiVersion")
        .sort()
        .map((path) => ({ kind: "unknown", path })),
    };
  const kind = said.kind || info.kind;
  if (said.apiVersion === apiVersion && kind === info.kind)
    return conform(changed, schema, strict);
  const { version } = parseApiVersion(said.apiVersion);
  const other = types.schemaOf(said.apiVersion, kind);
  if (!other)
    throw new TypeMismatch(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(said.apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    );
  conform(changed, other, false);
  throw new TypeMismatch(
    `converting (${version}.${kind}) to (${internalTypeName(info.group, info.kind)}): unknown conversion`,
  );
}

/** 422: the object is none of the kind, or of another version. */
export function otherKind(
  { kind = "", apiVersion = "", metadata }: AnyObject,
  wanted: { apiVersion: string; kind: string },
): ApiError {
  const { group } = parseApiVersion(wanted.apiVersion);
  return errors.invalid({ group, kind }, metadata?.name ?? "", [
    ...(kind === wanted.kind
      ? []
      : [fieldErrors.invalid("kind", kind, `must be ${wanted.kind}`)]),
    ...(apiVersion === wanted.apiVersion
      ? []
      : [
          fieldErrors.invalid(
            "apiVersion",
            apiVersion,
            `must be ${wanted.apiVersion}`,
          ),
        ]),
  ]);
}

/** The problem of a wrong type as the reference reports it for a map that becomes an object. */
export function wordsForMaps({
  message,
  value,
  type,
  shape,
}: TypeMismatch): string {
  if (shape === undefined)
    return message.startsWith("illegal base64")
      ? `error decoding from json: ${message}`
      : message.replace(/struct field \S+ of type/, "value of type");
  const given = isJsonObject(value)
    ? "map"
    : Array.isArray(value)
      ? "slice"
      : valueType(value);
  if (shape === "struct") return `cannot restore struct from: ${given}`;
  if (shape !== "scalar") return `cannot restore ${shape} from ${given}`;
  const text = !/^(int|float|bool)/.test(type);
  const converts =
    given === "int64"
      ? !type.startsWith("bool")
      : given === "float64" && /^(int|float)/.test(type);
  return converts
    ? `cannot convert ${given} to ${type}`
    : `unrecognized type: ${text ? "string" : type}`;
}

function invalidPatch(shown: string, why: string): ApiError {
  return errors.invalid({ group: "", kind: "" }, "", [
    {
      type: "FieldValueInvalid",
      field: "patch",
      detail: `Invalid value: ${JSON.stringify(shown)}: ${why}`,
    },
  ]);
}
