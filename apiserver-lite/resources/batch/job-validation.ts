// Validation of a job's spec, for jobs and for what cron jobs make.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import type {
  JobSpec,
  PodFailurePolicyRule,
} from "../../../api/types/batch-v1.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import { domainPrefixedPath, nonNegative, oneOf } from "../field-checks.ts";
import { countIndexes, IndexError, parseIndexes } from "./job-indexes.ts";

const maxManagedByBytes = 63;
const maxParallelism = 100_000;
const manyCompletions = 100_000;
const maxOfMany = 10_000;
const counts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

export function validateJobSpec(field: string, spec: JobSpec): FieldError[] {
  const problems = counts.flatMap((name) =>
    nonNegative(`${field}.${name}`, spec[name]),
  );
  if (
    spec.maxFailedIndexes !== undefined &&
    spec.backoffLimitPerIndex === undefined
  )
    problems.push(
      fieldErrors.required(
        `${field}.backoffLimitPerIndex`,
        "when maxFailedIndexes is specified",
      ),
    );
  if (spec.managedBy !== undefined)
    problems.push(...validateManagedBy(`${field}.managedBy`, spec.managedBy));
  problems.push(
    ...oneOf(`${field}.completionMode`, spec.completionMode, [
      "NonIndexed",
      "Indexed",
    ]),
    ...(spec.completionMode === "Indexed"
      ? validateIndexed(field, spec)
      : validateNonIndexed(field, spec)),
    ...validateFailurePolicy(field, spec),
    ...validateSuccessPolicy(`${field}.successPolicy`, spec),
    ...oneOf(
      `${field}.podReplacementPolicy`,
      spec.podReplacementPolicy,
      spec.podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"],
    ),
    ...validatePodTemplate(`${field}.template`, spec.template ?? {}),
    ...validateRestarts(`${field}.template.spec.restartPolicy`, spec),
  );
  return problems;
}

function validateManagedBy(field: string, name: string): FieldError[] {
  return [
    ...domainPrefixedPath(field, name),
    ...(Buffer.byteLength(name) > maxManagedByBytes
      ? [fieldErrors.tooLong(field, maxManagedByBytes)]
      : []),
  ];
}

