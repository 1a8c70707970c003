// The conditions ("when") and sources ("from") of api/facts/defaults.json, as functions. The table names them in words;
// a word that is not known here stops compilation of the kind's defaults, so a new table can't be half understood.
import { podLevelResources, podQuantities } from "./objects/pod-resources.ts";
import type { PodSpec } from "./types/core-v1.ts";

export type Plain = Record<string, unknown>;

/**
 * `root` is the object of the type that owns the rule, `base` the nearest object on the path that holds the field
 * (the list element for rules inside lists), `value` the field's present value.
 */
export type Condition = (root: Plain, base: Plain, value: unknown) => boolean;
type Source = (root: Plain, base: Plain) => unknown;

export const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0);
const isUnset = (value: unknown): boolean =>
  value === undefined || value === null;

/** Reads `a.b.c`; undefined where a step is missing. */
export function read(object: unknown, path: string): unknown {
  let value = object;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Plain)[step];
  }
  return value;
}

/** An image without tag and digest, or with the tag latest, is pulled always. */
function isLatestImage(image: unknown): boolean {
  if (isEmptyValue(image)) return false;
  const text = typeof image === "string" ? image : "";
  const digest = text.indexOf("@");
  const name = digest < 0 ? text : text.slice(0, digest);
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  const tag = colon < 0 ? "" : name.slice(colon + 1);
  return tag === "latest" || (tag === "" && digest < 0);
}

const isRolling = (root: Plain, strategy: string): boolean =>
  read(root, `spec.${strategy}.type`) === "RollingUpdate";
const templateLabels = (root: Plain): unknown =>
  read(root, "spec.template.metadata.labels");
const hasResizeEntry = (base: Plain, resource: string): boolean =>
  ((base["resizePolicy"] as Plain[] | undefined) ?? []).some(
    (entry) => entry["resourceName"] === resource,
  );
const requestOf = (base: Plain, resource: string): unknown =>
  read(base, `resources.requests.${resource}`);

