// A patch's result is decoded like a body, but what does not fit is a 422 that shows the patch: the patched object as
// JSON for JSON and merge patches, the patch itself in the reference's notation for maps for strategic ones.
import { conform, TypeMismatch } from "../../api/codec/conform.ts";
import {
  strictDecodingError,
  type FieldValidation,
} from "../../api/codec/json.ts";
import { errors, type ApiError } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { ObjectSchema } from "../../api/schema.ts";

/** `changed` is used up; `textProblems` are those of the patch's own text. `warn` takes the problems in mode Warn. Throws ApiError 422. */
export function conformPatched(
  changed: AnyObject,
  schema: ObjectSchema,
  mode: FieldValidation,
  strategicPatch: unknown,
  warn: (problem: string) => void,
  textProblems: readonly string[] = [],
): AnyObject {
  const refuse = (why: string): ApiError =>
    invalidPatch(
      strategicPatch === undefined
        ? JSON.stringify(changed)
        : mapNotation(strategicPatch),
      why,
    );
  let conformed: ReturnType<typeof conform>;
  try {
    conformed = conform(changed, schema, mode !== "Ignore");
  } catch (error) {
    if (error instanceof TypeMismatch) throw refuse(error.message);
    throw error;
  }
  const problems = [
    ...textProblems,
    ...conformed.problems.map(
      ({ kind, path }) => `${kind} field ${JSON.stringify(path)}`,
    ),
  ];
  if (problems.length > 0 && mode === "Strict")
    throw refuse(strictDecodingError(problems));
  problems.forEach(warn);
  return conformed.object as AnyObject;
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

/** `map[spec:map[replicas:3]]`, `[a b]`, keys sorted. */
function mapNotation(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(mapNotation).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${key}:${mapNotation(inner)}`);
  return `map[${fields.join(" ")}]`;
}
