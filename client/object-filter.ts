// Which objects an informer's options choose, for informers that filter by themselves.
import type { KubeObject } from "../api/object.ts";
import { parseFieldSelector, parseLabelSelector } from "../api/selectors.ts";

/** The text of a field of an object by its dotted path, "" when it is absent: the form field selectors compare. */
function fieldText(object: object, path: string): string {
  let value: unknown = object;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null) return "";
    value = (value as Record<string, unknown>)[part];
  }
  return value === undefined || value === null ? "" : String(value);
}

/** @returns a test of an object against namespace and selectors; throws an ApiError 400 on a bad selector */
export function objectFilter<T extends KubeObject>(options: {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}): (object: T) => boolean {
  const { namespace } = options;
  const labels = options.labelSelector
    ? parseLabelSelector(options.labelSelector)
    : undefined;
  const fields = options.fieldSelector
    ? parseFieldSelector(options.fieldSelector)
    : undefined;
  return (object) => {
    if (namespace && object.metadata.namespace !== namespace) return false;
    if (labels && !labels.matches(object.metadata.labels)) return false;
    return (
      !fields ||
      fields.requirements.every(
        ({ field, op, value }) =>
          (fieldText(object, field) === value) === (op === "="),
      )
    );
  };
}
