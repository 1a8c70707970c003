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

/** A limit that is not set, or zero, is the node's allocatable amount. */
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
  if ((bag !== "limits" && bag !== "requests") || !isFieldResource(name))
    throw new Error(`unsupported container resource : ${field.resource}`);
  const limits = container.resources?.limits ?? {};
  const text =
    bag === "limits"
      ? limits[name]
      : { ...limits, ...container.resources?.requests }[name];
  const divisor = parseQuantity(field.divisor ?? "1");
  const amountOf = name === "cpu" ? quantityMilliValue : quantityValue;
  const said = text === undefined ? 0 : amountOf(parseQuantity(text));
  const value = said === 0 && bag === "limits" ? ofNode(name, node) : said;
  return String(Math.ceil(value / (amountOf(divisor) || amountOf("1"))));
}

function isFieldResource(name: string): boolean {
  return (
    ["cpu", "memory", "ephemeral-storage"].includes(name) ||
    name.startsWith("hugepages-")
  );
}

function ofNode(name: string, node: NodeResources): number {
  switch (name) {
    case "cpu":
      return node.cpuMillis;
    case "memory":
      return node.memoryBytes;
    case "ephemeral-storage":
      return node.ephemeralStorageBytes;
    default:
      return 0;
  }
}
