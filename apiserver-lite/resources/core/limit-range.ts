// LimitRanges: bounds that don't contradict each other.
import { randomUUID } from "node:crypto";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { LimitRange } from "../../../api/types/core-v1.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { quantity } from "../field-checks.ts";

const parts = [
  "max",
  "min",
  "default",
  "defaultRequest",
  "maxLimitRequestRatio",
] as const;
/** The first may not be above the second. */
const order = [
  ["min", "max"],
  ["defaultRequest", "max"],
  ["default", "max"],
  ["min", "defaultRequest"],
  ["min", "default"],
  ["defaultRequest", "default"],
] as const;

export const limitRangeStrategy: ResourceStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  prepareForCreate({ metadata }) {
    metadata.name ||= randomUUID();
  },
  validate(object) {
    const problems: FieldError[] = [];
    const seen = new Set<string>();
    for (const [index, limit] of (
      (object as unknown as LimitRange).spec?.limits ?? []
    ).entries()) {
      const path = `spec.limits[${index}]`;
      if (seen.has(limit.type))
        problems.push(fieldErrors.duplicate(`${path}.type`, limit.type));
      seen.add(limit.type);
      const before = problems.length;
      for (const part of parts) {
        for (const [name, value] of Object.entries(limit[part] ?? {})) {
          const parsed = quantity(`${path}.${part}[${name}]`, value);
          if (!("nano" in parsed)) problems.push(parsed);
        }
      }
      if (limit.type === "Pod") {
        for (const part of ["default", "defaultRequest"] as const) {
          if (Object.keys(limit[part] ?? {}).length > 0) {
            problems.push(
              fieldErrors.forbidden(
                `${path}.${part}`,
                "may not be specified when `type` is 'Pod'",
              ),
            );
          }
        }
      }
      if (problems.length > before) continue;
      for (const [low, high] of order) {
        for (const [name, value] of Object.entries(limit[low] ?? {})) {
          const bound = limit[high]?.[name];
          if (bound === undefined || compareQuantities(value, bound) <= 0)
            continue;
          problems.push(
            fieldErrors.invalid(
              `${path}.${low}[${name}]`,
              value,
              `${low} value ${value} is greater than ${high} value ${bound}`,
            ),
          );
        }
      }
    }
    return problems;
  },
};
