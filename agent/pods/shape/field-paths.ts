// Values that a pod learns about itself: fieldRef and resourceFieldRef, for environment variables and downwardAPI files.
import { goQuoted } from "../../../api/field-errors.ts";
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "../../../api/quantity.ts";
import type {
  Container,
  ObjectFieldSelector,
  Pod,
  ResourceFieldSelector,
} from "../../../api/types/core-v1.ts";
import { findContainer } from "./pod-shape.ts";
import { ownValue } from "../../../api/objects/own-value.ts";

export interface NodeResources {
  cpuMillis: number;
  memoryBytes: number;
  ephemeralStorageBytes: number;
}

/** Throws with the reference's text for a path that can't be used. */
export function podFieldValue(
  pod: Pod,
  { fieldPath: path }: ObjectFieldSelector,
): string {
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (subscript) {
    const [, field = "", key = ""] = subscript;
    const map = pod.metadata[field as "labels" | "annotations"];
    return ownValue(map, key) ?? "";
  }
  switch (path) {
    case "metadata.name":
      return pod.metadata.name;
    case "metadata.namespace":
      return pod.metadata.namespace ?? "default";
    case "metadata.uid":
      return pod.metadata.uid ?? "";
    case "metadata.labels":
      return formatMap(pod.metadata.labels);
    case "metadata.annotations":
      return formatMap(pod.metadata.annotations);
    case "spec.nodeName":
      return pod.spec.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec.serviceAccountName ?? "";
    case "status.hostIP":
      return pod.status?.hostIP ?? "";
    case "status.hostIPs":
      return (pod.status?.hostIPs ?? []).map(({ ip }) => ip).join(",");
    case "status.podIP":
      return pod.status?.podIP ?? "";
    case "status.podIPs":
      return (pod.status?.podIPs ?? []).map(({ ip }) => ip).join(",");
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

/** Lines `key="value"`, sorted by key, with the value escaped as a Go string. */
function formatMap(map: Record<string, string> | undefined): string {
  return Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${goQuoted(map![key]!)}`)
    .join("\n");
}

/** A limit that is not set is the node's allocatable amount. */
export function resourceFieldValue(
  pod: Pod,
  own: Container | undefined,
  field: ResourceFieldSelector,
  node: NodeResources,
): string {
  const container = field.containerName
    ? findContainer(pod, field.containerName)?.container
    : own;
  if (!container)
    throw new Error(`container ${field.containerName ?? ""} not found`);
  const [bag, ...rest] = field.resource.split(".");
  const name = rest.join(".");
  const limits = container.resources?.limits ?? {};
  const values =
    bag === "limits" ? limits : { ...limits, ...container.resources?.requests };
  if (bag !== "limits" && bag !== "requests")
    throw new Error(`unsupported container resource : ${field.resource}`);
  const divisorText =
    field.divisor && field.divisor !== "0" ? field.divisor : "1";
  const divisor = parseQuantity(divisorText);
  const text = values[name];
  if (name === "cpu") {
    const millis =
      text !== undefined
        ? quantityMilliValue(parseQuantity(text))
        : bag === "limits"
          ? node.cpuMillis
          : 0;
    return String(Math.ceil(millis / quantityMilliValue(divisor)));
  }
  const fallback =
    bag !== "limits"
      ? 0
      : name === "memory"
        ? node.memoryBytes
        : name === "ephemeral-storage"
          ? node.ephemeralStorageBytes
          : 0;
  const value =
    text !== undefined ? quantityValue(parseQuantity(text)) : fallback;
  return String(Math.ceil(value / quantityValue(divisor)));
}
