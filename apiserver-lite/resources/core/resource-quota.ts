// ResourceQuotas: quantities that are not negative, scopes that exist and never change.
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { ResourceQuota } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, nonNegativeQuantity } from "../field-checks.ts";

const asQuota = (object: Readonly<AnyObject>): ResourceQuota =>
  object as unknown as ResourceQuota;
const scopes = [
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating",
];

/** "pods: 1/2, secrets: 0/5": what is used of what is allowed, requests and limits apart. */
function usage(quota: ResourceQuota): [string, string] {
  const requests: string[] = [];
  const limits: string[] = [];
  const hard = quota.status?.hard ?? {};
  for (const name of Object.keys(hard).sort()) {
    const text = `${name}: ${quota.status?.used?.[name] ?? "0"}/${hard[name]}`;
    (name.startsWith("limits.") ? limits : requests).push(text);
  }
  return [requests.join(", "), limits.join(", ")];
}

export const resourceQuotaStrategy: ResourceStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    asQuota(object).status = {};
  },
  prepareForUpdate(object, old) {
    asQuota(object).status = { ...asQuota(old).status };
  },
  validate(object) {
    const { spec } = asQuota(object);
    const problems = Object.entries(spec?.hard ?? {}).flatMap(([name, value]) =>
      nonNegativeQuantity(`spec.hard[${name}]`, value),
    );
    for (const scope of spec?.scopes ?? []) {
      if (!scopes.includes(scope))
        problems.push(
          fieldErrors.invalid("spec.scopes", spec?.scopes, "unsupported scope"),
        );
    }
    return problems;
  },
  validateUpdate: (object, old) =>
    immutable(
      "spec.scopes",
      [...(asQuota(object).spec?.scopes ?? [])].sort(),
      [...(asQuota(old).spec?.scopes ?? [])].sort(),
    ),
  status: {
    prepareForUpdate(object, old) {
      asQuota(object).spec = { ...asQuota(old).spec };
    },
  },
  printRow: (object, now) => {
    const quota = asQuota(object);
    return [
      quota.metadata.name,
      formatAge(quota.metadata.creationTimestamp, now),
      ...usage(quota),
    ];
  },
};
