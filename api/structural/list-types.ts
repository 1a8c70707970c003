// Lists that are sets or maps (`x-kubernetes-list-type`): no two items of a set may be equal, no two of a map may have the
// same keys. Only the parts of an object that can hold such lists are visited; the work is linear in their size.
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import {
  isJsonObject,
  sortedKeys,
  type JsonObject,
} from "../patch/json-value.ts";
import { shownJson } from "./shown-value.ts";
import type { Structural } from "./structural.ts";

/** The second appearance of each item that is there more than once. */
export function duplicateProblems(
  value: unknown,
  schema: Structural,
  field = "",
): FieldError[] {
  if (!schema.hasListTypeBelow) return [];
  if (Array.isArray(value)) return inList(value as unknown[], schema, field);
  return isJsonObject(value) ? inObject(value, schema, field) : [];
}

function inObject(
  object: JsonObject,
  { properties, values }: Structural,
  field: string,
): FieldError[] {
  const problems: FieldError[] = [];
  if (values?.hasListTypeBelow)
    for (const name of Object.keys(object))
      problems.push(
        ...duplicateProblems(object[name], values, `${field}[${name}]`),
      );
  for (const [name, below] of properties ?? [])
    if (below.hasListTypeBelow && Object.hasOwn(object, name))
      problems.push(
        ...duplicateProblems(
          object[name],
          below,
          field === "" ? name : `${field}.${name}`,
        ),
      );
  return problems;
}

function inList(
  list: readonly unknown[],
  schema: Structural,
  field: string,
): FieldError[] {
  const problems: FieldError[] = [];
  const { listType, listMapKeys, items } = schema;
  if (listType === "set") problems.push(...repeated(list, field, identity));
  if (listType === "map") {
    const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
    if (odd >= 0)
      problems.push(
        fieldErrors.invalidShown(
          `${field}[${odd}]`,
          shownJson(list[odd]),
          "must be an object for an array of list-type map",
        ),
      );
    else
      problems.push(
        ...repeated(list, field, (item) => keysOf(item, listMapKeys)),
      );
  }
  if (items?.hasListTypeBelow)
    for (const [index, item] of list.entries())
      problems.push(...duplicateProblems(item, items, `${field}[${index}]`));
  return problems;
}

const identity = (item: unknown): unknown => item;

function keysOf(item: unknown, keys: readonly string[]): JsonObject {
  const found: JsonObject = {};
  if (isJsonObject(item))
    for (const key of keys)
      if (Object.hasOwn(item, key)) found[key] = item[key];
  return found;
}

function repeated(
  list: readonly unknown[],
  field: string,
  shownOf: (item: unknown) => unknown,
): FieldError[] {
  if (list.length <= 1) return [];
  const problems: FieldError[] = [];
  const times = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const shown = shownOf(item);
    const key =
      typeof shown === "object" && shown !== null
        ? `json ${JSON.stringify(sortedKeys(shown))}`
        : typeof shown === "string"
          ? `text ${shown}`
          : shown;
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    if (before === 1)
      problems.push({
        type: "FieldValueDuplicate",
        field: `${field}[${index}]`,
        detail: `Duplicate value: ${shownJson(shown)}`,
      });
  }
  return problems;
}
