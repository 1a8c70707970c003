// Validation of a HorizontalPodAutoscaler: bounds, what is scaled, what is measured, and how fast it may go.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsLabelProblems, pathSegmentProblems } from "../../../api/names.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type {
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
  MetricTarget,
} from "../../../api/types/autoscaling-v2.ts";
import { validateContainerResourceName } from "../core/container/resource-validation.ts";
import { oneOf } from "../field-checks.ts";

const maxStabilizationSeconds = 3600;
const maxPeriodSeconds = 1800;
/** Where a metric of that type says what it measures. */
const sources = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
} as const;
const targetTypes = ["Utilization", "Value", "AverageValue"];

/** The union of what the sources of metrics have. */
interface Source {
  name?: string;
  container?: string;
  describedObject?: { kind?: string; name?: string };
  metric?: { name?: string };
  target: MetricTarget;
}

export function validateScalerSpec(
  spec: HorizontalPodAutoscalerSpec,
): FieldError[] {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics, behavior } = spec;
  const problems: FieldError[] = [];
  const invalid = (field: string, value: unknown, text: string): unknown =>
    problems.push(fieldErrors.invalid(`spec.${field}`, value, text));
  if (minReplicas !== undefined && minReplicas < 1)
    invalid("minReplicas", minReplicas, "must be greater than or equal to 1");
  if (maxReplicas < 1)
    invalid("maxReplicas", maxReplicas, "must be greater than 0");
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    invalid(
      "maxReplicas",
      maxReplicas,
      "must be greater than or equal to `minReplicas`",
    );
  return [
    ...problems,
    ...validateReference("spec.scaleTargetRef", scaleTargetRef),
    ...validateMetrics("spec.metrics", metrics ?? [], minReplicas),
    ...validateRules("spec.behavior.scaleUp", behavior?.scaleUp),
    ...validateRules("spec.behavior.scaleDown", behavior?.scaleDown),
  ];
}

function validateReference(
  field: string,
  reference: { kind?: string; name?: string } | undefined,
): FieldError[] {
  return (["kind", "name"] as const).flatMap((name) => {
    const value = reference?.[name];
    return value
      ? invalidEach(`${field}.${name}`, value, pathSegmentProblems(value))
      : [fieldErrors.required(`${field}.${name}`)];
  });
}

function validateMetrics(
  field: string,
  metrics: readonly MetricSpec[],
  minReplicas: number | undefined,
): FieldError[] {
  const problems = metrics.flatMap((metric, index) =>
    validateMetric(`${field}[${index}]`, metric),
  );
  const wakes = metrics.some(
    ({ type }) => type === "Object" || type === "External",
  );
  if (minReplicas === 0 && !wakes)
    problems.push(
      fieldErrors.forbidden(
        field,
        "must specify at least one Object or External metric to support scaling to zero replicas",
      ),
    );
  return problems;
}

function validateMetric(field: string, metric: MetricSpec): FieldError[] {
  const problems = metric.type
    ? []
    : [
        fieldErrors.required(
          `${field}.type`,
          "must specify a metric source type",
        ),
      ];
  const types = Object.keys(sources);
  if (!types.includes(metric.type)) {
    const unknown = fieldErrors.notSupported(
      `${field}.type`,
      metric.type,
      types,
    );
    // The reference finds it twice.
    problems.push(unknown, unknown);
  }
  // Of several the reference looks at the first alone.
  const first = sourceOrder.find((name) => metric[name]);
  if (first)
    problems.push(
      ...sourceRules[first](`${field}.${first}`, metric[first] as Source),
    );
  for (const [type, name] of Object.entries(sources)) {
    if (type === metric.type && !metric[name])
      problems.push(
        fieldErrors.required(
          `${field}.${name}`,
          "must populate information for the given metric source",
        ),
      );
  }
  const given = Object.values(sources).filter((name) => metric[name]);
  if (given.length > 1)
    for (const name of given)
      if (sources[metric.type as keyof typeof sources] !== name)
        problems.push(
          fieldErrors.forbidden(
            `${field}.${name}`,
            "must populate the given metric source only",
          ),
        );
  return problems;
}

const sourceOrder = [
  "object",
  "external",
  "pods",
  "resource",
  "containerResource",
] as const satisfies (typeof sources)[keyof typeof sources][];

type SourceRule = (field: string, source: Source) => FieldError[];

const metricName: SourceRule = (field, { metric }) =>
  metric?.name
    ? invalidEach(
        `${field}.metric.name`,
        metric.name,
        pathSegmentProblems(metric.name),
      )
    : [
        fieldErrors.required(
          `${field}.metric.name`,
          "must specify a metric name",
        ),
      ];

const resourceName: SourceRule = (field, { name }) =>
  name
    ? []
    : [fieldErrors.required(`${field}.name`, "must specify a resource name")];

