// Validation of ValidatingAdmissionPolicies and their bindings. Expressions are compiled where they are written, so that
// who writes a policy sees what is wrong with it.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from "../../../api/types/admissionregistration-v1.ts";
import { exactlyOneOf } from "../field-checks.ts";
import type { PolicyExpressions } from "./policy-expressions.ts";
import {
  hasSameConditions,
  failurePolicies,
  matchConstraintProblems,
  matchResourceProblems,
  paramKindProblems,
  paramRefProblems,
  policyNameProblems,
} from "./policy-parts.ts";

const maxAuditAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const actions = ["Audit", "Deny", "Warn"];
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/** @param old of an update: match conditions that it had are not checked again */
export function validatePolicy(
  { metadata, spec = {} }: Readonly<ValidatingAdmissionPolicy>,
  old: Readonly<ValidatingAdmissionPolicy> | undefined,
  newExpressions: (
    withVariables: boolean,
    hasParams: boolean,
  ) => PolicyExpressions,
): FieldError[] {
  const { failurePolicy, variables = [], validations = [] } = spec;
  const { auditAnnotations = [] } = spec;
  const expressions = newExpressions(
    variables.length > 0,
    spec.paramKind !== undefined,
  );
  return [
    ...(failurePolicy === undefined
      ? [fieldErrors.required("spec.failurePolicy")]
      : exactlyOneOf("spec.failurePolicy", failurePolicy, failurePolicies)),
    ...paramKindProblems(spec.paramKind),
    ...matchConstraintProblems(spec.matchConstraints),
    ...(old && hasSameConditions(spec, old.spec)
      ? []
      : expressions.matchConditions(
          "spec.matchConditions",
          spec.matchConditions ?? [],
        )),
    ...variables.flatMap((variable, index) =>
      expressions.variable(`spec.variables[${index}]`, variable),
    ),
    ...(validations.length === 0 && auditAnnotations.length === 0
      ? ["spec.validations", "spec.auditAnnotations"].map((field) =>
          fieldErrors.required(
            field,
            "validations or auditAnnotations must contain at least one item",
          ),
        )
      : [
          ...validations.flatMap((validation, index) =>
            validationProblems(
              `spec.validations[${index}]`,
              validation,
              expressions,
            ),
          ),
          ...annotationProblems(
            metadata.name ?? "",
            auditAnnotations,
            expressions,
          ),
        ]),
  ];
}

function validationProblems(
  field: string,
  { expression, message, messageExpression, reason }: Validation,
  expressions: PolicyExpressions,
): FieldError[] {
  const problems: FieldError[] = [];
  if (!expression?.trim())
    problems.push(
      fieldErrors.required(
        `${field}.expression`,
        "expression is not specified",
      ),
    );
  else problems.push(...expressions.bool(`${field}.expression`, expression));
  if (messageExpression && messageExpression.trim() === "")
    problems.push(
      fieldErrors.invalid(
        `${field}.messageExpression`,
        messageExpression,
        "must be non-empty if specified",
      ),
    );
  else if (messageExpression)
    problems.push(
      ...expressions.message(`${field}.messageExpression`, messageExpression),
    );
  const trimmed = message?.trim() ?? "";
  if (message && trimmed === "")
    problems.push(
      fieldErrors.invalid(
        `${field}.message`,
        message,
        "message must be non-empty if specified",
      ),
    );
  else if (/[\n\r]/.test(trimmed))
    problems.push(
      fieldErrors.invalid(
        `${field}.message`,
        message,
        "message must not contain line breaks",
      ),
    );
  if (reason !== undefined)
    problems.push(...exactlyOneOf(`${field}.reason`, reason, reasons));
  return problems;
}

function annotationProblems(
  policyName: string,
  annotations: readonly AuditAnnotation[],
  expressions: PolicyExpressions,
): FieldError[] {
  const problems: FieldError[] = [];
  const field = "spec.auditAnnotations";
  if (annotations.length > maxAuditAnnotations)
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("[]admissionregistration.AuditAnnotation", annotations),
        `must not have more than ${maxAuditAnnotations} auditAnnotations`,
      ),
    );
  const seen = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const path = `${field}[${index}]`;
    const name = `${policyName}/${key}`;
    problems.push(
      ...(policyName === ""
        ? [
            fieldErrors.invalid(
              `${path}.key`,
              key,
              "requires metadata.name be non-empty",
            ),
          ]
        : invalidEach(`${path}.key`, name, qualifiedNameProblems(name))),
    );
    const trimmed = valueExpression?.trim() ?? "";
    if (trimmed === "")
      problems.push(
        fieldErrors.required(
          `${path}.valueExpression`,
          "valueExpression is not specified",
        ),
      );
    else if (Buffer.byteLength(trimmed) > maxValueExpressionBytes)
      problems.push(
        fieldErrors.required(
          `${path}.valueExpression`,
          `must not exceed ${maxValueExpressionBytes} bytes in length`,
        ),
      );
    else
      problems.push(
        ...expressions.textOrNull(`${path}.valueExpression`, valueExpression),
      );
    if (seen.has(key)) problems.push(fieldErrors.duplicate(`${path}.key`, key));
    seen.add(key);
  }
  return problems;
}

export function validateBinding({
  spec = {},
}: Readonly<ValidatingAdmissionPolicyBinding>): FieldError[] {
  return [
    ...policyNameProblems(spec.policyName),
    ...paramRefProblems(spec.paramRef),
    ...matchResourceProblems("spec.matchResources", spec.matchResources),
    ...actionProblems(spec.validationActions ?? []),
  ];
}

function actionProblems(given: readonly string[]): FieldError[] {
  const field = "spec.validationActions";
  const problems = given.flatMap((action, index) => [
    ...exactlyOneOf(`${field}[${index}]`, action, actions),
    ...(given.indexOf(action) < index
      ? [fieldErrors.duplicate(`${field}[${index}]`, action)]
      : []),
  ]);
  if (given.includes("Deny") && given.includes("Warn"))
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("[]admissionregistration.ValidationAction", given),
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
      ),
    );
  if (given.length === 0)
    problems.push(
      fieldErrors.required(field, "at least one validation action is required"),
    );
  return problems;
}
