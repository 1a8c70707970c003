// The parts of a configuration that its schema knows as one: an apply of them would take away what it does not name.
import { isJsonObject, type JsonObject } from "./json-value.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";
import { rootField, shapeOf } from "./typed-value.ts";

/** Their paths: `.spec.selector`, `.spec.containers[0].args`. What has no field in the schema is not looked into. */
export function atomicParts(value: unknown, schema: PatchSchema): string[] {
  const found: string[] = [];
  const visit = (part: unknown, field: PatchField, path: string): void => {
    if (!Array.isArray(part) && !isJsonObject(part)) return;
    if (shapeOf(part, field) === "leaf") found.push(path);
    if (Array.isArray(part)) {
      const items: PatchField = { schema: field.schema.items ?? untyped };
      for (const [index, item] of (part as unknown[]).entries())
        visit(item, items, `${path}[${index}]`);
      return;
    }
    for (const name of Object.keys(part).sort()) {
      const inner = field.schema.fields?.get(name);
      if (inner) visit((part as JsonObject)[name], inner, `${path}.${name}`);
    }
  };
  visit(value, rootField(schema), "");
  return found;
}

const untyped: PatchSchema = { type: "json" };
