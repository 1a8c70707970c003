// Is a schema structural: can all that is known of an object's shape be read from it without looking into alternatives?
// Reports every problem, with the reference's fields and texts, in the order of the texts.
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import { isJsonObject } from "../patch/json-value.ts";
import type { Steps } from "../queueing/steps.ts";
import type { JSONSchemaProps } from "../types/apiextensions-v1.ts";
import { compilePattern, PatternError } from "./values/patterns.ts";

/** Nodes of a schema that are looked at in one step. */
const nodesPerStep = 64;

type Level = "root" | "item" | "field";

/** Keys that no structural schema may have; the text names the key. */
const unsupported: readonly (keyof JSONSchemaProps)[] = [
  "id",
  "$schema",
  "$ref",
  "patternProperties",
  "dependencies",
  "additionalItems",
  "definitions",
];
const short: Readonly<Record<string, string>> = { $schema: "schema" };

/** Why a schema has no structural form at all; undefined when it has one. The first reason found. */
export function* whyUnsupported(
  schema: JSONSchemaProps,
): Steps<string | undefined> {
  const open = [schema];
  for (let node = open.pop(), seen = 1; node; node = open.pop(), seen++) {
    const why = unsupportedIn(node);
    if (why !== undefined) return why;
    // The first part of a schema comes next, with all that is in it.
    open.push(...[...schemasIn(node)].reverse());
    if (seen % nodesPerStep === 0) yield;
  }
  return undefined;
}

function unsupportedIn(schema: JSONSchemaProps): string | undefined {
  for (const key of unsupported)
    if (isSet(schema[key]))
      return `OpenAPIV3Schema '${short[key] ?? key}' is not supported`;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  return undefined;
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

function* schemasIn(schema: JSONSchemaProps): Iterable<JSONSchemaProps> {
  const { not, allOf = [], anyOf = [], oneOf = [], items } = schema;
  if (not) yield not;
  yield* allOf;
  yield* anyOf;
  yield* oneOf;
  if (isJsonObject(items)) yield items;
  yield* Object.values(schema.properties ?? {});
  if (isJsonObject(schema.additionalProperties))
    yield schema.additionalProperties;
}

/** `whyUnsupported` has found nothing. @param field of the schema */
export function* structuralProblems(
  schema: JSONSchemaProps,
  field: string,
): Steps<FieldError[]> {
  const check = new Check();
  yield* check.structure(schema, "root", field);
  yield* check.completeness(schema, schema, field, field);
  return check.problems
    .map((problem) => ({
      problem,
      text: `${problem.field}: ${problem.detail}`,
    }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ problem }) => problem);
}

const child = (field: string, name: string): string =>
  field === "" ? name : `${field}.${name}`;
const property = (field: string, name: string): string =>
  `${child(field, "properties")}[${name}]`;

class Check {
  readonly problems: FieldError[] = [];
  #visited = 0;

  *#step(): Steps<void> {
    if (++this.#visited % nodesPerStep === 0) yield;
  }

