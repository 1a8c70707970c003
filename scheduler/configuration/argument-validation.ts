// What is wrong with the arguments of a plug-in, as the reference says it.
import type { FieldError } from "../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import { labelKeyProblems, labelValueProblems } from "../../api/names.ts";
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from "../../api/types/core-v1.ts";
import type {
  DefaultPreemptionArgs,
  InterPodAffinityArgs,
  NodeAffinityArgs,
  NodeResourcesBalancedAllocationArgs,
  NodeResourcesFitArgs,
  PluginArguments,
  PodTopologySpreadArgs,
  ShapePoint,
  VolumeBindingArgs,
} from "./configuration-types.ts";

type Checks = {
  readonly [Name in keyof PluginArguments]: (
    path: string,
    args: PluginArguments[Name],
  ) => FieldError[];
};

const outside = (value: number, least: number, most: number): boolean =>
  value < least || value > most;

function preemption(
  path: string,
  {
    minCandidateNodesPercentage: percentage = 0,
    minCandidateNodesAbsolute: absolute = 0,
  }: DefaultPreemptionArgs,
): FieldError[] {
  const [ofPercentage, ofAbsolute] = [
    `${path}.minCandidateNodesPercentage`,
    `${path}.minCandidateNodesAbsolute`,
  ];
  const problems: FieldError[] = [];
  if (outside(percentage, 0, 100))
    problems.push(
      fieldErrors.invalid(
        ofPercentage,
        percentage,
        "not in valid range [0, 100]",
      ),
    );
  if (absolute < 0)
    problems.push(
      fieldErrors.invalid(ofAbsolute, absolute, "not in valid range [0, inf)"),
    );
  if (percentage === 0 && absolute === 0)
    problems.push(
      fieldErrors.invalid(
        ofPercentage,
        0,
        "cannot be zero at the same time as minCandidateNodesAbsolute",
      ),
      fieldErrors.invalid(
        ofAbsolute,
        0,
        "cannot be zero at the same time as minCandidateNodesPercentage",
      ),
    );
  return problems;
}

function interPodAffinity(
  path: string,
  { hardPodAffinityWeight: weight = 0 }: InterPodAffinityArgs,
): FieldError[] {
  return outside(weight, 0, 100)
    ? [
        fieldErrors.invalid(
          `${path}.hardPodAffinityWeight`,
          weight,
          "not in valid range [0, 100]",
        ),
      ]
    : [];
}

const operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

function requirement(
  path: string,
  { key, operator, values = [] }: NodeSelectorRequirement,
  fields: boolean,
): FieldError[] {
  if (fields)
    return key === "metadata.name" &&
      ["In", "NotIn"].includes(operator) &&
      values.length === 1
      ? []
      : [
          fieldErrors.invalid(
            path,
            key,
            "must be metadata.name, with the operator In or NotIn and one value",
          ),
        ];
  if (!operators.includes(operator))
    return [fieldErrors.notSupported(`${path}.operator`, operator, operators)];
  const problems = invalidEach(`${path}.key`, key, labelKeyProblems(key));
  const at = `${path}.values`;
  if (["In", "NotIn"].includes(operator) && values.length === 0)
    problems.push(
      fieldErrors.invalid(
        at,
        values,
        "for 'in', 'notin' operators, values set can't be empty",
      ),
    );
  if (["Exists", "DoesNotExist"].includes(operator) && values.length > 0)
    problems.push(
      fieldErrors.invalid(
        at,
        values,
        "values set must be empty for exists and does not exist",
      ),
    );
  if (["Gt", "Lt"].includes(operator) && !/^[+-]?\d+$/.test(values.join()))
    problems.push(
      fieldErrors.invalid(
        at,
        values,
        "for 'Gt', 'Lt' operators, exactly one value is required, an integer",
      ),
    );
  for (const [index, value] of values.entries())
    problems.push(
      ...invalidEach(`${at}[${index}]`, value, labelValueProblems(value)),
    );
  return problems;
}

const term = (
  path: string,
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
): FieldError[] => [
  ...matchExpressions.flatMap((each, index) =>
    requirement(`${path}.matchExpressions[${index}]`, each, false),
  ),
  ...matchFields.flatMap((each, index) =>
    requirement(`${path}.matchFields[${index}]`, each, true),
  ),
];

function nodeAffinity(
  path: string,
  { addedAffinity }: NodeAffinityArgs,
): FieldError[] {
  const required =
    addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const preferred =
    addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const at = `${path}.addedAffinity`;
  return [
    ...(required?.nodeSelectorTerms ?? []).flatMap((each, index) =>
      term(
        `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`,
        each,
      ),
    ),
    ...preferred.flatMap(({ preference }, index) =>
      term(
        `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`,
        preference,
      ),
    ),
  ];
}

function balancedAllocation(
  path: string,
  { resources = [] }: NodeResourcesBalancedAllocationArgs,
): FieldError[] {
  const seen = new Set<string>();
  return resources.flatMap(({ name, weight = 0 }, index) => {
    const at = `${path}.resources[${index}]`;
    const problems = seen.has(name)
      ? [fieldErrors.duplicate(`${at}.name`, name)]
      : [];
    seen.add(name);
    if (weight !== 1)
      problems.push(fieldErrors.invalid(`${at}.weight`, weight, "must be 1"));
    return problems;
  });
}