function validateIndexed(field: string, spec: JobSpec): FieldError[] {
  const problems: FieldError[] = [];
  const { completions, parallelism, maxFailedIndexes } = spec;
  const tooBig = (name: "parallelism" | "maxFailedIndexes", text: string) =>
    problems.push(fieldErrors.invalid(`${field}.${name}`, spec[name], text));
  if (completions === undefined)
    problems.push(
      fieldErrors.required(
        `${field}.completions`,
        "when completion mode is Indexed",
      ),
    );
  if ((parallelism ?? 0) > maxParallelism)
    tooBig(
      "parallelism",
      `must be less than or equal to ${maxParallelism} when completion mode is Indexed`,
    );
  if (
    completions !== undefined &&
    maxFailedIndexes !== undefined &&
    maxFailedIndexes > completions
  )
    tooBig("maxFailedIndexes", "must be less than or equal to completions");
  if ((maxFailedIndexes ?? 0) > maxParallelism)
    tooBig(
      "maxFailedIndexes",
      `must be less than or equal to ${maxParallelism}`,
    );
  if (
    (completions ?? 0) > manyCompletions &&
    spec.backoffLimitPerIndex !== undefined
  ) {
    const text = `must be less than or equal to ${maxOfMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
    if (maxFailedIndexes === undefined)
      problems.push(
        fieldErrors.required(
          `${field}.maxFailedIndexes`,
          `must be specified when completions is above ${manyCompletions}`,
        ),
      );
    if ((parallelism ?? 0) > maxOfMany) tooBig("parallelism", text);
    if ((maxFailedIndexes ?? 0) > maxOfMany) tooBig("maxFailedIndexes", text);
  }
  return problems;
}

const validateNonIndexed = (field: string, spec: JobSpec): FieldError[] =>
  (["backoffLimitPerIndex", "maxFailedIndexes"] as const)
    .filter((name) => spec[name] !== undefined)
    .map((name) =>
      fieldErrors.invalid(
        `${field}.${name}`,
        spec[name],
        "requires indexed completion mode",
      ),
    );

function validateRestarts(field: string, spec: JobSpec): FieldError[] {
  const policy = spec.template?.spec?.restartPolicy;
  const problems =
    policy === "Always" || !policy
      ? [fieldErrors.required(field, 'valid values: "OnFailure", "Never"')]
      : oneOf(field, policy, ["OnFailure", "Never"]);
  if (spec.podFailurePolicy && policy !== "Never")
    problems.push(
      fieldErrors.invalid(
        field,
        policy ?? "",
        'only "Never" is supported when podFailurePolicy is specified',
      ),
    );
  return problems;
}

function validateFailurePolicy(field: string, spec: JobSpec): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = [...containers, ...initContainers].map(({ name }) => name);
  return rules.flatMap((rule, index) =>
    validateFailureRule(
      `${field}.podFailurePolicy.rules[${index}]`,
      rule,
      spec,
      names,
    ),
  );
}

function validateFailureRule(
  field: string,
  { action, onExitCodes, onPodConditions }: PodFailurePolicyRule,
  spec: JobSpec,
  containers: readonly string[],
): FieldError[] {
  const problems = choice(`${field}.action`, action, [
    "Count",
    "FailIndex",
    "FailJob",
    "Ignore",
  ]);
  if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined)
    problems.push(
      fieldErrors.invalid(
        `${field}.action`,
        action,
        "requires the backoffLimitPerIndex to be set",
      ),
    );
  if (onExitCodes)
    problems.push(
      ...validateExitCodes(`${field}.onExitCodes`, onExitCodes, containers),
    );
  for (const [index, { type, status }] of (onPodConditions ?? []).entries()) {
    const path = `${field}.onPodConditions[${index}]`;
    problems.push(
      ...invalidEach(`${path}.type`, type, qualifiedNameProblems(type)),
      ...choice(`${path}.status`, status, ["False", "True", "Unknown"]),
    );
  }
  const conditions = (onPodConditions?.length ?? 0) > 0;
  if (onExitCodes && conditions)
    problems.push(
      fieldErrors.invalidWithoutValue(
        field,
        "specifying both OnExitCodes and OnPodConditions is not supported",
      ),
    );
  if (!onExitCodes && !conditions)
    problems.push(
      fieldErrors.invalidWithoutValue(
        field,
        "specifying one of OnExitCodes and OnPodConditions is required",
      ),
    );
  return problems;
}

/** Like `oneOf`, but the problem of an empty value lists the supported ones. */
function choice(
  field: string,
  value: string | undefined,
  supported: readonly string[],
): FieldError[] {
  const listed = supported.map((one) => JSON.stringify(one)).join(" ");
  return value
    ? oneOf(field, value, supported)
    : [fieldErrors.required(field, `valid values: [${listed}]`)];
}

function validateExitCodes(
  field: string,
  {
    containerName,
    operator,
    values,
  }: NonNullable<PodFailurePolicyRule["onExitCodes"]>,
  containers: readonly string[],
): FieldError[] {
  const problems = choice(`${field}.operator`, operator, ["In", "NotIn"]);
  const invalidValues = (value: unknown, text: string, at = ""): unknown =>
    problems.push(fieldErrors.invalid(`${field}.values${at}`, value, text));
  if (containerName !== undefined && !containers.includes(containerName))
    problems.push(
      fieldErrors.invalid(
        `${field}.containerName`,
        containerName,
        "must be one of the container or initContainer names in the pod template",
      ),
    );
  const given = values ?? [];
  if (given.length === 0)
    invalidValues(asGo("[]int32", given), "at least one value is required");
  else if (given.length > 255)
    problems.push(fieldErrors.tooMany(`${field}.values`, given.length, 255));
  const seen = new Set<number>();
  for (const [index, value] of given.entries()) {
    if (operator === "In" && value === 0)
      invalidValues(value, "must not be 0 for the In operator", `[${index}]`);
    if (seen.has(value))
      problems.push(fieldErrors.duplicate(`${field}.values[${index}]`, value));
    seen.add(value);
  }
  if (given.some((value, index) => index > 0 && value < given[index - 1]!))
    invalidValues(asGo("[]int32", given), "must be ordered");
  return problems;
}

function validateSuccessPolicy(
  field: string,
  { successPolicy, completionMode, completions = 0 }: JobSpec,
): FieldError[] {
  if (!successPolicy) return [];
  if (completionMode !== "Indexed")
    return [
      fieldErrors.invalid(
        field,
        asGo("batch.SuccessPolicy", successPolicy),
        "requires indexed completion mode",
      ),
    ];
  const rules = successPolicy.rules ?? [];
  if (rules.length === 0)
    return [
      fieldErrors.required(
        `${field}.rules`,
        "at least one rules must be specified when the successPolicy is specified",
      ),
    ];
  return rules.flatMap((rule, index) =>
    validateSuccessRule(`${field}.rules[${index}]`, rule, completions),
  );
}

function validateSuccessRule(
  field: string,
  rule: { succeededIndexes?: string; succeededCount?: number },
  completions: number,
): FieldError[] {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined)
    return [
      fieldErrors.required(
        field,
        "at least one of succeededCount or succeededIndexes must be specified",
      ),
    ];
  const problems: FieldError[] = [];
  let total: number | undefined;
  try {
    if (indexes !== undefined)
      total = countIndexes(parseIndexes(indexes, completions));
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
    problems.push(
      fieldErrors.invalid(
        `${field}.succeededIndexes`,
        indexes,
        `error parsing succeededIndexes: ${error.message}`,
      ),
    );
  }
  if (count !== undefined) {
    const path = `${field}.succeededCount`;
    problems.push(...nonNegative(path, count));
    if (count > completions)
      problems.push(
        fieldErrors.invalid(
          path,
          count,
          `must be less than or equal to ${completions} (the number of specified completions)`,
        ),
      );
    if (total !== undefined && count > total)
      problems.push(
        fieldErrors.invalid(
          path,
          count,
          `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
        ),
      );
  }
  return problems;
}
