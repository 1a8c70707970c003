// The schema of a version of a definition as a whole: is it structural, do its defaults fit, what does each node say, and
// what do its rules cost together.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { defaultProblems } from "../../../api/structural/default-check.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import { Structural } from "../../../api/structural/structural.ts";
import {
  structuralProblems,
  whyUnsupported,
} from "../../../api/structural/structural-check.ts";
import type { JSONSchemaProps } from "../../../api/types/apiextensions-v1.ts";
import { embeddedMetadataProblems } from "../object-meta.ts";
import { nodeProblems, type NodeRules } from "./schema-node.ts";
import { anySchemaHas, RuleScope, TotalCost } from "./schema-rules.ts";
import { schemaSyntax } from "./schema-syntax.ts";

export interface SchemaRules extends NodeRules {
  readonly structural: boolean;
  readonly prunedDefaults: boolean;
}

/** The only keys of the root when status is a subresource, which has a validation of its own. */
const rootKeys: Readonly<Record<string, string>> = {
  description: "Description",
  type: "Type",
  format: "Format",
  title: "Title",
  maximum: "Maximum",
  exclusiveMaximum: "ExclusiveMaximum",
  minimum: "Minimum",
  exclusiveMinimum: "ExclusiveMinimum",
  maxLength: "MaxLength",
  minLength: "MinLength",
  pattern: "Pattern",
  maxItems: "MaxItems",
  minItems: "MinItems",
  uniqueItems: "UniqueItems",
  multipleOf: "MultipleOf",
  required: "Required",
  items: "Items",
  properties: "Properties",
  externalDocs: "ExternalDocs",
  example: "Example",
  "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
  "x-kubernetes-validations": "XValidations",
};

/**
 * `loadPatterns` has been awaited. @param field of the schema's parent. @param hasStatus status is a subresource.
 * @param unchanged the schema was accepted before with what its rules cost
 */
export function* schemaProblems(
  schema: JSONSchemaProps,
  field: string,
  hasStatus: boolean,
  rules: SchemaRules,
  unchanged: boolean,
): Steps<FieldError[]> {
  const at = `${field}.openAPIV3Schema`;
  const problems = hasStatus ? rootProblems(schema, at) : [];
  if (schema.nullable)
    problems.push(
      fieldErrors.forbidden(
        `${at}.nullable`,
        "nullable cannot be true at the root",
      ),
    );
  const total = new TotalCost();
  const unsupported = rules.structural
    ? yield* whyUnsupported(schema)
    : undefined;
  let structural =
    rules.structural && unsupported === undefined
      ? yield* Structural.inSteps(schema)
      : undefined;
  if (structural) {
    const found = yield* shapeProblems(structural, at, rules);
    problems.push(...found);
    if (found.length > 0) structural = undefined;
  }
  problems.push(
    ...(yield* nodeProblems(
      schema,
      at,
      rules,
      structural && RuleScope.root(structural, { total, unchanged }),
    )),
  );
  if (problems.length === 0 && unsupported !== undefined)
    problems.push(fieldErrors.invalid(at, "", unsupported));
  return [...problems, ...total.problems(at)];
}

function* shapeProblems(
  schema: Structural,
  field: string,
  { prunedDefaults }: SchemaRules,
): Steps<FieldError[]> {
  const problems = yield* structuralProblems(schema.source, field);
  return problems.length > 0
    ? problems
    : yield* defaultProblems(schema, field, {
        requirePruned: prunedDefaults,
        checkMetadata: embeddedMetadataProblems,
      });
}

function rootProblems(schema: JSONSchemaProps, field: string): FieldError[] {
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || value === false || value === "") continue;
    if (key === "type" && value !== "object")
      return [
        fieldErrors.invalid(
          `${field}.type`,
          value,
          'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        ),
      ];
    if (!Object.hasOwn(rootKeys, key))
      return [
        fieldErrors.invalidShown(
          field,
          schemaSyntax(schema),
          `only [${Object.values(rootKeys).join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`,
        ),
      ];
  }
  return [];
}

/** Is one of them no structural schema? Such definitions of earlier servers may stay what they are. */
export function* anyNonStructural(
  schemas: Iterable<JSONSchemaProps | undefined>,
): Steps<boolean> {
  for (const schema of schemas) {
    if (!schema) continue;
    if ((yield* whyUnsupported(schema)) !== undefined) return true;
    if ((yield* structuralProblems(schema, "")).length > 0) return true;
  }
  return false;
}

export const anyDefaults = (
  schemas: Iterable<JSONSchemaProps | undefined>,
): Steps<boolean> =>
  anySchemaHas(
    schemas,
    ({ default: own }) => own !== undefined && own !== null,
  );

/** Does one of them say something that only structural schemas may? */
export const anyExtensions = (
  schemas: Iterable<JSONSchemaProps | undefined>,
): Steps<boolean> =>
  anySchemaHas(schemas, (each) =>
    Boolean(
      each["x-kubernetes-embedded-resource"] ||
      each["x-kubernetes-preserve-unknown-fields"] !== undefined ||
      each["x-kubernetes-int-or-string"] ||
      each["x-kubernetes-list-map-keys"]?.length ||
      each["x-kubernetes-list-type"] !== undefined ||
      each["x-kubernetes-validations"]?.length,
    ),
  );
