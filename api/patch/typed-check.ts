// Whether an applied configuration fits its type, as server-side apply sees types: which values are text, numbers, lists
// or maps, which fields there are, and that the items of keyed lists and sets can be distinguished. Finer checks (whole
// numbers, quantities) come when the merged object is decoded. Reports all problems, in the order of the keys, with the
// reference's texts.
import { errors } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import { isJsonObject, type JsonObject } from "./json-value.ts";
import { mapNotation, valueType } from "./map-notation.ts";
import { NativeValue } from "./native-value.ts";
import { pathText } from "./field-set.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";
import { itemKey, rootField } from "./typed-value.ts";

/** `.spec.containers[name="a"].imag: field not declared in schema`, …; none when it fits. */
function typedProblems(value: unknown, schema: PatchSchema): string[] {
  const check = new TypedCheck();
  check.visit(value, rootField(schema), "");
  return check.problems;
}

/** As the reference's language would write the value. */
function literal(value: unknown): string {
  if (Array.isArray(value))
    return `[]interface {}{${value.map(literal).join(", ")}}`;
  if (value === null || value === undefined) return "interface {}(nil)";
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${literal(value[key])}`);
  return `map[string]interface {}{${fields.join(", ")}}`;
}

class TypedCheck {
  readonly problems: string[] = [];

  visit(value: unknown, field: PatchField, path: string): void {
    if (value === null || value === undefined) return;
    const { schema } = field;
    if (value instanceof NativeValue) return this.#native(value, schema, path);
    switch (schema.type) {
      case "object":
      case "map":
        return this.#map(value, schema, path);
      case "list":
        return this.#list(value, field, path);
      case "string":
      case "bytes":
        if (typeof value !== "string")
          this.#wrong(
            path,
            `string, got &value.valueUnstructured{Value:${literal(value)}}`,
          );
        return;
      case "boolean":
        if (typeof value !== "boolean")
          this.#wrong(path, `boolean, got &{${mapNotation(value)}}`);
        return;
      case "int32":
      case "int64":
      case "double":
        if (typeof value !== "number")
          this.#wrong(path, `numeric (int or float), got ${valueType(value)}`);
        return;
      case "scalar":
      case "quantity":
      case "time":
      case "micro-time":
      case "duration":
        if (typeof value === "object")
          this.#wrong(path, `any scalar, got &{${mapNotation(value)}}`);
    }
  }

  /** No type takes it. */
  #native(value: NativeValue, { type }: PatchSchema, path: string): void {
    switch (type) {
      case "object":
      case "map":
        return this.#wrong(path, `map, got &{${value.text}}`);
      case "list":
        return this.#wrong(path, `list, got &{${value.text}}`);
      case "string":
      case "bytes":
        return this.#wrong(
          path,
          `string, got &value.valueUnstructured{Value:${value.literal}}`,
        );
      case "boolean":
        return this.#wrong(path, `boolean, got &{${value.text}}`);
      case "int32":
      case "int64":
      case "double":
        return this.#wrong(path, `numeric (int or float), got ${value.type}`);
      case "scalar":
      case "quantity":
      case "time":
      case "micro-time":
      case "duration":
        return this.#wrong(path, `any scalar, got &{${value.text}}`);
    }
  }

  #wrong(path: string, what: string): void {
    this.problems.push(`${path}: expected ${what}`);
  }

  #map(value: unknown, schema: PatchSchema, path: string): void {
    if (!isJsonObject(value))
      return this.#wrong(path, `map, got &{${mapNotation(value)}}`);
    for (const key of Object.keys(value).sort()) {
      const below = `${path}.${key}`;
      const field = schema.fields?.get(key);
      if (field) this.visit(value[key], field, below);
      else if (schema.values)
        this.visit(value[key], { schema: schema.values }, below);
      else if (!schema.preserveUnknownFields)
        this.problems.push(`${below}: field not declared in schema`);
    }
  }

  #list(value: unknown, field: PatchField, path: string): void {
    if (!Array.isArray(value))
      return this.#wrong(path, `list, got &{${mapNotation(value)}}`);
    const items: PatchField = { schema: field.schema.items! };
    const keys = field.listType === "map" ? field.listMapKeys : undefined;
    const seen = new Set<string>();
    for (const [index, item] of (value as unknown[]).entries()) {
      let where = `[${index}]`;
      if (keys || field.listType === "set") {
        const problem = keys
          ? keyedProblem(item)
          : item === null
            ? "without keys has an element that's an explicit null"
            : undefined;
        if (problem) {
          this.problems.push(
            `${path}: element ${index}: associative list ${problem}`,
          );
          continue;
        }
        const key = keys
          ? itemKey(item, keys, field.schema.items)
          : `v:${JSON.stringify(item)}`;
        if (key === undefined) {
          const missing = keys!.find(
            (name) => (item as JsonObject)[name] === undefined,
          );
          this.problems.push(
            `${path}: element ${index}: associative list with keys has an element that omits key field ${JSON.stringify(missing ?? "")} (and doesn't have default value)`,
          );
          continue;
        }
        where = pathText([key]);
        if (seen.has(key))
          this.problems.push(`${path}: duplicate entries for key ${where}`);
        seen.add(key);
      }
      this.visit(item, items, `${path}${where}`);
    }
  }
}

function keyedProblem(item: unknown): string | undefined {
  if (item === null) return "with keys may not have a null element";
  return isJsonObject(item) && !(item instanceof NativeValue)
    ? undefined
    : "with keys may not have non-map elements";
}

/** All that does not fit in one text, undefined when everything does. */
export function typedProblem(
  config: unknown,
  schema: PatchSchema,
): string | undefined {
  const problems = typedProblems(config, schema);
  if (problems.length <= 1) return problems[0];
  return `errors:\n  ${problems.join("\n  ")}`;
}

/** Throws ApiError 400 for a configuration that its type can't hold. */
export function requireTyped(
  config: Readonly<AnyObject>,
  schema: PatchSchema,
): void {
  const why = typedProblem(config, schema);
  if (why === undefined) return;
  throw errors.badRequest(
    `failed to create typed patch object (${shownIdentity(config)}): ${why}`,
  );
}

/** `default/name; apps/v1, Kind=Deployment`, as texts about a configuration name it. */
export function shownIdentity(config: Readonly<AnyObject>): string {
  const { apiVersion, kind, metadata } = config as Partial<AnyObject>;
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}; ${shownKind(apiVersion, kind)}`;
}

/** `/v1, Kind=ConfigMap`; a text that is no version gives none. */
export function shownKind(apiVersion: unknown, kind: unknown): string {
  const version = typeof apiVersion === "string" ? apiVersion : "";
  const parts = version.split("/");
  if (parts.length > 2) return "/, Kind=";
  const shown = parts.length === 2 ? version : `/${version}`;
  return `${shown}, Kind=${typeof kind === "string" ? kind : ""}`;
}
