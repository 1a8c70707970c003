// Validation of what a pod asks for and may use as a whole (gate PodLevelResources): cpu and memory alone, requests that
// cover those of the containers, limits that none of theirs exceeds.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import {
  podLevelResources,
  podQuantities,
} from "../../../../api/objects/pod-resources.ts";
import {
  canonicalQuantity,
  compareQuantities,
  QuantityError,
} from "../../../../api/quantity.ts";
import type { PodSpec } from "../../../../api/types/core-v1.ts";
import { validateClaimNames } from "./pod-resource-claims.ts";
import {
  validateResourceName,
  validateResources,
} from "../container/resource-validation.ts";

/** `field`: of the spec. */
export function validatePodResources(
  field: string,
  spec: PodSpec,
): FieldError[] {
  const { resources, ...rest } = spec;
  if (!resources) return [];
  const path = `${field}.resources`;
  const problems: FieldError[] = [];
  if (resources.claims)
    problems.push(
      fieldErrors.forbidden(
        `${path}.claims`,
        "claims cannot be set for Resources at pod-level",
      ),
    );
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  problems.push(
    ...validateResources(path, resources, validateName),
    ...validateClaimNames(`${path}.claims`, resources.claims, known),
  );
  // Quantities that can't be read are reported above, and the containers' by their own validation.
  try {
    problems.push(...tooSmall(path, rest, resources.requests ?? {}));
    problems.push(...exceeding(path, spec, resources.limits ?? {}));
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
  }
  return problems;
}

function validateName(field: string, name: string): FieldError[] {
  const problems = validateResourceName(field, name);
  return problems.length > 0 || podLevelResources.includes(name)
    ? problems
    : [fieldErrors.notSupportedShown(field, name, podLevelResources)];
}

function tooSmall(
  path: string,
  spec: PodSpec,
  requests: Readonly<Record<string, string>>,
): FieldError[] {
  return Object.entries(podQuantities(spec, "requests", { overhead: false }))
    .sort()
    .flatMap(([name, asked]) => {
      const own = requests[name] ?? "0";
      return compareQuantities(asked, own) > 0
        ? [
            fieldErrors.invalid(
              `${path}.requests[${name}]`,
              canonicalQuantity(own),
              `must be greater than or equal to aggregate container requests of ${canonicalQuantity(asked)}`,
            ),
          ]
        : [];
    });
}

function exceeding(
  path: string,
  { containers }: PodSpec,
  limits: Readonly<Record<string, string>>,
): FieldError[] {
  return containers.flatMap(({ resources }, index) =>
    Object.entries(resources?.limits ?? {})
      .sort()
      .flatMap(([name, limit]) => {
        const own = limits[name];
        return own !== undefined && compareQuantities(limit, own) > 0
          ? [
              fieldErrors.invalid(
                `${path}.containers[${index}][${name}].limits`,
                canonicalQuantity(limit),
                `must be less than or equal to pod limits of ${canonicalQuantity(own)}`,
              ),
            ]
          : [];
      }),
  );
}
