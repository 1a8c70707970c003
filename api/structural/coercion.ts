// Brings a custom resource as it was sent into the shape of its schema: unknown fields are dropped and noted, nulls that
// may not be are dropped, metadata (its own and that of embedded resources) is read like that of built-in kinds.
// One walk over the object; it changes the tree that it is given. Numbers of exact notation become plain ones.
//
// Rules of unknown fields, as the reference has them: below `x-kubernetes-preserve-unknown-fields` a field that no
// property names is kept with all that is in it, and a field that is named follows the rules of its own schema; lists
// below it hand the permission on to their items. `additionalProperties: true` permits keys, but nothing inside them.
import { conform, TypeMismatch } from "../codec/conform.ts";
import { countKeys, joinPath, setOwn } from "../codec/json-text.ts";
import { ExactNumber, plainNumbers } from "../exact-number.ts";
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import {
  copyJson,
  isJsonObject,
  jsonKind,
  type JsonObject,
} from "../patch/json-value.ts";
import {
  typeNamed,
  type Conformed,
  type ObjectSchema,
  type StrictProblem,
} from "../schema.ts";
import { shownJson } from "./shown-value.ts";
import type { Structural } from "./structural.ts";

/** The reference stops counting there as well. */
const maxProblems = 100;

export const objectMetaSchema = typeNamed(
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
) as ObjectSchema;

interface CoercionOptions {
  /** Notes unknown fields. */
  readonly strict: boolean;
  /** False: unknown fields are kept everywhere (`spec.preserveUnknownFields` of earlier definitions). */
  readonly pruned: boolean;
  /** False: nulls where none may be are kept, for validation to refuse. */
  readonly dropsNulls: boolean;
}

