// How a rule that fails is reported: the text that names it, and the kind of problem that its reason asks for.
import type { FieldError } from "../../errors.ts";
import { fieldErrors } from "../../field-errors.ts";
import type { ValidationRule } from "../../types/apiextensions-v1.ts";

/** How problems name a rule. */
export const nameOf = ({ rule, message }: ValidationRule): string =>
  (message ? message : rule).trim();

export const messageOf = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`;

export function problemFor(
  field: string,
  value: string,
  detail: string,
  reason: string | undefined,
): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return fieldErrors.forbidden(field, detail);
    case "FieldValueRequired":
      return fieldErrors.required(field, detail);
    case "FieldValueDuplicate":
      return fieldErrors.duplicate(field, value);
    default:
      return fieldErrors.invalid(field, value, detail);
  }
}
