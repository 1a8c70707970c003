// Why a definition's schemas are not structural: those that were stored by older servers, and those that keep all unknown
// fields. New ones are refused when they are validated.
import { findCondition } from "../../api/objects/conditions.ts";
import { fieldErrors } from "../../api/field-errors.ts";
import type { FieldError } from "../../api/errors.ts";
import {
  structuralProblems,
  whyUnsupported,
} from "../../api/structural/structural-check.ts";
import { finish } from "../../api/queueing/steps.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type { NewCondition } from "./definition-status.ts";

/** Undefined: all are structural. */
export function nonStructural({
  spec,
  status,
}: Readonly<CustomResourceDefinition>): NewCondition | undefined {
  // What was validated by today's rules is structural, unless it asks for all unknown fields.
  const suspected =
    spec.preserveUnknownFields ||
    findCondition(status?.conditions, "NonStructuralSchema");
  if (!suspected) return undefined;
  const problems: FieldError[] = [];
  if (spec.preserveUnknownFields)
    problems.push(
      fieldErrors.invalid("spec.preserveUnknownFields", true, "must be false"),
    );
  for (const [index, { name, schema }] of spec.versions.entries()) {
    if (!schema?.openAPIV3Schema) continue;
    const why = finish(whyUnsupported(schema.openAPIV3Schema));
    if (why !== undefined)
      return {
        type: "NonStructuralSchema",
        status: "Unknown",
        reason: "StructuralError",
        message: `failed to check validation schema for version ${name}: ${why}`,
      };
    problems.push(
      ...finish(
        structuralProblems(
          schema.openAPIV3Schema,
          `spec.versions[${index}].schema.openAPIV3Schema`,
        ),
      ),
    );
  }
  const texts = new Set(
    problems.map(({ field, detail }) => `${field}: ${detail}`),
  );
  if (texts.size === 0) return undefined;
  const [only] = texts;
  return {
    type: "NonStructuralSchema",
    status: "True",
    reason: "Violations",
    message: texts.size === 1 ? only! : `[${[...texts].join(", ")}]`,
  };
}