function shape(path: string, points: readonly ShapePoint[]): FieldError[] {
  if (points.length === 0)
    return [fieldErrors.required(path, "at least one point must be specified")];
  const problems: FieldError[] = [];
  const unsorted = points.findIndex(
    ({ utilization }, index) =>
      index > 0 && points[index - 1]!.utilization >= utilization,
  );
  if (unsorted > 0)
    problems.push(
      fieldErrors.invalid(
        `${path}[${unsorted}].utilization`,
        points[unsorted]!.utilization,
        "utilization values must be sorted in increasing order",
      ),
    );
  for (const [index, { utilization, score }] of points.entries()) {
    if (outside(utilization, 0, 100))
      problems.push(
        fieldErrors.invalid(
          `${path}[${index}].utilization`,
          utilization,
          "not in valid range [0, 100]",
        ),
      );
    if (outside(score, 0, 10))
      problems.push(
        fieldErrors.invalid(
          `${path}[${index}].score`,
          score,
          "not in valid range [0, 10]",
        ),
      );
  }
  return problems;
}

const strategies = [
  "LeastAllocated",
  "MostAllocated",
  "RequestedToCapacityRatio",
];

function resourcesFit(path: string, args: NodeResourcesFitArgs): FieldError[] {
  const { ignoredResources = [], ignoredResourceGroups = [] } = args;
  const problems = ignoredResources.flatMap((name, index) =>
    invalidEach(
      `${path}.ignoredResources[${index}]`,
      name,
      labelKeyProblems(name),
    ),
  );
  for (const [index, group] of ignoredResourceGroups.entries()) {
    const at = `${path}.ignoredResourceGroups[${index}]`;
    if (group.includes("/"))
      problems.push(
        fieldErrors.invalid(at, group, "resource group name can't contain '/'"),
      );
    problems.push(...invalidEach(at, group, labelKeyProblems(group)));
  }
  const {
    type = "",
    resources = [],
    requestedToCapacityRatio,
  } = args.scoringStrategy ?? {};
  const at = `${path}.scoringStrategy`;
  if (!strategies.includes(type))
    problems.push(fieldErrors.notSupported(`${at}.type`, type, strategies));
  for (const [index, { name, weight = 0 }] of resources.entries())
    if (outside(weight, 1, 100))
      problems.push(
        fieldErrors.invalid(
          `${at}.resources[${index}].weight`,
          weight,
          `resource weight of ${name} not in valid range (0, 100]`,
        ),
      );
  // Without a shape the reference ends with a panic when it scores.
  if (requestedToCapacityRatio || type === "RequestedToCapacityRatio")
    problems.push(
      ...shape(`${at}.shape`, requestedToCapacityRatio?.shape ?? []),
    );
  return problems;
}

const actions = ["DoNotSchedule", "ScheduleAnyway"];

function topologySpread(
  path: string,
  { defaultingType = "", defaultConstraints = [] }: PodTopologySpreadArgs,
): FieldError[] {
  const problems: FieldError[] = [];
  if (!["System", "List"].includes(defaultingType))
    problems.push(
      fieldErrors.notSupported(`${path}.defaultingType`, defaultingType, [
        "System",
        "List",
      ]),
    );
  if (defaultingType === "System" && defaultConstraints.length > 0)
    problems.push(
      fieldErrors.invalid(
        `${path}.defaultingType`,
        defaultingType,
        "when .defaultConstraints are not empty",
      ),
    );
  const seen = new Set<string>();
  for (const [index, constraint] of defaultConstraints.entries()) {
    const at = `${path}.defaultConstraints[${index}]`;
    const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector } =
      constraint;
    if (!(maxSkew > 0))
      problems.push(
        fieldErrors.invalid(
          `${at}.maxSkew`,
          maxSkew ?? 0,
          "not in valid range (0, inf)",
        ),
      );
    problems.push(
      ...(topologyKey
        ? invalidEach(
            `${at}.topologyKey`,
            topologyKey,
            labelKeyProblems(topologyKey),
          )
        : [fieldErrors.required(`${at}.topologyKey`, "can not be empty")]),
    );
    if (!whenUnsatisfiable)
      problems.push(
        fieldErrors.required(`${at}.whenUnsatisfiable`, "can not be empty"),
      );
    else if (!actions.includes(whenUnsatisfiable))
      problems.push(
        fieldErrors.notSupported(
          `${at}.whenUnsatisfiable`,
          whenUnsatisfiable,
          actions,
        ),
      );
    if (labelSelector)
      problems.push(
        fieldErrors.forbidden(
          `${at}.labelSelector`,
          "constraint must not define a selector, as they deduced for each pod",
        ),
      );
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (seen.has(pair)) problems.push(fieldErrors.duplicate(at, pair));
    seen.add(pair);
  }
  return problems;
}

function volumeBinding(
  path: string,
  { bindTimeoutSeconds = 0, shape: points }: VolumeBindingArgs,
): FieldError[] {
  const problems: FieldError[] = [];
  if (bindTimeoutSeconds < 0)
    problems.push(
      fieldErrors.invalid(
        `${path}.bindTimeoutSeconds`,
        bindTimeoutSeconds,
        "invalid BindTimeoutSeconds, should not be a negative value",
      ),
    );
  // The gate is not there.
  if (points)
    problems.push(
      fieldErrors.invalid(
        `${path}.shape`,
        points,
        "unexpected field `shape`, remove it or turn on the feature gate VolumeCapacityPriority",
      ),
    );
  return problems;
}

const checks: Checks = {
  DefaultPreemption: preemption,
  InterPodAffinity: interPodAffinity,
  NodeAffinity: nodeAffinity,
  NodeResourcesBalancedAllocation: balancedAllocation,
  NodeResourcesFit: resourcesFit,
  PodTopologySpread: topologySpread,
  VolumeBinding: volumeBinding,
};

export function argumentProblems(
  path: string,
  name: string,
  args: object,
): FieldError[] {
  if (!Object.hasOwn(checks, name)) return [];
  const check = checks[name as keyof PluginArguments] as (
    path: string,
    args: object,
  ) => FieldError[];
  return check(path, args);
}
