// The 400 of an applied configuration with fields that its type does not have: said whatever fieldValidation asks for,
// with the paths of server-side apply (`.spec.containers[name="c"].imag`).
import type { ApiError } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import { untypedPatch } from "../../api/patch/apply.ts";
import type {
  FieldSchema,
  ObjectSchema,
  TypeSchema,
} from "../../api/schema.ts";

/** `paths` as strict decoding writes them: `spec.containers[0].imag`. */
export function undeclaredFields(
  object: Readonly<AnyObject>,
  schema: ObjectSchema,
  paths: readonly string[],
): ApiError {
  const texts = paths.map(
    (path) =>
      `${applyPath(object, schema, path)}: field not declared in schema`,
  );
  const all =
    texts.length === 1 ? texts[0]! : `errors:\n  ${texts.join("\n  ")}`;
  return untypedPatch(object, all);
}

function applyPath(
  object: unknown,
  schema: ObjectSchema,
  path: string,
): string {
  let value: unknown = object;
  let node: TypeSchema | undefined = schema;
  let field: FieldSchema | undefined;
  let text = "";
  for (const [, name, index] of path.matchAll(/(?:^|\.)([^.[]+)|\[(\d+)\]/g)) {
    if (name !== undefined) {
      text += `.${name}`;
      value = (value as Record<string, unknown> | undefined)?.[name];
      field = node?.type === "object" ? node.fields.get(name) : undefined;
      node = node?.type === "map" ? node.values : field?.schema;
    } else {
      const item = (value as unknown[] | undefined)?.[Number(index)];
      const keys = field?.listMapKeys?.map(
        (key) =>
          `${key}=${JSON.stringify((item as Record<string, unknown>)?.[key])}`,
      );
      text += keys ? `[${keys.join(",")}]` : `[${index}]`;
      value = item;
      node = node?.type === "list" ? node.items : undefined;
    }
  }
  return text;
}
