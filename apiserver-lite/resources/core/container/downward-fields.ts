// The facts of its pod that a container may get in an environment variable or a file: fields of the pod and resources of
// a container, each with the problems a reference to it can have.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../../api/names.ts";
import { canonicalQuantity, parseQuantity } from "../../../../api/quantity.ts";
import type {
  ObjectFieldSelector,
  ResourceFieldSelector,
} from "../../../../api/types/core-v1.ts";

type Problems = FieldError[];

const metadataFields = ["metadata.name", "metadata.namespace", "metadata.uid"];
const environmentFields = [
  ...metadataFields,
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const fileFields = [
  "metadata.annotations",
  "metadata.labels",
  ...metadataFields,
];
/** Names that are known, though not every place takes each. */
const knownFields = new Set([
  ...environmentFields,
  ...fileFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);
const resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const byteUnits = [
  "1",
  ...["k", "M", "G", "T", "P", "E"].map((unit) => `1${unit}`),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => `1${unit}`),
];

type DownwardPlace = "environment" | "file";

/** `field` names the reference: `….valueFrom.fieldRef`. */
export function validateFieldRef(
  field: string,
  { apiVersion, fieldPath }: ObjectFieldSelector,
  place: DownwardPlace,
): Problems {
  if (!apiVersion) return [fieldErrors.required(`${field}.apiVersion`)];
  const path = `${field}.fieldPath`;
  if (!fieldPath) return [fieldErrors.required(path)];
  const unconvertible = (why: string): Problems => [
    fieldErrors.invalid(path, fieldPath, `error converting fieldPath: ${why}`),
  ];
  if (apiVersion !== "v1")
    return unconvertible(`unsupported pod version: ${apiVersion}`);
  const { map, key } = subscriptOf(fieldPath) ?? {};
  if (map !== undefined && key !== undefined) {
    if (map === "metadata.annotations")
      return invalidEach(
        field,
        key.toLowerCase(),
        qualifiedNameProblems(key.toLowerCase()),
      );
    if (map === "metadata.labels")
      return invalidEach(field, key, qualifiedNameProblems(key));
    return unconvertible(
      `field label does not support subscript: ${fieldPath}`,
    );
  }
  if (!knownFields.has(fieldPath))
    return unconvertible(`field label not supported: ${fieldPath}`);
  const allowed = place === "file" ? fileFields : environmentFields;
  return allowed.includes(fieldPath)
    ? []
    : [fieldErrors.notSupported(path, fieldPath, allowed)];
}

/** Worked example: `metadata.labels['a']` has the map `metadata.labels` and the key `a`. */
function subscriptOf(path: string): { map: string; key: string } | undefined {
  const at = path.indexOf("['");
  if (at <= 0 || path.length < at + 4 || !path.endsWith("']")) return undefined;
  return { map: path.slice(0, at), key: path.slice(at + 2, -2) };
}

const isHugePages = (resource: string): boolean =>
  /^(limits|requests)\.hugepages-/.test(resource);

/** Units a resource can be divided by, and what the reference calls it. */
function unitsOf(
  resource: string,
): [units: string[], name: string] | undefined {
  if (resource.endsWith(".cpu")) return [["1m", "1"], "cpu"];
  if (resource.endsWith(".memory")) return [byteUnits, "memory"];
  if (resource.endsWith(".ephemeral-storage"))
    return [byteUnits, "local ephemeral storage"];
  return isHugePages(resource) ? [byteUnits, "hugepages"] : undefined;
}

/** `field` names the reference: `….valueFrom.resourceFieldRef`. A file must name the container. */
export function validateResourceFieldRef(
  field: string,
  { containerName, resource, divisor }: ResourceFieldSelector,
  place: DownwardPlace,
): Problems {
  const problems: Problems = [];
  if (place === "file" && !containerName)
    problems.push(fieldErrors.required(`${field}.containerName`));
  else if (!resource) problems.push(fieldErrors.required(`${field}.resource`));
  else if (!resources.includes(resource) && !isHugePages(resource))
    problems.push(
      fieldErrors.notSupported(`${field}.resource`, resource, resources),
    );
  const units = unitsOf(resource ?? "");
  if (
    units &&
    divisor !== undefined &&
    parseQuantity(divisor).nano !== 0n &&
    !units[0].includes(canonicalQuantity(divisor))
  ) {
    const shown =
      units[1] === "cpu" ? units[0].join(" and ") : units[0].join(", ");
    problems.push(
      fieldErrors.invalid(
        `${field}.divisor`,
        resource,
        `only divisor's values ${shown} are supported with the ${units[1]} resource`,
      ),
    );
  }
  return problems;
}
