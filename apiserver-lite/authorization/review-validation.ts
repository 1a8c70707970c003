// What an access review may ask, with the reference's error texts: about one resource or one path, in parts that exclude
// each other, without metadata of its own.
import { errors, type FieldError } from "../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import { asGo } from "../../api/go-syntax.ts";
import { labelKeyProblems, labelValueProblems } from "../../api/names.ts";
import type { AnyObject } from "../../api/object.ts";
import { operatorProblems } from "../resources/field-checks.ts";

export interface SelectorAttributes {
  rawSelector?: string;
  requirements?: { key: string; operator: string; values?: string[] }[];
}

export interface ReviewSpec {
  resourceAttributes?: {
    namespace?: string;
    verb?: string;
    group?: string;
    version?: string;
    resource?: string;
    subresource?: string;
    name?: string;
    fieldSelector?: SelectorAttributes;
    labelSelector?: SelectorAttributes;
  };
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

export type ReviewKind =
  | "SubjectAccessReview"
  | "SelfSubjectAccessReview"
  | "LocalSubjectAccessReview";

/** Throws ApiError 422. */
export function refuseBadReview(
  kind: ReviewKind,
  spec: ReviewSpec,
  { metadata }: Readonly<AnyObject>,
): void {
  const local = kind === "LocalSubjectAccessReview";
  const problems = [
    ...subjectProblems(kind, spec),
    ...selectorProblems(spec.resourceAttributes ?? {}),
    ...metadataProblems(metadata, local),
    ...(local ? localProblems(spec, metadata.namespace) : []),
  ];
  if (problems.length > 0)
    throw errors.invalid({ group: "authorization.k8s.io", kind: "" }, "", [
      ...problems,
    ]);
}

const nonResource = ({ nonResourceAttributes }: ReviewSpec): unknown =>
  asGo("authorization.NonResourceAttributes", nonResourceAttributes);

function subjectProblems(kind: ReviewKind, spec: ReviewSpec): FieldError[] {
  const problems: FieldError[] = [];
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && nonResourceAttributes)
    problems.push(
      fieldErrors.invalid(
        "spec.nonResourceAttributes",
        nonResource(spec),
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  if (!resourceAttributes && !nonResourceAttributes)
    problems.push(
      fieldErrors.invalidShown(
        "spec.resourceAttributes",
        '"null"',
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    );
  const named = spec.user || (spec.groups ?? []).length > 0;
  if (kind !== "SelfSubjectAccessReview" && !named)
    problems.push(
      fieldErrors.invalid(
        "spec.user",
        "",
        "at least one of user or group must be specified",
      ),
    );
  return problems;
}

/** What the server itself writes into it does not count. */
function metadataProblems(
  metadata: AnyObject["metadata"],
  local: boolean,
): FieldError[] {
  const given = Object.entries(metadata).filter(
    ([key, value]) =>
      key !== "managedFields" &&
      !(local && key === "namespace") &&
      !isEmpty(value),
  );
  if (given.length === 0) return [];
  const text = local ? "must be empty except for namespace" : "must be empty";
  return [
    fieldErrors.invalid("metadata", asGo("v1.ObjectMeta", metadata), text),
  ];
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0);

function localProblems(
  spec: ReviewSpec,
  namespace: string | undefined,
): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const problems: FieldError[] = [];
  if (resourceAttributes && resourceAttributes.namespace !== namespace)
    problems.push(
      fieldErrors.invalid(
        "spec.resourceAttributes.namespace",
        resourceAttributes.namespace ?? "",
        "must match metadata.namespace",
      ),
    );
  if (nonResourceAttributes)
    problems.push(
      fieldErrors.invalid(
        "spec.nonResourceAttributes",
        nonResource(spec),
        "disallowed on this kind of request",
      ),
    );
  return problems;
}

/** Selectors are given as text or in parts, not both. */
function selectorProblems(
  attributes: NonNullable<ReviewSpec["resourceAttributes"]>,
): FieldError[] {
  return (["fieldSelector", "labelSelector"] as const).flatMap((name) => {
    const selector = attributes[name];
    if (!selector) return [];
    const field = `spec.resourceAttributes.${name}`;
    const { rawSelector, requirements = [] } = selector;
    const problems: FieldError[] = [];
    if (rawSelector && requirements.length > 0)
      problems.push(
        fieldErrors.invalid(
          `${field}.rawSelector`,
          rawSelector,
          "may not specified at the same time as requirements",
        ),
      );
    if (!rawSelector && requirements.length === 0)
      problems.push(
        fieldErrors.required(
          `${field}.requirements`,
          `when ${field} is specified, requirements or rawSelector is required`,
        ),
      );
    const check =
      name === "labelSelector" ? labelRequirement : fieldRequirement;
    for (const [index, requirement] of requirements.entries())
      problems.push(...check(`${field}.requirements[${index}]`, requirement));
    return problems;
  });
}

type Requirement = NonNullable<SelectorAttributes["requirements"]>[number];

function fieldRequirement(
  path: string,
  { key, operator, values }: Requirement,
): FieldError[] {
  return [
    ...(key ? [] : [fieldErrors.required(`${path}.key`, "must be specified")]),
    ...operatorProblems(path, operator, values, true),
  ];
}

function labelRequirement(
  path: string,
  { key, operator, values = [] }: Requirement,
): FieldError[] {
  return [
    ...operatorProblems(path, operator, values, true),
    ...invalidEach(`${path}.key`, key, labelKeyProblems(key)),
    ...values.flatMap((value, at) =>
      invalidEach(`${path}.values[${at}]`, value, labelValueProblems(value)),
    ),
  ];
}
