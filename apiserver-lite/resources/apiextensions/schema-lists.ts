// What a definition's schema may say of the items of sets and of maps.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { isJsonObject } from "../../../api/patch/json-value.ts";
import type { JSONSchemaProps } from "../../../api/types/apiextensions-v1.ts";

/** The key by which the items of a set are not one, undefined when they are. */
export function nonAtomic(items: JSONSchemaProps): string | undefined {
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array")
    return listType === undefined || listType === "atomic"
      ? undefined
      : "x-kubernetes-list-type";
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic"
    ? "x-kubernetes-map-type"
    : undefined;
}

/** Items of sets and maps are never null, and their keys always have a value. */
export function keyedItemProblems(
  schema: JSONSchemaProps,
  field: string,
): FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  if (!isJsonObject(schema.items)) return [];
  if (listType !== "set" && listType !== "map") return [];
  const items: JSONSchemaProps = schema.items;
  const problems: FieldError[] = [];
  if (items.nullable)
    problems.push(
      fieldErrors.forbidden(
        `${field}.items.nullable`,
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    );
  if (listType === "set") return problems;
  const { properties = {}, required = [] } = items;
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    if (!Object.hasOwn(properties, key)) continue;
    const at = `${field}.items.properties[${key}]`;
    if (
      !required.includes(key) &&
      (properties[key]!.default ?? undefined) === undefined
    )
      problems.push(
        fieldErrors.required(
          `${at}.default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    if (properties[key]!.nullable)
      problems.push(
        fieldErrors.forbidden(
          `${at}.nullable`,
          "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
        ),
      );
  }
  return problems;
}