export const conditions: Readonly<Record<string, Condition>> = {
  empty: (_root, _base, value) => isEmptyValue(value),
  "empty and names.kind non-empty": (root, _base, value) =>
    isEmptyValue(value) && !isEmptyValue(read(root, "names.kind")),
  "spec.updateStrategy.type == RollingUpdate and unset": (root, _base, value) =>
    isUnset(value) && isRolling(root, "updateStrategy"),
  "spec.strategy.type == RollingUpdate and unset": (root, _base, value) =>
    isUnset(value) && isRolling(root, "strategy"),
  // "was empty" is only known before the type is set: the compiler runs this rule ahead of the one that sets it.
  "unset and spec.updateStrategy.type was empty": (root, _base, value) =>
    isUnset(value) && isEmptyValue(read(root, "spec.updateStrategy.type")),
  "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and partition unset":
    (root, _base, value) =>
      isUnset(value) &&
      isRolling(root, "updateStrategy") &&
      !isUnset(read(root, "spec.updateStrategy.rollingUpdate")),
  "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and maxUnavailable unset":
    (root, _base, value) =>
      isUnset(value) &&
      isRolling(root, "updateStrategy") &&
      !isUnset(read(root, "spec.updateStrategy.rollingUpdate")),
  "unset (parent created when missing)": (_root, _base, value) =>
    isUnset(value),
  "spec.behavior set and unset": (root, _base, value) =>
    isUnset(value) && !isUnset(read(root, "spec.behavior")),
  "completions and parallelism both unset": (root) =>
    isUnset(read(root, "spec.completions")) &&
    isUnset(read(root, "spec.parallelism")),
  "unset and spec.backoffLimitPerIndex set": (root, _base, value) =>
    isUnset(value) && !isUnset(read(root, "spec.backoffLimitPerIndex")),
  "unset and spec.backoffLimitPerIndex unset": (root, _base, value) =>
    isUnset(value) && isUnset(read(root, "spec.backoffLimitPerIndex")),
  "metadata.labels empty and template labels set": (root, _base, value) =>
    isEmptyValue(value) && !isEmptyValue(templateLabels(root)),
  "unset and spec.podFailurePolicy set": (root, _base, value) =>
    isUnset(value) && !isUnset(read(root, "spec.podFailurePolicy")),
  "unset and spec.podFailurePolicy unset": (root, _base, value) =>
    isUnset(value) && isUnset(read(root, "spec.podFailurePolicy")),
  "empty and spec.egress empty": (root, _base, value) =>
    isEmptyValue(value) && isEmptyValue(read(root, "spec.egress")),
  "empty and spec.egress non-empty": (root, _base, value) =>
    isEmptyValue(value) && !isEmptyValue(read(root, "spec.egress")),
  "empty and kind in User,Group": (_root, base, value) =>
    isEmptyValue(value) &&
    (base["kind"] === "User" || base["kind"] === "Group"),
  "allocationMode == ExactCount and count == 0": (_root, base, value) =>
    isEmptyValue(value) && base["allocationMode"] === "ExactCount",
  // An empty map is never written, so there is nothing to set.
  "unset (in memory only: an empty map is left out of JSON)": () => false,
  "empty and image tag is latest, or image has neither tag nor digest": (
    _root,
    base,
    value,
  ) => isEmptyValue(value) && isLatestImage(base["image"]),
  "empty and any other image": (_root, base, value) =>
    isEmptyValue(value) && !isLatestImage(base["image"]),
  "type == Container": (_root, base) => base["type"] === "Container",
  "metadata.name non-empty": (root) =>
    !isEmptyValue(read(root, "metadata.name")),
  "allocatable unset and capacity set": (_root, base, value) =>
    isUnset(value) && !isUnset(base["capacity"]),
  "limits set": (_root, base) => !isUnset(base["limits"]),
  "requests has cpu and no entry for cpu": (_root, base) =>
    !isUnset(requestOf(base, "cpu")) && !hasResizeEntry(base, "cpu"),
  "requests has memory and no entry for memory": (_root, base) =>
    !isUnset(requestOf(base, "memory")) && !hasResizeEntry(base, "memory"),
  "spec.resources.limits non-empty": (root) =>
    !isEmptyValue(read(root, "spec.resources.limits")),
  "spec.hostNetwork and hostPort == 0": (root, _base, value) =>
    isEmptyValue(value) && read(root, "spec.hostNetwork") === true,
  "spec.selector empty and template labels set": (root, _base, value) =>
    isEmptyValue(value) && !isEmptyValue(templateLabels(root)),
  "spec.sessionAffinity == None": (root) =>
    read(root, "spec.sessionAffinity") === "None",
  "spec.sessionAffinity == ClientIP and timeoutSeconds unset": (
    root,
    _base,
    value,
  ) => isUnset(value) && read(root, "spec.sessionAffinity") === "ClientIP",
  "targetPort unset, 0 or empty string": (_root, _base, value) =>
    isEmptyValue(value),
  "empty and (spec.type in NodePort,LoadBalancer or (spec.type == ClusterIP and spec.externalIPs non-empty))":
    (root, _base, value) => {
      const type = read(root, "spec.type");
      return (
        isEmptyValue(value) &&
        (type === "NodePort" ||
          type === "LoadBalancer" ||
          (type === "ClusterIP" &&
            !isEmptyValue(read(root, "spec.externalIPs"))))
      );
    },
  "unset and spec.type in ClusterIP,NodePort,LoadBalancer": (
    root,
    _base,
    value,
  ) =>
    isUnset(value) &&
    ["ClusterIP", "NodePort", "LoadBalancer"].includes(
      String(read(root, "spec.type")),
    ),
  "unset and spec.type == LoadBalancer": (root, _base, value) =>
    isUnset(value) && read(root, "spec.type") === "LoadBalancer",
  "spec.type == LoadBalancer and ip non-empty and ipMode unset": (
    root,
    base,
    value,
  ) =>
    isUnset(value) &&
    read(root, "spec.type") === "LoadBalancer" &&
    !isEmptyValue(base["ip"]),
  "no volume source field set": (_root, base) =>
    Object.keys(base).every(
      (field) => field === "name" || isUnset(base[field]),
    ),
  "image set, pullPolicy empty, reference tag is latest or absent without digest":
    (_root, base, value) =>
      isEmptyValue(value) && isLatestImage(base["reference"]),
  "image set, pullPolicy empty, any other reference": (_root, base, value) =>
    isEmptyValue(value) && !isLatestImage(base["reference"]),
};

/** Values are copied by the caller. Sources that are plain paths of the same object need no entry. */
export const sources: Readonly<Record<string, Source>> = {
  "name of the spec.versions[] entry with storage true": (root) => {
    const stored = (
      (read(root, "spec.versions") as Plain[] | undefined) ?? []
    ).find((version) => version["storage"]);
    return stored ? [stored["name"]] : undefined;
  },
  "lower-case names.kind": (root) =>
    String(read(root, "names.kind") ?? "").toLowerCase() || undefined,
  "names.kind + List": (root) => `${String(read(root, "names.kind"))}List`,
  "sum of container requests, then spec.resources.limits{}": (root) => {
    const { resources, ...spec } = root["spec"] as PodSpec;
    return Object.fromEntries(
      Object.entries({
        ...resources?.limits,
        ...podQuantities(spec, "requests", { overhead: false }),
      }).filter(([name]) => podLevelResources.includes(name)),
    );
  },
};
