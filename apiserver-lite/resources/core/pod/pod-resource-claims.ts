// Validation of the ResourceClaims that a pod and its containers refer to, and of what its status says of them.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
} from "../../../../api/names.ts";
import type {
  Pod,
  PodResourceClaim,
  ResourceClaim,
} from "../../../../api/types/core-v1.ts";
import { ofEach } from "../../field-checks.ts";
import { mirrorAnnotation } from "./pod-annotations.ts";
import { containersOf } from "./pod-security-validation.ts";

export function validatePodResourceClaims({
  metadata,
  spec,
}: Pod): FieldError[] {
  const claims = spec.resourceClaims ?? [];
  const seen = new Set<string>();
  const isMirror = metadata.annotations?.[mirrorAnnotation] !== undefined;
  const names = new Set(claims.map(({ name }) => name).filter(Boolean));
  return [
    ...ofEach(claims, (claim, index) =>
      isMirror
        ? [
            fieldErrors.forbidden(
              "",
              "static pods do not support resource claims",
            ),
          ]
        : validateClaim(`spec.resourceClaims[${index}]`, claim, seen),
    ),
    ...containersOf("spec", spec).flatMap(([field, { resources }]) =>
      validateClaimNames(`${field}.resources.claims`, resources?.claims, names),
    ),
  ];
}

function validateClaim(
  field: string,
  claim: PodResourceClaim,
  seen: Set<string>,
): FieldError[] {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  const problems: FieldError[] = [];
  if (!name) problems.push(fieldErrors.required(`${field}.name`));
  else if (seen.has(name))
    problems.push(fieldErrors.duplicate(`${field}.name`, name));
  else
    problems.push(
      ...invalidEach(`${field}.name`, name, dnsLabelProblems(name)),
    );
  seen.add(name);
  const has = [resourceClaimName, resourceClaimTemplateName].filter(
    (each) => each !== undefined,
  );
  if (has.length !== 1)
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("core.PodResourceClaim", claim),
        has.length > 1
          ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
          : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
      ),
    );
  for (const [part, value] of Object.entries({
    resourceClaimName,
    resourceClaimTemplateName,
  }))
    if (value !== undefined)
      problems.push(
        ...invalidEach(`${field}.${part}`, value, dnsSubdomainProblems(value)),
      );
  return problems;
}

/** A container may name a claim as a whole, or some of its requests. */
export function validateClaimNames(
  field: string,
  claims: readonly ResourceClaim[] | undefined,
  known: ReadonlySet<string>,
): FieldError[] {
  const keys = new Set<string>();
  return ofEach(claims, ({ name, request }, index) => {
    const path = `${field}[${index}]`;
    if (!name) return [fieldErrors.required(path)];
    const problems: FieldError[] = [];
    if (keys.has(name)) problems.push(fieldErrors.duplicate(path, name));
    else {
      if (request)
        problems.push(
          ...invalidEach(`${path}.request`, request, dnsLabelProblems(request)),
        );
      const key = request ? `${name}/${request}` : name;
      const overlaps = request
        ? keys.has(key)
        : [...keys].some((each) => each.startsWith(`${name}/`));
      if (overlaps) problems.push(fieldErrors.duplicate(path, key));
      keys.add(key);
    }
    if (!known.has(name)) {
      const which =
        known.size === 0
          ? " which is empty"
          : `: ${[...known].sort().join(", ")}`;
      problems.push(
        fieldErrors.notFound(
          path,
          name,
          `must be one of the names in pod.spec.resourceClaims${which}`,
        ),
      );
    }
    return problems;
  });
}

export function validateResourceClaimStatuses({
  spec,
  status,
}: Pod): FieldError[] {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  return ofEach(status?.resourceClaimStatuses, (each, index) => {
    const { name, resourceClaimName } = each;
    const field = `status.resourceClaimStatuses[${index}].name`;
    const again = seen.has(name);
    seen.add(name);
    return [
      ...(known.has(name)
        ? []
        : [
            fieldErrors.invalid(
              field,
              name,
              "must match the name of an entry in `spec.resourceClaims`",
            ),
          ]),
      ...(again ? [fieldErrors.duplicate(field, name)] : []),
      ...(resourceClaimName === undefined
        ? []
        : invalidEach(
            field,
            resourceClaimName,
            dnsSubdomainProblems(resourceClaimName),
          )),
    ];
  });
}
