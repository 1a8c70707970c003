// The defaults of a custom resource's schema, set in an object that was sent or read. Only the fields named by the schema
// and present in the object are looked at. Applying twice changes nothing.
//
// A small schema and a small object can ask for terabytes: defaults that hold lists of objects which have such defaults
// themselves. What defaults add to one object is therefore counted, and ends far above what any store takes.
// Invariants: what is open is a stack, so that neither depth nor length matters; a piece of work is one field.
import { errors } from "../errors.ts";
import { copyJson, isJsonObject, setOwn } from "../patch/json-value.ts";
import { Pace, type Steps } from "../queueing/steps.ts";
import type { Structural } from "./structural.ts";

/** Of JSON. A stored object has 1.5 MiB at most. */
const maxAddedBytes = 4 * 1024 * 1024;
/** Fields that are looked at in one step. */
const fieldsPerStep = 4000;

/**
 * Changes `value` in place; the result is how many bytes of JSON were added. A null where null is not allowed counts as
 * unset. Throws ApiError 500 when there are more than a store takes.
 */
export function* settingDefaults(
  value: unknown,
  schema: Structural,
): Steps<number> {
  const walk = new DefaultsWalk();
  walk.enter(value, schema);
  while (!walk.advance()) yield;
  return walk.addedBytes;
}

/** A list or the free keys of an object, of which some have been looked at. */
interface Open {
  readonly container: Record<string | number, unknown>;
  /** Undefined: a list. */
  readonly names: readonly string[] | undefined;
  readonly size: number;
  readonly parts: Structural;
  at: number;
}

class DefaultsWalk {
  readonly #open: Open[] = [];
  readonly #pace = new Pace(fieldsPerStep);
  addedBytes = 0;

  /** Goes on for a step; true: nothing is left to do. */
  advance(): boolean {
    for (let open = this.#open.at(-1); open; open = this.#open.at(-1)) {
      if (open.at === open.size) {
        this.#open.pop();
        continue;
      }
      this.#part(open);
      if (this.#pace.isOver()) return false;
    }
    return true;
  }

  enter(value: unknown, schema: Structural): void {
    if (!schema.hasDefaultBelow) return;
    if (Array.isArray(value)) {
      const { items } = schema;
      if (items && hasDefaults(items)) this.#push(value, undefined, items);
    } else if (isJsonObject(value)) this.#enterObject(value, schema);
  }

  #enterObject(object: Record<string, unknown>, schema: Structural): void {
    for (const [name, field] of schema.defaulted) {
      const present = Object.hasOwn(object, name) ? object[name] : undefined;
      if (present === undefined || (present === null && !field.nullable))
        setOwn(object, name, this.#defaultOf(field));
    }
    const { values, properties } = schema;
    if (values && hasDefaults(values)) {
      const names = Object.keys(object);
      this.#push(
        object,
        properties ? names.filter((name) => !properties.has(name)) : names,
        values,
      );
    }
    for (const [name, field] of schema.defaultedBelow)
      if (Object.hasOwn(object, name)) this.enter(object[name], field);
  }

  #push(container: object, names: string[] | undefined, parts: Structural) {
    const size = names?.length ?? (container as unknown[]).length;
    this.#open.push({
      container: container as Open["container"],
      names,
      size,
      parts,
      at: 0,
    });
  }

  #part(open: Open): void {
    const { container, names, parts } = open;
    const index = open.at++;
    const key = names ? names[index]! : index;
    if (
      container[key] === null &&
      !parts.nullable &&
      parts.default !== undefined
    )
      container[key] = this.#defaultOf(parts);
    this.enter(container[key], parts);
  }

  #defaultOf(schema: Structural): unknown {
    this.addedBytes += schema.defaultBytes;
    if (this.addedBytes > maxAddedBytes) throw errors.tooLargeToStore();
    return copyJson(schema.default);
  }
}

const hasDefaults = (schema: Structural): boolean =>
  schema.default !== undefined || schema.hasDefaultBelow;
