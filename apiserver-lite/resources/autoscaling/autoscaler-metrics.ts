// The metrics of an autoscaler as the annotations of autoscaling/v1 hold them: names and targets lie flat in each source
// there, where v2 has an object for the metric and one for its target.
type Plain = Record<string, unknown>;

interface MetricV2 {
  type: string;
  [source: string]: unknown;
}

interface Source extends Plain {
  metric?: { name?: string; selector?: unknown };
  describedObject?: unknown;
}

/** Flat names of a target's or a current value's fields, by source. */
const flat: Readonly<
  Record<string, Readonly<Record<"target" | "current", Plain>>>
> = {
  resource: {
    target: {
      averageUtilization: "targetAverageUtilization",
      averageValue: "targetAverageValue",
    },
    current: {
      averageUtilization: "currentAverageUtilization",
      averageValue: "currentAverageValue",
    },
  },
  pods: {
    target: { averageValue: "targetAverageValue" },
    current: { averageValue: "currentAverageValue" },
  },
  object: {
    target: { value: "targetValue", averageValue: "averageValue" },
    current: { value: "currentValue", averageValue: "averageValue" },
  },
  external: {
    target: { value: "targetValue", averageValue: "targetAverageValue" },
    current: { value: "currentValue", averageValue: "currentAverageValue" },
  },
};
const namesOf = (
  source: string,
  side: "target" | "current",
): [string, string][] =>
  Object.entries(
    (flat[source] ?? flat["resource"]!)[side] as Record<string, string>,
  );

const sourceOf = ({ type }: MetricV2): string =>
  type.charAt(0).toLowerCase() + type.slice(1);

/** @param side metrics of the spec have targets, those of the status current values */
export function metricsToV1(
  metrics: readonly MetricV2[],
  side: "target" | "current",
): object[] {
  return metrics.map((metric) => {
    const source = sourceOf(metric);
    const given = metric[source] as Source | undefined;
    if (!given) return metric;
    const {
      metric: identified,
      describedObject,
      [side]: value,
      name,
      ...rest
    } = given;
    const { selector } = identified ?? {};
    const external = source === "external";
    const shown: Plain = {
      ...(describedObject ? { target: describedObject } : {}),
      ...(name ? { name } : {}),
      ...(identified?.name ? { metricName: identified.name } : {}),
      ...(selector && external ? { metricSelector: selector } : {}),
    };
    for (const [field, flatName] of namesOf(source, side)) {
      const found = (value as Plain | undefined)?.[field];
      if (found !== undefined) shown[flatName] = found;
    }
    if (selector && !external) shown["selector"] = selector;
    Object.assign(shown, rest);
    return { type: metric.type, [source]: shown };
  });
}

export function metricsFromV1(
  metrics: readonly object[],
  side: "target" | "current",
): MetricV2[] {
  return (metrics as MetricV2[]).map((metric) => {
    const source = sourceOf(metric);
    const given = metric[source] as Plain | undefined;
    // Metrics in v2's form stay as they are.
    if (!given || (source !== "object" && given[side])) return metric;
    const rest = { ...given };
    const take = (name: string): unknown => {
      const value = rest[name];
      delete rest[name];
      return value;
    };
    const value: Plain = {};
    for (const [name, flatName] of namesOf(source, side)) {
      const found = take(flatName);
      if (found !== undefined) value[name] = found;
    }
    if (side === "target") value["type"] = targetType(value);
    const metricName = take("metricName");
    const selector = take(
      source === "external" ? "metricSelector" : "selector",
    );
    const described = source === "object" ? take("target") : undefined;
    return {
      type: metric.type,
      [source]: {
        ...(described ? { describedObject: described } : {}),
        ...rest,
        ...(metricName
          ? { metric: { name: metricName, ...(selector ? { selector } : {}) } }
          : {}),
        [side]: value,
      },
    };
  });
}

/** The annotation of the scaling behaviour has the names of the fields with capitals. */
export function behaviorToV1(behavior: Plain): object {
  return inOrder(
    renamed(behavior, (name) => name[0]!.toUpperCase() + name.slice(1)),
  );
}

export function behaviorFromV1(behavior: unknown): unknown {
  return renamed(behavior, (name) => name[0]!.toLowerCase() + name.slice(1));
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "")
      .map(([name, field]) => [rename(name), renamed(field, rename)]),
  );
}

const behaviorOrder = [
  "ScaleUp",
  "ScaleDown",
  "StabilizationWindowSeconds",
  "SelectPolicy",
  "Policies",
  "Type",
  "Value",
  "PeriodSeconds",
];

function inOrder(value: unknown): object {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value as never;
  const place = ([name]: [string, unknown]): number =>
    behaviorOrder.indexOf(name);
  return Object.fromEntries(
    Object.entries(value)
      .sort((a, b) => place(a) - place(b))
      .map(([name, field]) => [name, inOrder(field)]),
  );
}

function targetType(target: Plain): string {
  if (target["averageUtilization"] !== undefined) return "Utilization";
  return target["averageValue"] === undefined ? "Value" : "AverageValue";
}
