// What a definition's schema may say, node by node: constructs that are not supported, list and map types, keys, defaults
// where none may be, and the rules. Problems of rules come behind all others, and only when there are no others at their
// place or below.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { isJsonObject } from "../../../api/patch/json-value.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import type { JSONSchemaProps } from "../../../api/types/apiextensions-v1.ts";
import { keyedItemProblems, nonAtomic } from "./schema-lists.ts";
import {
  ruleFormProblems,
  ruleProblems,
  type RuleScope,
} from "./schema-rules.ts";

/** What is asked of new definitions; an old one that does not fulfil it may go on. */
export interface NodeRules {
  readonly validTypes: boolean;
  readonly atomicSets: boolean;
  readonly keyedItems: boolean;
}

/** Where a node is. */
interface Place {
  readonly isRoot: boolean;
  /** Inside of metadata, apiVersion or kind of a resource. */
  readonly inEnvelope: boolean;
  /** Why there may be no default. */
  readonly noDefault: string | undefined;
  /** The part around it whose older version can't be found. */
  readonly uncorrelatable: string | undefined;
  /** Undefined: rules are not looked at. */
  readonly scope: RuleScope | undefined;
}

/** Nodes that are looked at in one step. */
const nodesPerStep = 64;

/** Keys that have schemas. Most schemas have none of them. */
const alternatives = [
  "not",
  "allOf",
  "oneOf",
  "anyOf",
  "definitions",
  "dependencies",
] as const;
const parts = [
  "properties",
  "items",
  "additionalProperties",
  ...alternatives,
] as const;
const types = ["array", "boolean", "integer", "number", "object", "string"];
const isMeta = (name: string): boolean =>
  name === "metadata" || name === "kind" || name === "apiVersion";

/** @param scope undefined: the schema is not structural, so that its rules can't be read */
export function* nodeProblems(
  schema: JSONSchemaProps,
  field: string,
  rules: NodeRules,
  scope: RuleScope | undefined,
): Steps<FieldError[]> {
  const check = new NodeCheck(rules);
  yield* check.visit(schema, field, {
    isRoot: true,
    inEnvelope: false,
    noDefault: undefined,
    uncorrelatable: undefined,
    scope,
  });
  return [...check.problems, ...check.ofRules];
}

class NodeCheck {
  readonly problems: FieldError[] = [];
  readonly ofRules: FieldError[] = [];
  #visited = 0;

  constructor(private readonly rules: NodeRules) {}

  *visit(schema: JSONSchemaProps, field: string, place: Place): Steps<void> {
    const before = this.problems.length;
    if (++this.#visited % nodesPerStep === 0) yield;
    this.#constructs(schema, field, place);
    yield* this.#below(schema, field, place);
    this.#types(schema, field);
    this.#keys(schema, field);
    if (this.rules.keyedItems)
      this.problems.push(...keyedItemProblems(schema, field));
    if (!schema["x-kubernetes-validations"]?.length) return;
    const { scope } = place;
    this.problems.push(...ruleFormProblems(schema, field, scope));
    if (scope && this.problems.length === before)
      this.ofRules.push(
        ...(yield* ruleProblems(scope, field, place.uncorrelatable)),
      );
  }

  #forbid(field: string, why: string): void {
    this.problems.push(fieldErrors.forbidden(field, why));
  }

