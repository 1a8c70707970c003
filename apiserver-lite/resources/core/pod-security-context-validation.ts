// A pod's own security context: ids in range, sysctls with names that can be ones.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { PodSecurityContext } from "../../../api/types/core-v1.ts";
import { oneOf } from "../field-checks.ts";

const maxId = 2 ** 31 - 1;
const maxSysctlLength = 253;
const sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlName = `(${sysctlSegment}[\\./])*${sysctlSegment}`;
const sysctlPattern = new RegExp(`^${sysctlName}$`);

export function validatePodSecurityContext(
  field: string,
  context: PodSecurityContext | undefined,
): FieldError[] {
  if (!context) return [];
  const { runAsUser, runAsGroup, fsGroup, supplementalGroups } = context;
  return [
    ...idInRange(`${field}.runAsUser`, runAsUser),
    ...idInRange(`${field}.runAsGroup`, runAsGroup),
    ...idInRange(`${field}.fsGroup`, fsGroup),
    ...(supplementalGroups ?? []).flatMap((group, index) =>
      idInRange(`${field}.supplementalGroups[${index}]`, group),
    ),
    ...oneOf(`${field}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
      "Always",
      "OnRootMismatch",
    ]),
    ...validateSysctls(`${field}.sysctls`, context.sysctls ?? []),
  ];
}

function idInRange(field: string, id: number | undefined): FieldError[] {
  return id === undefined || (id >= 0 && id <= maxId)
    ? []
    : [
        fieldErrors.invalid(
          field,
          id,
          `must be between 0 and ${maxId}, inclusive`,
        ),
      ];
}

function validateSysctls(
  field: string,
  sysctls: readonly { name: string }[],
): FieldError[] {
  const seen = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const path = `${field}[${index}].name`;
    // Slashes and dots separate alike, so a name may be there twice in two writings.
    const canonical = name?.replaceAll("/", ".");
    if (!name) return [fieldErrors.required(path)];
    if (name.length > maxSysctlLength || !sysctlPattern.test(name))
      return [
        fieldErrors.invalid(
          path,
          name,
          `must have at most ${maxSysctlLength} characters and match regex ^${sysctlName}$`,
        ),
      ];
    if (seen.has(canonical)) return [fieldErrors.duplicate(path, name)];
    seen.add(canonical);
    return [];
  });
}
