// Which objects an informer's options choose, for informers that filter by themselves.
import type { KubeObject } from "../api/object.ts";
import { parseFieldSelector, parseLabelSelector } from "../api/selectors.ts";

interface FilterOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/**
 * @returns a test of an object against namespace and selectors, compiled once, as it is called for both sides of every
 * event; throws an ApiError 400 on a bad selector
 */
export function objectFilter<T extends KubeObject>(
  options: FilterOptions,
): (object: T) => boolean {
  const { namespace, labelSelector, fieldSelector } = options;
  const labels = labelSelector ? parseLabelSelector(labelSelector) : undefined;
  const fields = (
    fieldSelector ? parseFieldSelector(fieldSelector).requirements : []
  ).map(({ field, op, value }) => ({
    textOf: fieldReader(field),
    value,
    wanted: op === "=",
  }));
  return (object) => {
    if (namespace && object.metadata.namespace !== namespace) return false;
    if (labels && !labels.matches(object.metadata.labels)) return false;
    for (const { textOf, value, wanted } of fields)
      if ((textOf(object) === value) !== wanted) return false;
    return true;
  };
}

/** Reads the field at a dotted path as text, "" when it is absent: the form field selectors compare. */
function fieldReader(path: string): (object: object) => string {
  const parts = path.split(".");
  return (object) => {
    let value: unknown = object;
    for (const part of parts) {
      if (typeof value !== "object" || value === null) return "";
      value = Object.hasOwn(value, part)
        ? (value as Record<string, unknown>)[part]
        : undefined;
    }
    return value === undefined || value === null ? "" : String(value);
  };
}
