// Descriptions of built-in types and fields in OpenAPI documents, as `kubectl explain` prints them. One text serves all
// versions of a type. The reference: every definition and every property of its documents has one.
import { messageNamed } from "../type-table.ts";
import { definitionOf, type JsonObject } from "./definitions.ts";
import type { Definition, Definitions } from "./fragments.ts";
import { oneStep } from "../queueing/steps.ts";
import type { TypeTexts } from "./texts/index.ts";

/** By package without version and type, as `api.core.Pod`. */
let known: ReadonlyMap<string, TypeTexts> | undefined;

/** Loads the texts, which definitions need. They stay loaded. */
export async function loadDescriptions(): Promise<void> {
  if (known) return;
  const { texts } = await import("./texts/index.ts");
  const byType = new Map<string, TypeTexts>();
  for (const packages of texts)
    for (const [name, types] of Object.entries(packages))
      for (const [type, entry] of Object.entries(types))
        byType.set(`${name}.${type}`, {
          ...(entry["="] ? types[entry["="]] : {}),
          ...entry,
        });
  known = byType;
}

/** Schemas of the built-in types, each by the same function every time. */
export function builtinDefinitions(version: 2 | 3): Definitions {
  const made = new Map<string, Definition>();
  return (name) => {
    const definition = made.get(name);
    if (definition || !definitionOf(name, version)) return definition;
    const steps: Definition = () =>
      oneStep(() => described(name, version, definitionOf(name, version)!));
    made.set(name, steps);
    return steps;
  };
}

const kindTexts: TypeTexts = {
  apiVersion: "The group and version of the object's form, as GROUP/VERSION.",
  kind: "The kind of the object.",
  metadata: "The object's name, labels and other data that every object has.",
  spec: "What is asked for.",
  status: "What is the case, as last reported. Read-only.",
};
const listTexts: TypeTexts = {
  ...kindTexts,
  items: "The objects.",
  metadata: "Data about the list, such as its version.",
};

/**
 * A definition with its texts.
 * @param name in full, e.g. io.k8s.api.core.v1.Pod
 * @param schema as `definitionOf` makes it; not changed
 */
function described(
  name: string,
  version: 2 | 3,
  schema: JsonObject,
): JsonObject {
  const own = known!.get(unversioned(name)) ?? {};
  const message = messageNamed(name);
  const list = message?.isKind && name.endsWith("List");
  const general: TypeTexts = !message?.isKind
    ? {}
    : list
      ? listTexts
      : kindTexts;
  const text =
    own[""] ?? (list ? "A list of objects, or a part of one." : undefined);
  const properties = schema["properties"] as
    Record<string, JsonObject> | undefined;
  return {
    ...(text ? { description: text } : {}),
    ...schema,
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([field, property]) => [
              field,
              withText(property, version, own[field] ?? general[field]),
            ]),
          ),
        }
      : {}),
  };
}

/** In version 3 a reference has no neighbours. */
function withText(
  property: JsonObject,
  version: 2 | 3,
  description: string | undefined,
): JsonObject {
  if (!description) return property;
  return version === 3 && property["$ref"]
    ? { description, allOf: [property] }
    : { description, ...property };
}

/** io.k8s.api.core.v1.Pod: api.core.Pod; the package of the general types keeps its v1, as it is no API group. */
function unversioned(name: string): string {
  const short = name.replace(/^io\.k8s\./, "");
  return short.startsWith("apimachinery.")
    ? short
    : short.replace(/\.v\d\w*\.(?=\w+$)/, ".");
}