  #forbid(field: string, why: string): void {
    this.problems.push(fieldErrors.forbidden(field, why));
  }

  #require(field: string, why: string): void {
    this.problems.push(fieldErrors.required(field, why));
  }

  #refuse(field: string, value: unknown, why: string): void {
    this.problems.push(fieldErrors.invalid(field, value, why));
  }

  *structure(
    schema: JSONSchemaProps,
    level: Level,
    field: string,
  ): Steps<void> {
    yield* this.#step();
    const { type = "", items, properties = {} } = schema;
    if (type === "array" && !isJsonObject(items))
      this.#require(child(field, "items"), "must be specified");
    if (isJsonObject(items))
      yield* this.structure(items, "item", child(field, "items"));
    for (const name of Object.keys(properties))
      yield* this.structure(properties[name]!, "field", property(field, name));
    yield* this.#additional(schema, level, field);
    this.#extensions(schema, field);
    yield* this.#values(
      schema,
      isIntOrString(schema.anyOf),
      isIntOrString(schema.allOf?.[0]?.anyOf),
      field,
    );
    this.#type(schema, level, field);
    this.#envelope(schema, level, field);
  }

  *#additional(
    schema: JSONSchemaProps,
    level: Level,
    field: string,
  ): Steps<void> {
    const { additionalProperties: given } = schema;
    if (given === undefined || given === null) return;
    const at = child(field, "additionalProperties");
    if (level === "root") this.#forbid(at, "must not be used at the root");
    if (isJsonObject(given)) yield* this.structure(given, "field", at);
    if (schema["x-kubernetes-embedded-resource"])
      this.#forbid(
        at,
        "must not be used if x-kubernetes-embedded-resource is set",
      );
  }

  #extensions(schema: JSONSchemaProps, field: string): void {
    if (!schema["x-kubernetes-int-or-string"]) return;
    for (const name of [
      "x-kubernetes-preserve-unknown-fields",
      "x-kubernetes-embedded-resource",
    ] as const)
      if (schema[name])
        this.#refuse(
          child(field, name),
          true,
          "must be false if x-kubernetes-int-or-string is true",
        );
  }

  #type(schema: JSONSchemaProps, level: Level, field: string): void {
    const { type = "" } = schema;
    const at = child(field, "type");
    if (schema["x-kubernetes-embedded-resource"] && type !== "object") {
      const why = "must be object if x-kubernetes-embedded-resource is true";
      if (type === "") this.#require(at, why);
      else this.#refuse(at, type, why);
    } else if (
      type === "" &&
      !schema["x-kubernetes-int-or-string"] &&
      !schema["x-kubernetes-preserve-unknown-fields"]
    )
      this.#require(
        at,
        `must not be empty ${level === "root" ? "at the root" : level === "item" ? "for specified array items" : "for specified object fields"}`,
      );
    if (level === "root" && type !== "" && type !== "object")
      this.#refuse(at, type, "must be object at the root");
  }

  /** apiVersion, kind and metadata, of the object itself or of an embedded one. */
  #envelope(schema: JSONSchemaProps, level: Level, field: string): void {
    const embedded = schema["x-kubernetes-embedded-resource"] ?? false;
    const { properties = {} } = schema;
    const own = (name: string): JSONSchemaProps | undefined =>
      Object.hasOwn(properties, name) ? properties[name] : undefined;
    const ofObject = level === "root" || embedded;
    for (const name of ["kind", "apiVersion"]) {
      const text = own(name);
      if (ofObject && text && text.type !== "string")
        this.#refuse(
          child(property(field, name), "type"),
          text.type ?? "",
          "must be string",
        );
    }
    const metadata = own("metadata");
    if (metadata) {
      const at = property(field, "metadata");
      if (ofObject && metadata.type !== "object")
        this.#refuse(child(at, "type"), metadata.type ?? "", "must be object");
      if (level === "root" && !saysNamesOnly(metadata))
        this.#forbid(
          at,
          "must not specify anything other than name and generateName, but metadata is implicitly specified",
        );
    }
    if (
      embedded &&
      !schema["x-kubernetes-preserve-unknown-fields"] &&
      Object.keys(properties).length === 0
    )
      this.#require(
        child(field, "properties"),
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      );
  }

  /** @param skipsAnyOf it says that a value is a number or text, which `x-kubernetes-int-or-string` allows */
  *#values(
    schema: JSONSchemaProps,
    skipsAnyOf: boolean,
    skipsFirstAllOf: boolean,
    field: string,
  ): Steps<void> {
    const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
    if (!skipsAnyOf)
      for (const [index, each] of anyOf.entries())
        yield* this.#nested(each, false, `${child(field, "anyOf")}[${index}]`);
    for (const [index, each] of allOf.entries())
      yield* this.#nested(
        each,
        skipsFirstAllOf && index === 0,
        `${child(field, "allOf")}[${index}]`,
      );
    for (const [index, each] of oneOf.entries())
      yield* this.#nested(each, false, `${child(field, "oneOf")}[${index}]`);
    if (not) yield* this.#nested(not, false, child(field, "not"));
    if (!pattern) return;
    yield;
    try {
      compilePattern(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#refuse(
        child(field, "pattern"),
        pattern,
        `must be a valid regular expression, but isn't: ${error.message}`,
      );
    }
  }

  *#nested(
    schema: JSONSchemaProps,
    skipsAnyOf: boolean,
    field: string,
  ): Steps<void> {
    yield* this.#step();
    yield* this.#values(schema, skipsAnyOf, false, field);
    const { items, properties = {}, additionalProperties } = schema;
    if (isJsonObject(items))
      yield* this.#nested(items, false, child(field, "items"));
    for (const name of Object.keys(properties))
      yield* this.#nested(properties[name]!, false, property(field, name));
    if (isJsonObject(additionalProperties) || additionalProperties === true)
      this.#forbid(
        child(field, "additionalProperties"),
        "must be undefined to be structural",
      );
    for (const [name, how] of nestedKeys)
      if (isSet(schema[name]) && schema[name] !== false)
        this.#forbid(child(field, name), `must be ${how} to be structural`);
    if (Object.hasOwn(properties, "metadata"))
      this.#forbid(
        property(field, "metadata"),
        "must not be specified in a nested context",
      );
  }

  /** What alternatives say is said outside of them too. */
  *completeness(
    values: JSONSchemaProps,
    schema: JSONSchemaProps | undefined,
    field: string,
    valuesField: string,
  ): Steps<void> {
    const { not, allOf = [], anyOf = [], oneOf = [] } = values;
    if (not)
      yield* this.#nestedIn(not, schema, field, child(valuesField, "not"));
    for (const [name, list] of Object.entries({ allOf, anyOf, oneOf }))
      for (const [index, each] of list.entries())
        yield* this.#nestedIn(
          each,
          schema,
          field,
          `${child(valuesField, name)}[${index}]`,
        );
  }

  *#nestedIn(
    values: JSONSchemaProps,
    schema: JSONSchemaProps | undefined,
    field: string,
    valuesField: string,
  ): Steps<void> {
    if (!schema)
      return this.#require(field, `because it is defined in ${valuesField}`);
    yield* this.#step();
    yield* this.completeness(values, schema, field, valuesField);
    if (isJsonObject(values.items))
      yield* this.#nestedIn(
        values.items,
        isJsonObject(schema.items) ? schema.items : undefined,
        child(field, "items"),
        child(valuesField, "items"),
      );
    const { properties = {} } = values;
    for (const name of Object.keys(properties)) {
      const known = schema.properties;
      const at = property(valuesField, name);
      if (known && Object.hasOwn(known, name))
        yield* this.#nestedIn(
          properties[name]!,
          known[name],
          property(field, name),
          at,
        );
      else
        this.#require(property(field, name), `because it is defined in ${at}`);
    }
  }
}

