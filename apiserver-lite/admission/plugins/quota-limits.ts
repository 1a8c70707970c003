// Resources that ResourceQuota's configuration limits: they are consumed only where a quota of the namespace covers them.
import { ApiError, errors } from "../../../api/errors.ts";
import {
  holdsFor,
  isInQuotaScope,
  scopesOf,
  type QuotaScope,
} from "../../../api/objects/quota/scope.ts";
import { usageOf } from "../../../api/objects/quota/usage.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { Pod, ResourceQuota } from "../../../api/types/core-v1.ts";
import { typed } from "../../resources/typed.ts";
import type { AdmissionAttributes } from "../plugin.ts";
import { nameOf } from "./requests.ts";

export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Parts of names of quantities: `requests.storage`, `.storageclass`. */
  readonly matchContains: readonly string[];
  /** Of pods only. */
  readonly matchScopes: readonly QuotaScope[];
}

/** Throws what the reference answers where no quota covers what the object consumes. */
export function requireCovering(
  limited: readonly LimitedResource[],
  quotas: readonly ResourceQuota[],
  attributes: AdmissionAttributes,
  nowMs: number,
): void {
  const { object, resource } = attributes;
  const own = limited.filter(
    (each) =>
      each.group === resource.group && each.resource === resource.resource,
  );
  if (own.length === 0 || !object) return;
  const parts = own.flatMap(({ matchContains }) => matchContains);
  const covered = new Set(
    quotas
      .filter((quota) => isInQuotaScope(quota, resource.resource, object))
      .flatMap(({ spec }) => Object.keys(spec?.hard ?? {})),
  );
  const missing = Object.entries(
    usageOf(resource.group, resource.resource, object, nowMs),
  ).flatMap(([name, value]) =>
    compareQuantities(value, "0") > 0 &&
    parts.some((part) => name.includes(part)) &&
    !covered.has(name)
      ? [name]
      : [],
  );
  if (missing.length > 0)
    throw errors.forbidden(
      resource,
      nameOf(attributes),
      `insufficient quota to consume: ${missing.sort().join(",")}`,
    );
  if (resource.group !== "" || resource.resource !== "pods") return;
  const pod = typed<Pod>(object);
  const granted = new Set(
    quotas
      .flatMap(scopesOf)
      .filter((scope) => holdsFor(scope, pod))
      .map(({ scopeName }) => scopeName),
  );
  const uncovered = own
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => holdsFor(scope, pod) && !granted.has(scope.scopeName));
  if (uncovered.length === 0) return;
  const shown = uncovered.map(
    ({ scopeName, operator, values = [] }) =>
      `{${scopeName} ${operator} [${values.join(" ")}]}`,
  );
  throw new ApiError({
    code: 500,
    message: `insufficient quota to match these scopes: [${shown.join(" ")}]`,
  });
}
