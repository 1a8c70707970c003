// The structure of a custom resource: which fields there are, of what kind, and what is said of them beside their values.
// Parsed once from the `openAPIV3Schema` of a definition; what restricts values (`enum`, `anyOf` …) stays in `source`, for
// the room validation/.
//
// Example: {type: object, properties: {replicas: {type: integer, default: 1}}} becomes a node whose `properties` has one
// node, and whose `defaulted` names it, so that a walk that sets defaults looks at no other field.
// Invariants: nodes are never changed; flags that end in `Below` are about the node and everything under it.
import type {
  JSONSchemaProps,
  ValidationRule,
} from "../types/apiextensions-v1.ts";
import type { Steps } from "../queueing/steps.ts";
import { isJsonObject } from "../patch/json-value.ts";

type ListType = "atomic" | "set" | "map";
type MapType = "granular" | "atomic";

type Fields = readonly (readonly [string, Structural])[];

const noFields: Fields = [];
/** Nodes that are made in one step. */
const nodesPerStep = 64;

function chosen(fields: Fields, is: (field: Structural) => boolean): Fields {
  return fields.some(([, field]) => is(field))
    ? fields.filter(([, field]) => is(field))
    : noFields;
}

export class Structural {
  /** "" when the schema names none. */
  readonly type: string;
  readonly nullable: boolean;
  /** Undefined: none; null is none either. */
  readonly default: unknown;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: MapType | undefined;
  readonly rules: readonly ValidationRule[];
  readonly properties: ReadonlyMap<string, Structural> | undefined;
  readonly items: Structural | undefined;
  /** The schema of the values, or whether there may be any; undefined: not mentioned. */
  readonly additional: Structural | boolean | undefined;

  /** Fields that have a default themselves. */
  readonly defaulted: Fields;
  /** Fields with a default in them. */
  readonly defaultedBelow: Fields;
  readonly hasDefaultBelow: boolean;
  readonly hasEmbeddedBelow: boolean;
  readonly hasListTypeBelow: boolean;
  readonly hasRuleBelow: boolean;
  #defaultBytes: number | undefined;

  /** @param parts of the source, where they have been made */
  constructor(
    readonly source: JSONSchemaProps,
    parts: Parts = partsOf(source),
  ) {
    this.type = source.type ?? "";
    this.nullable = source.nullable ?? false;
    this.default = source.default ?? undefined;
    this.preserveUnknown =
      source["x-kubernetes-preserve-unknown-fields"] ?? false;
    this.embedded = source["x-kubernetes-embedded-resource"] ?? false;
    this.intOrString = source["x-kubernetes-int-or-string"] ?? false;
    this.listType = source["x-kubernetes-list-type"] as ListType | undefined;
    this.listMapKeys = source["x-kubernetes-list-map-keys"] ?? [];
    this.mapType = source["x-kubernetes-map-type"] as MapType | undefined;
    this.rules = source["x-kubernetes-validations"] ?? [];
    this.properties = parts.properties;
    this.items = parts.items;
    this.additional = parts.additional;

    const { items, values, properties } = this;
    const fields = properties ? [...properties] : noFields;
    this.defaulted = chosen(fields, (field) => field.default !== undefined);
    this.defaultedBelow = chosen(fields, (field) => field.hasDefaultBelow);
    const below = (is: (part: Structural) => boolean): boolean =>
      (items !== undefined && is(items)) ||
      (values !== undefined && is(values)) ||
      fields.some(([, field]) => is(field));
    const leaf = !items && !values && !properties;
    this.hasDefaultBelow =
      !leaf &&
      below((part) => part.default !== undefined || part.hasDefaultBelow);
    this.hasEmbeddedBelow =
      this.embedded || (!leaf && below((part) => part.hasEmbeddedBelow));
    this.hasListTypeBelow =
      this.listType === "set" ||
      this.listType === "map" ||
      (!leaf && below((part) => part.hasListTypeBelow));
    this.hasRuleBelow =
      this.rules.length > 0 || (!leaf && below((part) => part.hasRuleBelow));
  }

  /** The same in steps, for a large schema. */
  static *inSteps(
    source: JSONSchemaProps,
    made = { nodes: 0 },
  ): Steps<Structural> {
    const { properties = {}, items, additionalProperties: values } = source;
    const fields = new Map<string, Structural>();
    for (const name of Object.keys(properties))
      fields.set(name, yield* Structural.inSteps(properties[name]!, made));
    const ofItems = isJsonObject(items)
      ? yield* Structural.inSteps(items, made)
      : undefined;
    const ofValues = isJsonObject(values)
      ? yield* Structural.inSteps(values, made)
      : typeof values === "boolean"
        ? values
        : undefined;
    if (++made.nodes % nodesPerStep === 0) yield;
    return new Structural(source, {
      properties: fields.size > 0 ? fields : undefined,
      items: ofItems,
      additional: ofValues,
    });
  }

  /** Of the default as JSON, about. */
  get defaultBytes(): number {
    return (this.#defaultBytes ??= JSON.stringify(this.default).length + 4);
  }

  /** The schema of the values of keys that are no properties. */
  get values(): Structural | undefined {
    return this.additional instanceof Structural ? this.additional : undefined;
  }

  /** The schema of a field, named or free. */
  field(name: string): Structural | undefined {
    return this.properties?.get(name) ?? this.values;
  }
}

type Parts = Pick<Structural, "properties" | "items" | "additional">;

/** `items` that is a list of schemas is no structural schema, and is refused elsewhere. */
const partsOf = (source: JSONSchemaProps): Parts => ({
  properties: propertiesOf(source),
  items: isJsonObject(source.items) ? new Structural(source.items) : undefined,
  additional: additionalOf(source),
});

function propertiesOf({
  properties,
}: JSONSchemaProps): ReadonlyMap<string, Structural> | undefined {
  if (!properties) return undefined;
  const found = new Map<string, Structural>();
  for (const name of Object.keys(properties))
    found.set(name, new Structural(properties[name]!));
  return found.size > 0 ? found : undefined;
}

function additionalOf({
  additionalProperties: given,
}: JSONSchemaProps): Structural | boolean | undefined {
  if (typeof given === "boolean") return given;
  return isJsonObject(given) ? new Structural(given) : undefined;
}