const utilizationOrValue: SourceRule = (field, { target }) => {
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined)
    return [
      fieldErrors.required(
        `${field}.target.averageUtilization`,
        "must set either a target raw value or a target utilization",
      ),
    ];
  return averageUtilization !== undefined && averageValue !== undefined
    ? [
        fieldErrors.forbidden(
          `${field}.target.averageValue`,
          "may not set both a target raw value and a target utilization",
        ),
      ]
    : [];
};

const valueOrAverage =
  (text: string, bothText?: string): SourceRule =>
  (field, { target: { value, averageValue } }) => {
    if (value === undefined && averageValue === undefined)
      return [fieldErrors.required(`${field}.target.averageValue`, text)];
    return bothText && value !== undefined && averageValue !== undefined
      ? [fieldErrors.forbidden(`${field}.target.value`, bothText)]
      : [];
  };

const sourceRules: Readonly<
  Record<(typeof sources)[keyof typeof sources], SourceRule>
> = {
  object: (field, source) => [
    ...validateReference(`${field}.describedObject`, source.describedObject),
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...valueOrAverage("must set either a target value or averageValue")(
      field,
      source,
    ),
  ],
  external: (field, source) => [
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...valueOrAverage(
      "must set either a target value for metric or a per-pod target",
      "may not set both a target value for metric and a per-pod target",
    )(field, source),
  ],
  pods: (field, source) => [
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...(source.target.averageValue !== undefined
      ? []
      : [
          fieldErrors.required(
            `${field}.target.averageValue`,
            "must specify a positive target averageValue",
          ),
        ]),
  ],
  containerResource: (field, source) => [
    ...resourceName(field, source),
    ...(source.name
      ? validateContainerResourceName(`${field}.name`, source.name)
      : []),
    ...(source.container
      ? invalidEach(
          `${field}.container`,
          source.container,
          dnsLabelProblems(source.container),
        )
      : [
          fieldErrors.required(
            `${field}.container`,
            "must specify a container",
          ),
        ]),
    ...validateTarget(`${field}.target`, source.target),
    ...utilizationOrValue(field, source),
  ],
  resource: (field, source) => [
    ...resourceName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...utilizationOrValue(field, source),
  ],
};

const isPositive = (quantity: string | undefined): boolean =>
  quantity !== undefined && compareQuantities(quantity, "0") > 0;

function validateTarget(field: string, target: MetricTarget): FieldError[] {
  const problems = target.type
    ? []
    : [
        fieldErrors.required(
          `${field}.type`,
          "must specify a metric target type",
        ),
      ];
  if (!targetTypes.includes(target.type))
    problems.push(
      fieldErrors.invalid(
        `${field}.type`,
        target.type,
        "must be either Utilization, Value, or AverageValue",
      ),
    );
  for (const name of ["value", "averageValue"] as const)
    if (target[name] !== undefined && !isPositive(target[name]))
      problems.push(
        fieldErrors.invalid(
          `${field}.${name}`,
          asGo("resource.Quantity", target[name]),
          "must be positive",
        ),
      );
  if (target.averageUtilization !== undefined && target.averageUtilization < 1)
    problems.push(
      fieldErrors.invalid(
        `${field}.averageUtilization`,
        target.averageUtilization,
        "must be greater than 0",
      ),
    );
  return problems;
}

function validateRules(
  field: string,
  rules: HPAScalingRules | undefined,
): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window, policies = [] } = rules;
  const problems: FieldError[] = [];
  const invalid = (at: string, value: unknown, text: string): unknown =>
    problems.push(fieldErrors.invalid(`${field}.${at}`, value, text));
  if (window !== undefined && window < 0)
    invalid(
      "stabilizationWindowSeconds",
      window,
      "must be greater than or equal to zero",
    );
  if (window !== undefined && window > maxStabilizationSeconds)
    invalid(
      "stabilizationWindowSeconds",
      window,
      `must be less than or equal to ${maxStabilizationSeconds}`,
    );
  problems.push(
    ...oneOf(`${field}.selectPolicy`, rules.selectPolicy, [
      "Disabled",
      "Max",
      "Min",
    ]),
  );
  if (policies.length === 0)
    problems.push(
      fieldErrors.required(
        `${field}.policies`,
        "must specify at least one Policy",
      ),
    );
  for (const [index, policy] of policies.entries()) {
    const at = `policies[${index}]`;
    if (policy.type !== "Percent" && policy.type !== "Pods")
      problems.push(
        fieldErrors.notSupported(`${field}.${at}.type`, policy.type, [
          "Percent",
          "Pods",
        ]),
      );
    if (policy.value <= 0)
      invalid(`${at}.value`, policy.value, "must be greater than zero");
    if (policy.periodSeconds <= 0)
      invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        "must be greater than zero",
      );
    if (policy.periodSeconds > maxPeriodSeconds)
      invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        `must be less than or equal to ${maxPeriodSeconds}`,
      );
  }
  return problems;
}
