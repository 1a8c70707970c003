// Any object as lines of names and values, for describe. Values of Secrets are only counted.
import type { AnyObject } from "../../../api/object.ts";

/** A name with its text, or with lines of its own. */
export type Lines = readonly (readonly [string, string | Lines])[];

export const mapText = (
  map: Readonly<Record<string, string>> | undefined,
  separator = "=",
): string =>
  Object.entries(map ?? {})
    .map(([key, value]) => `${key}${separator}${value}`)
    .sort()
    .join("\n") || "<none>";

/** clusterIPs → Cluster IPs */
const words = (field: string): string =>
  `${field[0]!.toUpperCase()}${field.slice(1)}`.replace(
    /([a-z0-9])([A-Z])/g,
    "$1 $2",
  );

function linesOf(value: object): Lines {
  if (Array.isArray(value))
    return value.map((item, n) => [String(n), itemOf(item)] as const);
  return Object.entries(value).map(
    ([field, inner]) => [words(field), itemOf(inner)] as const,
  );
}

function itemOf(value: unknown): string | Lines {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
    return value.join(", ") || "<none>";
  const lines = linesOf(value);
  return lines.length === 0 ? "<none>" : lines;
}

export function fieldLines(object: AnyObject): Lines {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { name, namespace, labels, annotations, creationTimestamp } = metadata;
  const shown =
    kind === "Secret"
      ? { ...rest, data: sizes(rest["data"] as Record<string, string>) }
      : rest;
  return [
    ["Name", name],
    ...(namespace ? [["Namespace", namespace] as const] : []),
    ["Labels", mapText(labels)],
    ["Annotations", mapText(annotations, ": ")],
    ...(apiVersion && kind
      ? [["API Version", apiVersion] as const, ["Kind", kind] as const]
      : []),
    ...(creationTimestamp ? [["Created", creationTimestamp] as const] : []),
    ...linesOf(shown),
  ];
}

const sizes = (data: Readonly<Record<string, string>> = {}): object =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      `${Buffer.from(value, "base64").length} bytes`,
    ]),
  );
