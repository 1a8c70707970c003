// Lists that are sets or maps (`x-kubernetes-list-type`): no two items of a set may be equal, no two of a map may have the
// same keys. Only the parts of an object that can hold such lists are visited; the work is linear in their size.
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import {
  isJsonObject,
  sortedKeys,
  type JsonObject,
} from "../patch/json-value.ts";
import { Pace, type Steps } from "../queueing/steps.ts";
import { shownJson } from "./shown-value.ts";
import type { Structural } from "./structural.ts";

/** Items that are compared in one step; each may be an object. */
const itemsPerStep = 250;
/** More are not noted. */
const maxProblems = 1000;

/** The second appearance of each item that is there more than once. */
export function duplicateProblems(
  value: unknown,
  schema: Structural,
): Steps<FieldError[]> {
  return new DuplicateCheck().run(value, schema);
}

class DuplicateCheck {
  readonly #problems: FieldError[] = [];
  readonly #pace = new Pace(itemsPerStep);

  *run(value: unknown, schema: Structural): Steps<FieldError[]> {
    if (schema.hasListTypeBelow) yield* this.#visit(value, schema, "");
    return this.#problems;
  }

  *#visit(value: unknown, schema: Structural, field: string): Steps<void> {
    if (this.#problems.length >= maxProblems) return;
    if (this.#pace.isOver()) yield;
    if (Array.isArray(value))
      yield* this.#inList(value as unknown[], schema, field);
    else if (isJsonObject(value)) yield* this.#inObject(value, schema, field);
  }

  *#inObject(
    object: JsonObject,
    { properties, values }: Structural,
    field: string,
  ): Steps<void> {
    if (values?.hasListTypeBelow)
      for (const name of Object.keys(object))
        yield* this.#visit(object[name], values, `${field}[${name}]`);
    for (const [name, below] of properties ?? [])
      if (below.hasListTypeBelow && Object.hasOwn(object, name))
        yield* this.#visit(
          object[name],
          below,
          field === "" ? name : `${field}.${name}`,
        );
  }

  *#inList(
    list: readonly unknown[],
    schema: Structural,
    field: string,
  ): Steps<void> {
    const { listType, listMapKeys, items } = schema;
    if (listType === "set") yield* this.#repeated(list, field, identity);
    if (listType === "map") {
      const odd = list.findIndex(
        (item) => item !== null && !isJsonObject(item),
      );
      if (odd >= 0)
        this.#problems.push(
          fieldErrors.invalidShown(
            `${field}[${odd}]`,
            shownJson(list[odd]),
            "must be an object for an array of list-type map",
          ),
        );
      else
        yield* this.#repeated(list, field, (item) => keysOf(item, listMapKeys));
    }
    if (items?.hasListTypeBelow)
      for (const [index, item] of list.entries())
        yield* this.#visit(item, items, `${field}[${index}]`);
  }

  *#repeated(
    list: readonly unknown[],
    field: string,
    shownOf: (item: unknown) => unknown,
  ): Steps<void> {
    if (list.length <= 1) return;
    const times = new Map<unknown, number>();
    for (const [index, item] of list.entries()) {
      const shown = shownOf(item);
      const key = comparable(shown);
      const before = times.get(key) ?? 0;
      times.set(key, before + 1);
      if (before === 1) {
        if (this.#problems.length >= maxProblems) return;
        this.#problems.push({
          type: "FieldValueDuplicate",
          field: `${field}[${index}]`,
          detail: `Duplicate value: ${shownJson(shown)}`,
        });
      }
      if (this.#pace.isOver()) yield;
    }
  }
}

const identity = (item: unknown): unknown => item;

function keysOf(item: unknown, keys: readonly string[]): JsonObject {
  const found: JsonObject = {};
  if (isJsonObject(item))
    for (const key of keys)
      if (Object.hasOwn(item, key)) found[key] = item[key];
  return found;
}

/** Equal for equal items, and for no others. */
function comparable(item: unknown): unknown {
  if (typeof item === "object" && item !== null)
    return `json ${JSON.stringify(sortedKeys(item))}`;
  return typeof item === "string" ? `text ${item}` : item;
}