export function coerceObject(
  value: unknown,
  schema: Structural,
  options: CoercionOptions,
): Conformed {
  if (!isJsonObject(value))
    throw new TypeMismatch(
      `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  const walk = new Coercion(options);
  const metaProblems: StrictProblem[] = [];
  let metaKeys = 0;
  for (const name of ["apiVersion", "kind"])
    if (value[name] === null) delete value[name];
  if (value["metadata"] !== undefined) {
    const meta = conform(value["metadata"], objectMetaSchema, options.strict);
    value["metadata"] = meta.object;
    metaKeys = meta.keys;
    for (const { kind, path } of meta.problems)
      metaProblems.push({ kind, path: `metadata.${path}` });
  }
  walk.fields(value, schema, schema.preserveUnknown, true);
  return {
    object: value,
    keys: walk.keys + metaKeys,
    problems: [...metaProblems, ...walk.problems()].slice(0, maxProblems),
  };
}

/** The envelope of an embedded resource is of a wrong type. */
export class EmbeddedMismatch extends TypeMismatch {
  constructor(readonly problem: FieldError) {
    super(`${problem.field}: ${problem.detail}`);
  }
}

/** The fields of a value that its schema does not know; the value is not changed. Throws EmbeddedMismatch. */
export function unknownFields(value: unknown, schema: Structural): string[] {
  const walk = new Coercion({
    strict: true,
    pruned: true,
    dropsNulls: true,
  });
  walk.value(copyJson(value), schema, schema.preserveUnknown);
  return walk.unknown;
}

const isMeta = (name: string): boolean =>
  name === "metadata" || name === "apiVersion" || name === "kind";

class Coercion {
  keys = 0;
  /** Paths of fields without a schema. */
  readonly unknown: string[] = [];
  /** Of embedded resources' metadata: they are reported behind the others. */
  readonly #embeddedUnknown: string[] = [];
  readonly #path: (string | number)[] = [];

  readonly #strict: boolean;
  readonly #pruned: boolean;
  readonly #dropsNulls: boolean;

  constructor({ strict, pruned, dropsNulls }: CoercionOptions) {
    this.#strict = strict;
    this.#pruned = pruned;
    this.#dropsNulls = dropsNulls;
  }

  problems(): StrictProblem[] {
    return [...this.unknown.sort(), ...this.#embeddedUnknown.sort()].map(
      (path) => ({ kind: "unknown", path }),
    );
  }

  /**
   * Returns the value in its new shape. @param schema undefined: nothing is known of it. @param keeps it may have fields
   * that are unknown
   */
  value(
    value: unknown,
    schema: Structural | undefined,
    keeps: boolean,
  ): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      this.#items(value as unknown[], schema, keeps);
      return value;
    }
    if (value instanceof ExactNumber) return value.valueOf();
    if (schema) this.fields(value as JsonObject, schema, keeps, false);
    else this.#unknownFields(value as JsonObject, keeps);
    return value;
  }

  #items(
    list: unknown[],
    schema: Structural | undefined,
    keeps: boolean,
  ): void {
    const items = schema?.items;
    if (!items && keeps) {
      this.keys += countKeys(list);
      plainNumbers(list);
      return;
    }
    // The items of a list that keeps what is unknown keep it too, whatever their own schema says.
    const keepsBelow = keeps || (items?.preserveUnknown ?? false);
    const path = this.#path;
    for (let at = 0; at < list.length; at++) {
      const item = list[at];
      if (typeof item !== "object" || item === null) continue;
      path.push(at);
      list[at] = this.value(item, items, keepsBelow);
      path.pop();
    }
  }

  fields(
    object: JsonObject,
    schema: Structural,
    keeps: boolean,
    root: boolean,
  ): void {
    const { properties, additional, values } = schema;
    const embedded = schema.embedded && !root;
    if (embedded) this.#embeddedMeta(object);
    const path = this.#path;
    for (const name in object) {
      this.keys++;
      if ((root || embedded) && isMeta(name)) continue;
      const field = properties?.get(name) ?? values;
      const inner = object[name];
      if (field) {
        if (inner === null) {
          if (
            this.#dropsNulls &&
            !field.nullable &&
            field.default === undefined
          )
            delete object[name];
          continue;
        }
        if (typeof inner !== "object") continue;
        path.push(name);
        const now = this.value(inner, field, this.#keeps(field));
        path.pop();
        if (now !== inner) setOwn(object, name, now);
      } else if (additional !== undefined) {
        path.push(name);
        const now = this.value(inner, undefined, !this.#pruned);
        path.pop();
        if (now !== inner) setOwn(object, name, now);
      } else this.#unknownField(object, name, keeps || !this.#pruned);
    }
  }

  #keeps(field: Structural): boolean {
    return field.preserveUnknown || !this.#pruned;
  }

  #unknownField(object: JsonObject, name: string, keeps: boolean): void {
    const inner = object[name];
    if (typeof inner === "object" && inner !== null) {
      this.keys += countKeys(inner);
      if (keeps) {
        const now = plainNumbers(inner);
        if (now !== inner) setOwn(object, name, now);
      }
    }
    if (keeps) return;
    this.#note(name);
    delete object[name];
  }

  #unknownFields(object: JsonObject, keeps: boolean): void {
    for (const name in object) {
      this.keys++;
      this.#unknownField(object, name, keeps);
    }
  }

  #note(name: string): void {
    if (!this.#strict || this.unknown.length >= maxProblems) return;
    this.unknown.push(joinPath(this.#where(), name));
  }

  #where(): string {
    let path = "";
    for (const step of this.#path) path = joinPath(path, step);
    return path;
  }

  /** Throws TypeMismatch: here the reference reports one problem only. */
  #embeddedMeta(object: JsonObject): void {
    const refuse = (name: string, why: string): never => {
      const shown = shownJson(object[name]);
      const path = joinPath(this.#where(), name);
      throw new EmbeddedMismatch(fieldErrors.invalidShown(path, shown, why));
    };
    for (const name of ["apiVersion", "kind"])
      if (object[name] !== undefined && typeof object[name] !== "string")
        refuse(name, "must be a string");
    const given = object["metadata"];
    if (given === undefined) return;
    try {
      // Read from a copy, as the text of a refusal shows the value that was given.
      const meta = conform(copyJson(given), objectMetaSchema, this.#strict);
      this.keys += meta.keys;
      object["metadata"] = meta.object;
      const prefix = joinPath(this.#where(), "metadata");
      for (const { path } of meta.problems)
        this.#embeddedUnknown.push(`${prefix}.${path}`);
    } catch (error) {
      if (error instanceof TypeMismatch) refuse("metadata", error.message);
      throw error;
    }
  }
}
