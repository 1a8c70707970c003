// Schemas and rules as the reference prints its own types inside error texts. What a pointer points at is an address there;
// here it is always the same one.
import { shownValue } from "../../../api/field-errors.ts";
import { shownJson } from "../../../api/structural/shown-value.ts";
import type {
  JSONSchemaProps,
  ValidationRule,
} from "../../../api/types/apiextensions-v1.ts";

const address = "0xc000000000";
const at = "apiextensions.";

type Print = (value: unknown) => string;

const text: Print = (value) => shownValue(value ?? "");
const flag: Print = (value) => String(value ?? false);
const pointer =
  (type: string): Print =>
  (value) =>
    `(*${type})(${value === undefined || value === null ? "nil" : address})`;
const list =
  (type: string, print: Print, prefix = "[]"): Print =>
  (value) =>
    value === undefined || value === null
      ? `${prefix}${type}(nil)`
      : `${prefix}${type}{${(value as unknown[]).map(print).join(", ")}}`;
const map =
  (type: string): Print =>
  (value) => {
    if (value === undefined || value === null) return `${type}(nil)`;
    const entries = Object.entries(value as Record<string, JSONSchemaProps>)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => `${shownValue(name)}:${schemaSyntax(each)}`);
    return `${type}{${entries.join(", ")}}`;
  };
const texts = list("string", text);
const schemas = list(`${at}JSONSchemaProps`, (each) =>
  schemaSyntax(each as JSONSchemaProps),
);
const schema = pointer(`${at}JSONSchemaProps`);
const json = pointer(`${at}JSON`);
const count = pointer("int64");
const number = pointer("float64");
const boolOr = pointer(`${at}JSONSchemaPropsOrBool`);

/** In the order of the reference's type. */
const fields: readonly (readonly [string, keyof JSONSchemaProps, Print])[] = [
  ["ID", "id", text],
  ["Schema", "$schema", text],
  ["Ref", "$ref", pointer("string")],
  ["Description", "description", text],
  ["Type", "type", text],
  ["Nullable", "nullable", flag],
  ["Format", "format", text],
  ["Title", "title", text],
  ["Default", "default", json],
  ["Maximum", "maximum", number],
  ["ExclusiveMaximum", "exclusiveMaximum", flag],
  ["Minimum", "minimum", number],
  ["ExclusiveMinimum", "exclusiveMinimum", flag],
  ["MaxLength", "maxLength", count],
  ["MinLength", "minLength", count],
  ["Pattern", "pattern", text],
  ["MaxItems", "maxItems", count],
  ["MinItems", "minItems", count],
  ["UniqueItems", "uniqueItems", flag],
  ["MultipleOf", "multipleOf", number],
  ["Enum", "enum", list(`${at}JSON`, shownJson)],
  ["MaxProperties", "maxProperties", count],
  ["MinProperties", "minProperties", count],
  ["Required", "required", texts],
  ["Items", "items", pointer(`${at}JSONSchemaPropsOrArray`)],
  ["AllOf", "allOf", schemas],
  ["OneOf", "oneOf", schemas],
  ["AnyOf", "anyOf", schemas],
  ["Not", "not", schema],
  ["Properties", "properties", map(`map[string]${at}JSONSchemaProps`)],
  ["AdditionalProperties", "additionalProperties", boolOr],
  [
    "PatternProperties",
    "patternProperties",
    map(`map[string]${at}JSONSchemaProps`),
  ],
  ["Dependencies", "dependencies", map(`${at}JSONSchemaDependencies`)],
  ["AdditionalItems", "additionalItems", boolOr],
  ["Definitions", "definitions", map(`${at}JSONSchemaDefinitions`)],
  ["ExternalDocs", "externalDocs", pointer(`${at}ExternalDocumentation`)],
  ["Example", "example", json],
  [
    "XPreserveUnknownFields",
    "x-kubernetes-preserve-unknown-fields",
    pointer("bool"),
  ],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", flag],
  ["XIntOrString", "x-kubernetes-int-or-string", flag],
  ["XListMapKeys", "x-kubernetes-list-map-keys", texts],
  ["XListType", "x-kubernetes-list-type", pointer("string")],
  ["XMapType", "x-kubernetes-map-type", pointer("string")],
  [
    "XValidations",
    "x-kubernetes-validations",
    list(
      `${at}ValidationRules`,
      (each) => ruleSyntax(each as ValidationRule),
      "",
    ),
  ],
];

export function schemaSyntax(value: JSONSchemaProps): string {
  const parts = fields.map(
    ([name, key, print]) => `${name}:${print(value[key])}`,
  );
  return `${at}JSONSchemaProps{${parts.join(", ")}}`;
}

export function ruleSyntax(rule: ValidationRule): string {
  const parts = [
    `Rule:${text(rule.rule)}`,
    `Message:${text(rule.message)}`,
    `MessageExpression:${text(rule.messageExpression)}`,
    `Reason:${pointer(`${at}FieldValueErrorReason`)(rule.reason)}`,
    `FieldPath:${text(rule.fieldPath)}`,
    `OptionalOldSelf:${pointer("bool")(rule.optionalOldSelf)}`,
  ];
  return `${at}ValidationRule{${parts.join(", ")}}`;
}