  #refuse(field: string, value: unknown, why: string): void {
    this.problems.push(fieldErrors.invalid(field, value, why));
  }

  #require(field: string, why: string): void {
    this.problems.push(fieldErrors.required(field, why));
  }

  #constructs(schema: JSONSchemaProps, field: string, place: Place): void {
    const { type = "" } = schema;
    if (this.rules.validTypes && type !== "" && !types.includes(type))
      this.problems.push(
        fieldErrors.notSupported(`${field}.type`, type, types),
      );
    if (hasValue(schema.default) && place.noDefault !== undefined)
      this.#forbid(`${field}.default`, `must not be set ${place.noDefault}`);
    const unsupported = (name: keyof JSONSchemaProps, is: boolean): void => {
      if (is) this.#forbid(`${field}.${name}`, `${name} is not supported`);
    };
    unsupported("id", Boolean(schema.id));
    unsupported("additionalItems", hasValue(schema.additionalItems));
    unsupported("patternProperties", hasKeys(schema.patternProperties));
    unsupported("definitions", hasKeys(schema.definitions));
    unsupported("dependencies", hasValue(schema.dependencies));
    unsupported("$ref", hasValue(schema.$ref));
    if (type === "null")
      this.#forbid(
        `${field}.type`,
        "type cannot be set to null, use nullable as an alternative",
      );
    if (Array.isArray(schema.items) && schema.items.length > 0)
      this.#forbid(
        `${field}.items`,
        "items must be a schema object and not an array",
      );
    if (place.inEnvelope && schema["x-kubernetes-embedded-resource"])
      this.#forbid(
        `${field}.x-kubernetes-embedded-resource`,
        "must not be used inside of resource meta",
      );
    if (schema.uniqueItems)
      this.#forbid(
        `${field}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      );
  }

  *#below(schema: JSONSchemaProps, field: string, place: Place): Steps<void> {
    if (!parts.some((part) => schema[part] !== undefined)) return;
    // Its type is made first: that of its parts is taken from it.
    if (schema["x-kubernetes-validations"]?.length) place.scope?.prepare();
    const inside: Place = {
      ...place,
      isRoot: false,
      scope: place.scope?.elements(),
    };
    const { properties = {}, additionalProperties: values } = schema;
    if (hasValue(values)) {
      if (hasKeys(properties) && values !== true)
        this.#forbid(
          `${field}.additionalProperties`,
          "additionalProperties and properties are mutual exclusive",
        );
      if (isJsonObject(values))
        yield* this.visit(values, `${field}.additionalProperties`, {
          ...inside,
          noDefault: place.inEnvelope
            ? "inside additionalProperties applying to object metadata"
            : place.noDefault,
        });
    }
    for (const name of Object.keys(properties))
      yield* this.visit(
        properties[name]!,
        `${field}.properties[${name}]`,
        this.#placeOf(name, schema, field, place, inside),
      );
    yield* this.#alternatives(schema, field, { ...inside, scope: undefined });
    yield* this.#items(schema, field, inside);
  }

  #placeOf(
    name: string,
    schema: JSONSchemaProps,
    field: string,
    place: Place,
    inside: Place,
  ): Place {
    const ofResource =
      isMeta(name) &&
      (place.isRoot || (schema["x-kubernetes-embedded-resource"] ?? false));
    const mapType = schema["x-kubernetes-map-type"];
    const found =
      mapType === undefined || mapType === "granular" || mapType === "atomic";
    return {
      ...inside,
      scope: place.scope?.field(name),
      uncorrelatable: place.uncorrelatable ?? (found ? undefined : field),
      inEnvelope: place.inEnvelope || ofResource,
      noDefault:
        ofResource && place.isRoot ? `in top-level ${name}` : place.noDefault,
    };
  }

  *#alternatives(
    schema: JSONSchemaProps,
    field: string,
    place: Place,
  ): Steps<void> {
    if (!alternatives.some((part) => schema[part] !== undefined)) return;
    if (schema.not) yield* this.visit(schema.not, `${field}.not`, place);
    for (const name of ["allOf", "oneOf", "anyOf"] as const)
      for (const [index, each] of (schema[name] ?? []).entries())
        yield* this.visit(each, `${field}.${name}[${index}]`, place);
    const { definitions = {}, dependencies = {} } = schema;
    for (const name of Object.keys(definitions))
      yield* this.visit(
        definitions[name]!,
        `${field}.definitions[${name}]`,
        place,
      );
    for (const name of Object.keys(dependencies)) {
      const dependency = dependencies[name];
      if (isJsonObject(dependency))
        yield* this.visit(dependency, `${field}.dependencies[${name}]`, place);
    }
  }

  *#items(schema: JSONSchemaProps, field: string, inside: Place): Steps<void> {
    const { items } = schema;
    const place: Place = {
      ...inside,
      uncorrelatable:
        inside.uncorrelatable ??
        (schema["x-kubernetes-list-type"] === "map" ? undefined : field),
    };
    if (isJsonObject(items)) yield* this.visit(items, `${field}.items`, place);
    else if (Array.isArray(items))
      for (const [index, each] of (items as JSONSchemaProps[]).entries())
        yield* this.visit(each, `${field}.items[${index}]`, place);
  }

  #types(schema: JSONSchemaProps, field: string): void {
    const { type = "", items } = schema;
    if (schema["x-kubernetes-preserve-unknown-fields"] === false)
      this.#refuse(
        `${field}.x-kubernetes-preserve-unknown-fields`,
        false,
        "must be true or undefined",
      );
    const needs = (
      name: "x-kubernetes-map-type" | "x-kubernetes-list-type",
      wanted: string,
      values: readonly string[],
    ): void => {
      const given = schema[name];
      if (given === undefined) return;
      const why = `must be ${wanted} if ${name} is specified`;
      if (type === "") this.#require(`${field}.type`, why);
      else if (type !== wanted) this.#refuse(`${field}.type`, type, why);
      else if (name === "x-kubernetes-list-type" && given === "set")
        this.#setItems(items, field);
      if (!values.includes(given))
        this.problems.push(
          fieldErrors.notSupported(`${field}.${name}`, given, values),
        );
    };
    needs("x-kubernetes-map-type", "object", ["atomic", "granular"]);
    needs("x-kubernetes-list-type", "array", ["atomic", "set", "map"]);
  }

  /** What is in a set is one. */
  #setItems(items: unknown, field: string): void {
    if (!this.rules.atomicSets || !isJsonObject(items)) return;
    const name = nonAtomic(items);
    if (!name) return;
    const given = (items as JSONSchemaProps)["x-kubernetes-list-type"];
    this.problems.push(
      fieldErrors.invalid(
        `${field}.items.${name}`,
        given,
        "must be atomic as item of a list with x-kubernetes-list-type=set",
      ),
    );
  }

  #keys(schema: JSONSchemaProps, field: string): void {
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    const listType = schema["x-kubernetes-list-type"];
    const { items } = schema;
    if (keys.length > 0 && listType !== "map") {
      const why = "must be map if x-kubernetes-list-map-keys is non-empty";
      const at = `${field}.x-kubernetes-list-type`;
      if (listType === undefined) this.#require(at, why);
      else this.#refuse(at, listType, why);
    }
    if (listType !== "map") return;
    if (keys.length === 0)
      this.#require(
        `${field}.x-kubernetes-list-map-keys`,
        "must not be empty if x-kubernetes-list-type is map",
      );
    if (!hasValue(items))
      this.#require(
        `${field}.items`,
        "must have a schema if x-kubernetes-list-type is map",
      );
    else if (!isJsonObject(items))
      this.#refuse(
        `${field}.items`,
        items,
        "must only have a single schema if x-kubernetes-list-type is map",
      );
    else if (items["type"] !== "object")
      this.#refuse(
        `${field}.items.type`,
        items["type"] ?? "",
        "must be object if parent array's x-kubernetes-list-type is map",
      );
    else this.#keyFields(keys, items, field);
  }

  #keyFields(
    keys: readonly string[],
    { properties = {} }: JSONSchemaProps,
    field: string,
  ): void {
    const at = `${field}.x-kubernetes-list-map-keys`;
    for (const [index, key] of keys.entries()) {
      const known = Object.hasOwn(properties, key)
        ? properties[key]
        : undefined;
      if (!known)
        this.#refuse(
          at,
          asGo("[]string", keys),
          "entries must all be names of item properties",
        );
      else if (known.type === "array" || known.type === "object")
        this.#refuse(
          `${field}.items.properties[${key}].type`,
          "object",
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        );
      if (keys.indexOf(key) < index)
        this.#refuse(
          at,
          asGo("[]string", keys),
          "must not contain duplicate entries",
        );
    }
  }
}

const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== null;
const hasKeys = (value: object | undefined): boolean =>
  value !== undefined && Object.keys(value).length > 0;
