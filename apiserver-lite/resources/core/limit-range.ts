// LimitRanges: names of resources there are, and bounds that don't contradict each other.
import { randomUUID } from "node:crypto";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  quantityMilliValue,
} from "../../../api/quantity.ts";
import type { LimitRange, LimitRangeItem } from "../../../api/types/core-v1.ts";
import {
  goQuantity,
  validateContainerResourceName,
  validateResourceName,
} from "./container/resource-validation.ts";
import { strategyOf } from "../typed.ts";

type Part =
  "max" | "min" | "default" | "defaultRequest" | "maxLimitRequestRatio";

const parts: readonly Part[] = [
  "max",
  "min",
  "default",
  "defaultRequest",
  "maxLimitRequestRatio",
];
const types = ["Pod", "Container", "PersistentVolumeClaim"];

/** The first may not be above the second: their names, the field that a problem names, and whose value it shows. */
const order: readonly {
  low: Part;
  high: Part;
  at: Part;
  shown: Part;
  names: [string, string];
}[] = [
  { low: "min", high: "max", at: "min", shown: "min", names: ["min", "max"] },
  {
    low: "min",
    high: "defaultRequest",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["min", "default request"],
  },
  {
    low: "defaultRequest",
    high: "max",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["default request", "max"],
  },
  {
    low: "defaultRequest",
    high: "default",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["default request", "default limit"],
  },
  {
    low: "min",
    high: "default",
    at: "default",
    shown: "min",
    names: ["min", "default"],
  },
  {
    low: "default",
    high: "max",
    at: "default",
    shown: "max",
    names: ["default", "max"],
  },
];

function typeProblems(field: string, type: string): FieldError[] {
  const bad = qualifiedNameProblems(type);
  if (bad.length > 0) return invalidEach(field, type, bad);
  return type.includes("/") || types.includes(type)
    ? []
    : [
        fieldErrors.invalid(
          field,
          type,
          "must be a standard limit type or fully qualified",
        ),
      ];
}

function ratioProblems(
  field: string,
  { maxLimitRequestRatio, min, max }: LimitRangeItem,
  name: string,
): FieldError[] {
  const ratio = maxLimitRequestRatio?.[name];
  if (ratio === undefined) return [];
  const text = canonicalQuantity(ratio);
  const problems =
    compareQuantities(ratio, "1") < 0 ? [`ratio ${text} is less than 1`] : [];
  const [low, high] = [min?.[name], max?.[name]];
  if (low !== undefined && high !== undefined) {
    const limit = quantityMilliValue(high) / quantityMilliValue(low);
    if (quantityMilliValue(ratio) / 1000 > limit)
      problems.push(
        `ratio ${text} is greater than max/min = ${limit.toFixed(6)}`,
      );
  }
  return problems.map((problem) =>
    fieldErrors.invalidShown(field, goQuantity(ratio, true), problem),
  );
}

function boundProblems(
  field: string,
  limit: LimitRangeItem,
  name: string,
): FieldError[] {
  const problems = order.flatMap(({ low, high, at, shown, names }) => {
    const [lower, upper] = [limit[low]?.[name], limit[high]?.[name]];
    if (
      lower === undefined ||
      upper === undefined ||
      compareQuantities(lower, upper) <= 0
    )
      return [];
    return [
      fieldErrors.invalidShown(
        `${field}.${at}[${name}]`,
        goQuantity(limit[shown]![name]!, true),
        `${names[0]} value ${canonicalQuantity(lower)} is greater than ${names[1]} value ${canonicalQuantity(upper)}`,
      ),
    ];
  });
  return [
    ...problems,
    ...ratioProblems(`${field}.maxLimitRequestRatio[${name}]`, limit, name),
  ];
}

function validateItem(field: string, limit: LimitRangeItem): FieldError[] {
  const { type = "" } = limit;
  const nameProblems =
    type === "Pod" || type === "Container"
      ? validateContainerResourceName
      : validateResourceName;
  const names = new Set<string>();
  const problems = parts.flatMap((part) => {
    const found = Object.keys(limit[part] ?? {}).sort();
    if (type === "Pod" && (part === "default" || part === "defaultRequest"))
      return found.length > 0
        ? [
            fieldErrors.forbidden(
              `${field}.${part}`,
              "may not be specified when `type` is 'Pod'",
            ),
          ]
        : [];
    return found.flatMap((name) => {
      names.add(name);
      return nameProblems(`${field}.${part}[${name}]`, name);
    });
  });
  const storage = limit.min?.["storage"] ?? limit.max?.["storage"];
  if (type === "PersistentVolumeClaim" && storage === undefined)
    problems.push(
      fieldErrors.required(
        `${field}.limits`,
        "either minimum or maximum storage value is required, but neither was provided",
      ),
    );
  return [
    ...problems,
    ...[...names].flatMap((name) => boundProblems(field, limit, name)),
  ];
}

export const limitRangeStrategy = strategyOf<LimitRange>({
  countsGeneration: false,
  allowCreateOnUpdate: true,
  prepareForCreate({ metadata }) {
    metadata.name ||= randomUUID();
  },
  validate(object) {
    const limits = object.spec?.limits ?? [];
    const seen = new Set<string>();
    return limits.flatMap((limit, index) => {
      const field = `spec.limits[${index}]`;
      const { type = "" } = limit;
      const again = seen.has(type);
      seen.add(type);
      return [
        ...typeProblems(`${field}.type`, type),
        ...(again ? [fieldErrors.duplicate(`${field}.type`, type)] : []),
        ...validateItem(field, limit),
      ];
    });
  },
});
