// Definitions in the groups of the community: they are for what it has approved, and name the approval.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { isRequestUri } from "../../../api/structural/values/request-uri.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";

type Definition = Readonly<CustomResourceDefinition>;

const approvalAnnotation = "api-approved.kubernetes.io";
type Approval = "missing" | "bypassed" | "approved" | "invalid";

function approvalOf({ metadata }: Definition): Approval {
  const text = metadata.annotations?.[approvalAnnotation] ?? "";
  if (text === "") return "missing";
  if (text.startsWith("unapproved")) return "bypassed";
  return isRequestUri(text) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?]/.test(text)
    ? "approved"
    : "invalid";
}

/** Groups of the community are for what it has approved. */
export function approvalProblems(
  definition: Definition,
  old: Definition | undefined,
): FieldError[] {
  const { group = "" } = definition.spec;
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const approval = approvalOf(definition);
  if (old && approvalOf(old) === approval) return [];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  const needed = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const more = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (approval === "missing")
    return [fieldErrors.required(field, `${needed}, ${more}`)];
  return approval === "invalid"
    ? [
        fieldErrors.invalid(
          field,
          definition.metadata.annotations![approvalAnnotation],
          `${needed} with either a URL or a reason starting with "unapproved", ${more}`,
        ),
      ]
    : [];
}
