// Validation of embedded resources (`x-kubernetes-embedded-resource`): what they are must be said, and their metadata must
// be as valid as that of an object of its own.
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import { dns1035Problems } from "../names.ts";
import { isJsonObject, type JsonObject } from "../patch/json-value.ts";
import { Pace, type Steps } from "../queueing/steps.ts";
import type { ObjectMeta } from "../types/meta-v1.ts";
import { shownJson } from "./shown-value.ts";
import type { Structural } from "./structural.ts";

/** The problems of metadata, with fields that begin with `metadata`; names are path segments, and may be missing. */
export type MetadataCheck = (metadata: Readonly<ObjectMeta>) => FieldError[];

/** Resources that are checked in one step. */
const resourcesPerStep = 50;
/** More are not noted. */
const maxProblems = 1000;

export function* embeddedProblems(
  value: unknown,
  schema: Structural,
  check: MetadataCheck,
  field = "",
): Steps<FieldError[]> {
  if (!schema.hasEmbeddedBelow) return [];
  const walk = new EmbeddedCheck(check);
  yield* walk.visit(value, schema, field);
  return walk.problems;
}

class EmbeddedCheck {
  readonly problems: FieldError[] = [];
  readonly #pace = new Pace(resourcesPerStep);

  constructor(private readonly check: MetadataCheck) {}

  *visit(value: unknown, schema: Structural, field: string): Steps<void> {
    if (this.problems.length >= maxProblems) return;
    if (this.#pace.isOver()) yield;
    if (Array.isArray(value)) {
      const { items } = schema;
      if (items?.hasEmbeddedBelow)
        for (const [index, item] of (value as unknown[]).entries())
          yield* this.visit(item, items, `${field}[${index}]`);
      return;
    }
    if (!isJsonObject(value)) return;
    if (schema.embedded)
      this.problems.push(...resourceProblems(value, this.check, field));
    const { properties, values } = schema;
    for (const name of Object.keys(value)) {
      const named = properties?.get(name);
      const below = named ?? values;
      if (!below?.hasEmbeddedBelow) continue;
      const path = named ? childOf(field, name) : `${field}[${name}]`;
      yield* this.visit(value[name], below, path);
    }
  }
}

const childOf = (field: string, name: string): string =>
  field === "" ? name : `${field}.${name}`;

function resourceProblems(
  object: JsonObject,
  check: MetadataCheck,
  field: string,
): FieldError[] {
  const problems: FieldError[] = [];
  const missing = (name: string): void => {
    if (!Object.hasOwn(object, name))
      problems.push(
        fieldErrors.required(childOf(field, name), "must not be empty"),
      );
  };
  missing("apiVersion");
  missing("kind");
  problems.push(
    ...textProblems(object, "apiVersion", field, apiVersionProblem),
    ...textProblems(object, "kind", field, kindProblem),
  );
  const { metadata } = object;
  if (isJsonObject(metadata))
    for (const problem of check(metadata as unknown as ObjectMeta))
      problems.push({ ...problem, field: childOf(field, problem.field) });
  return problems;
}

function textProblems(
  object: JsonObject,
  name: string,
  field: string,
  problemOf: (text: string) => string | undefined,
): FieldError[] {
  if (!Object.hasOwn(object, name)) return [];
  const value = object[name];
  const problem =
    typeof value !== "string"
      ? "must be a string"
      : value === ""
        ? "must not be empty"
        : problemOf(value);
  return problem === undefined
    ? []
    : [
        fieldErrors.invalidShown(
          childOf(field, name),
          shownJson(value),
          problem,
        ),
      ];
}

function apiVersionProblem(text: string): string | undefined {
  return text.split("/").length > 2
    ? `unexpected GroupVersion string: ${text}`
    : undefined;
}

function kindProblem(text: string): string | undefined {
  const problems = dns1035Problems(text.toLowerCase());
  return problems.length === 0
    ? undefined
    : `may have mixed case, but should otherwise match: ${problems.join(",")}`;
}
