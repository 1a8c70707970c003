// Types of built-in kinds for the check of expressions, from the same schemas as the published documents.
import {
  typeOfSchema,
  type JsonSchema,
} from "../cel/schemas/from-json-schema.ts";
import type { DeclaredType } from "../cel/schemas/declared-type.ts";
import { definitionOf, type JsonObject } from "../openapi/definitions.ts";
import { messageNameOfKind } from "../type-table.ts";

/** Schemas of schemas refer to themselves: expressions do not see more of them than this. */
const maxDepth = 16;
const before = "#/definitions/";

/** Undefined for kinds that are not built in. */
export function builtinType(
  apiVersion: string,
  kind: string,
): DeclaredType | undefined {
  const name = messageNameOfKind(apiVersion, kind);
  const schema = name === undefined ? undefined : resolved(name, [], new Map());
  return schema && typeOfSchema(schema, kind);
}

function resolved(
  name: string,
  within: readonly string[],
  known: Map<string, JsonSchema>,
): JsonSchema | undefined {
  if (within.length >= maxDepth || within.includes(name)) return undefined;
  const found = known.get(name);
  if (found) return found;
  const definition = definitionOf(name, 2);
  if (!definition) return undefined;
  const made = withoutReferences(definition, [...within, name], known);
  known.set(name, made);
  return made;
}

function withoutReferences(
  schema: JsonObject,
  within: readonly string[],
  known: Map<string, JsonSchema>,
): JsonSchema {
  const { $ref, properties, items, additionalProperties } = schema as {
    $ref?: string;
    properties?: Record<string, JsonObject>;
    items?: JsonObject;
    additionalProperties?: JsonObject;
  };
  if ($ref !== undefined)
    return resolved($ref.slice(before.length), within, known) ?? {};
  const inner = (part: JsonObject): JsonSchema =>
    withoutReferences(part, within, known);
  return {
    ...(schema as JsonSchema),
    ...(schema["format"] === "int-or-string"
      ? { "x-kubernetes-int-or-string": true }
      : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [
              name,
              inner(part),
            ]),
          ),
        }
      : {}),
    ...(items ? { items: inner(items) } : {}),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: inner(additionalProperties) }
      : {}),
  };
}
