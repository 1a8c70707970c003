// Validation of resource requests and limits.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { ResourceRequirements } from "../../../api/types/core-v1.ts";
import { quantity } from "../field-checks.ts";

type Problems = FieldError[];

const standardResources = new Set(["cpu", "memory", "ephemeral-storage"]);

export function validateResourceName(field: string, name: string): Problems {
  const problems = invalidEach(field, name, qualifiedNameProblems(name));
  if (
    problems.length === 0 &&
    !name.includes("/") &&
    !standardResources.has(name) &&
    !name.startsWith("hugepages-")
  ) {
    problems.push(
      fieldErrors.invalid(
        field,
        name,
        "must be a standard resource for containers",
      ),
    );
  }
  return problems;
}

export function validateResources(
  field: string,
  resources: ResourceRequirements | undefined,
): Problems {
  const problems: Problems = [];
  const { limits = {}, requests = {} } = resources ?? {};
  const good = new Set<string>();
  for (const [part, list] of [
    ["limits", limits] as const,
    ["requests", requests] as const,
  ]) {
    for (const [name, value] of Object.entries(list)) {
      const path = `${field}.${part}[${name}]`;
      problems.push(...validateResourceName(path, name));
      const parsed = quantity(path, value);
      if (!("nano" in parsed)) problems.push(parsed);
      else if (parsed.nano < 0n) {
        problems.push(
          fieldErrors.invalid(
            path,
            String(value),
            "must be greater than or equal to 0",
          ),
        );
      } else good.add(`${part}.${name}`);
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    const bounded = good.has(`limits.${name}`) && good.has(`requests.${name}`);
    const isStandard = standardResources.has(name);
    if (limit !== undefined && bounded) {
      if (!isStandard && compareQuantities(request, limit) !== 0) {
        problems.push(
          fieldErrors.invalid(
            `${field}.requests`,
            String(request),
            `must be equal to ${name} limit of ${limit}`,
          ),
        );
      } else if (compareQuantities(request, limit) > 0) {
        problems.push(
          fieldErrors.invalid(
            `${field}.requests`,
            String(request),
            `must be less than or equal to ${name} limit of ${limit}`,
          ),
        );
      }
    } else if (limit === undefined && !isStandard) {
      problems.push(
        fieldErrors.required(
          `${field}.limits`,
          "Limit must be set for non overcommitable resources",
        ),
      );
    }
  }
  return problems;
}
