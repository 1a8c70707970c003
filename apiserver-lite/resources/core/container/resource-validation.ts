// Validation of resource requests and limits: names of resources, quantities, and what requests and limits must be to
// each other.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../../api/names.ts";
import {
  isExtendedResource,
  isNativeResource,
} from "../../../../api/objects/resource-names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  QuantityError,
} from "../../../../api/quantity.ts";
import type { ResourceRequirements } from "../../../../api/types/core-v1.ts";
import { quantity } from "../../field-checks.ts";

type Problems = FieldError[];

const containerResources = new Set(["cpu", "memory", "ephemeral-storage"]);
/** What quotas know by a bare name. */
const quotaResources = new Set([
  ...containerResources,
  "configmaps",
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
  "requests.storage",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports",
  "storage",
]);
const hugePages = "hugepages-";
const nanoInOne = 1_000_000_000n;

const isHugePages = (name: string): boolean => name.startsWith(hugePages);
const isQuotaName = (name: string): boolean =>
  quotaResources.has(name) ||
  isHugePages(name) ||
  name.startsWith(`requests.${hugePages}`);

/** What a quota may count by that name. */
export function validateQuotaResourceName(
  field: string,
  name: string,
): Problems {
  const problems = validateResourceName(field, name);
  if (!name.includes("/") && !isQuotaResource(name))
    problems.push(
      invalidResource(field, name, "must be a standard resource for quota"),
    );
  return problems;
}

/** Of claims a quota counts `requests.storage`. */
export const isQuotaResource = (name: string): boolean =>
  name !== "storage" && isQuotaName(name);

/** Whether a request may be below its limit. */
const mayOvercommit = (name: string): boolean =>
  isNativeResource(name) && !isHugePages(name);

/** A quantity as the reference prints its struct; `printed`: its text has been asked for before. */
export function goQuantity(value: string, printed = false): string {
  const canonical = canonicalQuantity(value);
  const binary = /[KMGTPE]i$/.test(canonical);
  let [digits, scale] = [parseQuantity(value).nano, -9];
  while (scale < 0 && digits % 10n === 0n)
    [digits, scale] = [digits / 10n, scale + 1];
  const text = printed || scale === 0 ? canonical : "";
  return `resource.Quantity{i:resource.int64Amount{value:${digits}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:${binary ? '"BinarySI"' : '"DecimalSI"'}}`;
}

/** Names of resources are shown without quotes. */
const invalidResource = (
  field: string,
  name: string,
  why: string,
): FieldError => fieldErrors.invalidShown(field, name, why);

/** Problems of any resource's name: qualified, or one the server knows. */
export function validateResourceName(field: string, name: string): Problems {
  const bad = qualifiedNameProblems(name);
  if (bad.length > 0)
    return bad.map((text) => invalidResource(field, name, text));
  return name.includes("/") || isQuotaName(name)
    ? []
    : [
        invalidResource(
          field,
          name,
          "must be a standard resource type or fully qualified",
        ),
      ];
}

export function validateContainerResourceName(
  field: string,
  name: string,
): Problems {
  const problems = validateResourceName(field, name);
  if (!name.includes("/")) {
    if (!containerResources.has(name) && !isHugePages(name))
      problems.push(
        invalidResource(
          field,
          name,
          "must be a standard resource for containers",
        ),
      );
  } else if (!isNativeResource(name) && !isExtendedResource(name))
    problems.push(
      invalidResource(
        field,
        name,
        "doesn't follow extended resource name standard",
      ),
    );
  return problems;
}

/** Things that come in whole pieces only. */
const isCounted = (name: string): boolean =>
  isExtendedResource(name) ||
  (quotaResources.has(name) &&
    !/(^|\.)(cpu|memory|storage|ephemeral-storage)$/.test(name));

/** Not negative; whole for what is counted in pieces. */
export function validateResourceQuantity(
  field: string,
  name: string,
  value: unknown,
): Problems {
  const parsed = quantity(field, value);
  if (!("nano" in parsed)) return [parsed];
  const problems: Problems = [];
  if (parsed.nano < 0n)
    problems.push(
      fieldErrors.invalid(
        field,
        canonicalQuantity(String(value)),
        "must be greater than or equal to 0",
      ),
    );
  if (isCounted(name) && parsed.nano % nanoInOne !== 0n)
    problems.push(
      fieldErrors.invalidShown(
        field,
        goQuantity(String(value)),
        "must be an integer",
      ),
    );
  return problems;
}

function pageBytes(name: string): bigint {
  try {
    return parseQuantity(name.slice(hugePages.length)).nano;
  } catch (error) {
    if (error instanceof QuantityError) return 0n;
    throw error;
  }
}

function validatePages(field: string, name: string, value: string): Problems {
  if (!isHugePages(name)) return [];
  const page = pageBytes(name);
  if (page > 0n && parseQuantity(value).nano % page === 0n) return [];
  const shown = canonicalQuantity(value);
  return [
    fieldErrors.invalid(
      field,
      shown,
      `${shown} is not positive integer multiple of ${name}`,
    ),
  ];
}

function validateAgainstLimit(
  field: string,
  name: string,
  request: string,
  limit: string | undefined,
): Problems {
  if (limit === undefined)
    return mayOvercommit(name)
      ? []
      : [
          fieldErrors.required(
            `${field}.limits`,
            "Limit must be set for non overcommitable resources",
          ),
        ];
  const order = compareQuantities(request, limit);
  const relation =
    order !== 0 && !mayOvercommit(name)
      ? "equal to"
      : order > 0
        ? "less than or equal to"
        : undefined;
  return relation
    ? [
        fieldErrors.invalid(
          `${field}.requests`,
          canonicalQuantity(request),
          `must be ${relation} ${name} limit of ${canonicalQuantity(limit)}`,
        ),
      ]
    : [];
}

/** Names in the order of their letters: the reference's own order is none. */
const sorted = (
  list: Readonly<Record<string, string>> | undefined,
): [string, string][] =>
  Object.keys(list ?? {})
    .sort()
    .map((name) => [name, String(list![name])]);

/** @param validateName which resources may be named; default: those of containers */
export function validateResources(
  field: string,
  resources: ResourceRequirements | undefined,
  validateName = validateContainerResourceName,
): Problems {
  const problems: Problems = [];
  if (!resources) return problems;
  const { limits = {}, requests = {} } = resources;
  for (const part of ["limits", "requests"] as const) {
    for (const [name, value] of sorted(resources[part])) {
      const path = `${field}.${part}[${name}]`;
      problems.push(
        ...validateName(path, name),
        ...validateResourceQuantity(path, name, value),
      );
      if (part === "requests")
        problems.push(
          ...validateAgainstLimit(
            field,
            name,
            value,
            limits[name] === undefined ? undefined : String(limits[name]),
          ),
        );
      problems.push(...validatePages(path, name, value));
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (
    names.some(isHugePages) &&
    !names.some((name) => name === "cpu" || name === "memory")
  )
    problems.push(
      fieldErrors.forbidden(field, "HugePages require cpu or memory"),
    );
  return problems;
}