/** What alternatives may not say, and what they must leave it. */
const nestedKeys: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ["type", "empty"],
  ["default", "undefined"],
  ["title", "empty"],
  ["description", "empty"],
  ["nullable", "false"],
  ["x-kubernetes-preserve-unknown-fields", "false"],
  ["x-kubernetes-embedded-resource", "false"],
  ["x-kubernetes-int-or-string", "false"],
  ["x-kubernetes-list-map-keys", "empty"],
  ["x-kubernetes-list-type", "undefined"],
  ["x-kubernetes-map-type", "undefined"],
  ["x-kubernetes-validations", "empty"],
];

/** Exactly the two types, in that order. */
export function isIntOrString(
  alternatives: readonly JSONSchemaProps[] | undefined,
): boolean {
  if (alternatives?.length !== 2) return false;
  return alternatives.every(
    (each, at) =>
      each.type === ["integer", "string"][at] &&
      Object.keys(each).every((key) => key === "type"),
  );
}

function saysNamesOnly(metadata: JSONSchemaProps): boolean {
  return Object.entries(metadata).every(([key, value]) => {
    if (key === "type" || key === "default" || value === false) return true;
    if (key === "properties")
      return Object.keys(value as object).every(
        (name) => name === "name" || name === "generateName",
      );
    return !isSet(value);
  });
}
