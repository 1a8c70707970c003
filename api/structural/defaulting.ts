// The defaults of a custom resource's schema, set in an object that was sent or read. Only the fields named by the schema
// and present in the object are looked at. Applying twice changes nothing.
import { copyJson, isJsonObject, setOwn } from "../patch/json-value.ts";
import type { Structural } from "./structural.ts";

/** Changes `value` in place. A null where null is not allowed counts as unset. */
export function setStructuralDefaults(
  value: unknown,
  schema: Structural | undefined,
): void {
  if (!schema?.hasDefaultBelow) return;
  if (Array.isArray(value)) setInItems(value as unknown[], schema.items);
  else if (isJsonObject(value)) setInFields(value, schema);
}

function setInFields(
  object: Record<string, unknown>,
  schema: Structural,
): void {
  for (const [name, field] of schema.defaulted) {
    const present = Object.hasOwn(object, name) ? object[name] : undefined;
    if (present === undefined || (present === null && !field.nullable))
      setOwn(object, name, copyJson(field.default));
  }
  for (const [name, field] of schema.defaultedBelow)
    if (Object.hasOwn(object, name)) setStructuralDefaults(object[name], field);
  const { values, properties } = schema;
  if (!values || (values.default === undefined && !values.hasDefaultBelow))
    return;
  for (const name of Object.keys(object)) {
    if (properties?.has(name)) continue;
    if (object[name] === null && !values.nullable)
      object[name] = copyJson(values.default) ?? null;
    setStructuralDefaults(object[name], values);
  }
}

function setInItems(list: unknown[], items: Structural | undefined): void {
  if (!items) return;
  for (let at = 0; at < list.length; at++) {
    if (list[at] === null && !items.nullable && items.default !== undefined)
      list[at] = copyJson(items.default);
    setStructuralDefaults(list[at], items);
  }
}
