// Validation of CustomResourceDefinitions. As in the reference, what all versions say alike (schema, subresources, columns,
// selectable fields) is one, and problems of it have the fields of one: `spec.validation.openAPIV3Schema`, with one version
// always. What a definition of an earlier server has may stay, even where new ones may not have it.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../api/names.ts";
import { isConditionTrue } from "../../../api/objects/conditions.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { isJsonObject } from "../../../api/patch/json-value.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import { whyUnsupported } from "../../../api/structural/structural-check.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion as Version,
  JSONSchemaProps,
} from "../../../api/types/apiextensions-v1.ts";
import { immutable, oneOf } from "../field-checks.ts";
import { approvalProblems } from "./approval.ts";
import { conversionProblems, knowsReview } from "./conversion-validation.ts";
import {
  columnProblems,
  labelProblem,
  namesProblems,
  selectableFieldProblems,
  subresourceProblems,
} from "./definition-parts.ts";
import {
  anyDefaults,
  anyExtensions,
  anyNonStructural,
  schemaProblems,
  type SchemaRules,
} from "./definition-schema.ts";
import { keyedItemProblems, nonAtomic } from "./schema-lists.ts";
import { anySchemaHas } from "./schema-rules.ts";
import {
  deprecationProblems,
  sharedParts,
  versionListProblems,
  versionNameProblems,
  type Part,
} from "./version-list.ts";

type Definition = Readonly<CustomResourceDefinition>;

interface Rules extends SchemaRules {
  readonly schemas: boolean;
  readonly knownReview: boolean;
  /** By version: those that have not changed. */
  readonly unchanged: ReadonlySet<string>;
}

const rulesOfNew: Rules = {
  schemas: true,
  knownReview: true,
  structural: true,
  prunedDefaults: true,
  validTypes: true,
  atomicSets: true,
  keyedItems: true,
  unchanged: new Set(),
};

/** `loadPatterns` has been awaited. metadata is validated by the registry, but for the name. */
export function* validateNewDefinition(
  definition: Definition,
): Steps<FieldError[]> {
  const { metadata, spec } = definition;
  const wanted = `${spec.names?.plural}.${spec.group}`;
  return [
    // A generated name could never fit; the reference wants its beginning to be the whole.
    ...(["generateName", "name"] as const).flatMap((field) => {
      const name = metadata[field];
      return !name || name === wanted
        ? []
        : [
            fieldErrors.invalid(
              `metadata.${field}`,
              name,
              'must be spec.names.plural+"."+spec.group',
            ),
          ];
    }),
    ...(yield* specProblems(definition, rulesOfNew)),
    ...statusProblems(definition),
    ...storedVersionProblems(definition),
    ...approvalProblems(definition, undefined),
    ...preserveProblems(definition, undefined),
  ];
}

export function* validateChangedDefinition(
  definition: Definition,
  old: Definition,
): Steps<FieldError[]> {
  const [now, was] = [definition.spec, old.spec];
  const established = isConditionTrue(old.status?.conditions, "Established");
  return [
    ...(yield* specProblems(
      definition,
      yield* rulesOfChanged(definition, old),
    )),
    ...(established
      ? [
          ...immutable("spec.scope", now.scope, was.scope),
          ...immutable("spec.names.kind", now.names.kind, was.names.kind),
        ]
      : []),
    ...immutable("spec.group", now.group, was.group),
    ...immutable("spec.names.plural", now.names.plural, was.names.plural),
    ...statusProblems(definition),
    ...storedVersionProblems(definition),
    ...approvalProblems(definition, old),
    ...preserveProblems(definition, old),
  ];
}

/** Of a write to the status. */
export const statusProblems = ({ status }: Definition): FieldError[] =>
  namesProblems(status?.acceptedNames ?? {}, "status.acceptedNames");

const schemaOf = (version: Version): JSONSchemaProps | undefined =>
  version.schema?.openAPIV3Schema;

function* rulesOfChanged(
  definition: Definition,
  old: Definition,
): Steps<Rules> {
  const versions = old.spec.versions ?? [];
  const schemas = versions.map(schemaOf);
  const has = (is: (schema: JSONSchemaProps) => boolean): Steps<boolean> =>
    anySchemaHas(schemas, is);
  const types = ["array", "boolean", "integer", "number", "object", "string"];
  const reviews = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const changed = (definition.spec.versions ?? []).filter(
    (version) =>
      !sameValue(
        version.schema,
        versions.find(({ name }) => name === version.name)?.schema,
      ),
  );
  return {
    schemas: schemas.every((schema) => schema !== undefined),
    knownReview: reviews.length === 0 || knowsReview(reviews),
    structural: !(yield* anyNonStructural(schemas)),
    prunedDefaults: true,
    validTypes: !(yield* has(
      ({ type }) => Boolean(type) && !types.includes(type!),
    )),
    atomicSets: !(yield* has(
      (schema) =>
        schema["x-kubernetes-list-type"] === "set" &&
        isJsonObject(schema.items) &&
        nonAtomic(schema.items) !== undefined,
    )),
    keyedItems: !(yield* has(
      (schema) => keyedItemProblems(schema, "").length > 0,
    )),
    unchanged: new Set(
      (definition.spec.versions ?? [])
        .filter((version) => !changed.includes(version))
        .map(({ name }) => name),
    ),
  };
}

function* specProblems(
  { spec }: Definition,
  asked: Rules,
): Steps<FieldError[]> {
  const { group = "", versions = [], names } = spec;
  const preserves = spec.preserveUnknownFields ?? false;
  const schemas = versions.map(schemaOf);
  const hasDefaults = yield* anyDefaults(schemas);
  const rules: Rules = {
    ...asked,
    structural:
      asked.structural ||
      !preserves ||
      hasDefaults ||
      (yield* anyExtensions(schemas)),
  };
  const shared = sharedParts(versions);
  const ofVersions: FieldError[] = [];
  for (const [index, version] of versions.entries())
    ofVersions.push(
      ...versionNameProblems(version, `spec.versions[${index}].name`),
      ...(yield* partProblems(
        version,
        `spec.versions[${index}]`,
        ({ part }) => !shared.has(part),
        versions,
        rules,
      )),
    );
  return [
    ...groupProblems(group),
    ...oneOf("spec.scope", spec.scope, ["Cluster", "Namespaced"], true),
    ...missingSchemas(versions, shared, preserves, rules),
    ...(preserves && hasDefaults
      ? [
          fieldErrors.invalid(
            "spec.preserveUnknownFields",
            true,
            "must be false in order to use defaults in the schema",
          ),
        ]
      : []),
    ...ofVersions,
    ...versionListProblems(spec.versions, shared),
    ...labelProblem("spec.version", versions[0]?.name ?? ""),
    ...(["plural", "singular", "kind", "listKind"] as const).flatMap((name) =>
      names?.[name] ? [] : [fieldErrors.required(`spec.names.${name}`)],
    ),
    ...namesProblems(names ?? {}, "spec.names"),
    ...(versions[0]
      ? yield* partProblems(
          versions[0],
          "spec",
          ({ part }) => shared.has(part),
          versions,
          rules,
        )
      : []),
    ...(preserves && spec.conversion && spec.conversion.strategy !== "None"
      ? [
          fieldErrors.invalid(
            "spec.conversion.strategy",
            spec.conversion.strategy,
            "must be None if spec.preserveUnknownFields is true",
          ),
        ]
      : []),
    ...conversionProblems(
      spec.conversion,
      "spec.conversion",
      rules.knownReview,
    ),
  ];
}

function groupProblems(group: string): FieldError[] {
  if (group === "") return [fieldErrors.required("spec.group")];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0)
    return [fieldErrors.invalid("spec.group", group, problems.join(","))];
  return group.includes(".")
    ? []
    : [
        fieldErrors.invalid(
          "spec.group",
          group,
          "should be a domain with at least one dot",
        ),
      ];
}

function missingSchemas(
  versions: readonly Version[],
  shared: ReadonlySet<Part>,
  preserves: boolean,
  { schemas }: Rules,
): FieldError[] {
  if (!schemas && preserves) return [];
  if (shared.has("schema") && versions[0] && schemaOf(versions[0])) return [];
  return versions.flatMap((version, index) =>
    schemaOf(version) || (!schemas && !version.served)
      ? []
      : [
          fieldErrors.required(
            `spec.versions[${index}].schema.openAPIV3Schema`,
            schemas
              ? "schemas are required"
              : "because otherwise all fields are pruned",
          ),
        ],
  );
}

/** The parts of a version that `has` chooses. */
function* partProblems(
  version: Version,
  field: string,
  has: (of: { part: Part }) => boolean,
  versions: readonly Version[],
  rules: Rules,
): Steps<FieldError[]> {
  const whole = field === "spec";
  const problems = whole ? [] : deprecationProblems(version, field);
  const schema = schemaOf(version);
  const { additionalPrinterColumns: columns = [], selectableFields = [] } =
    version;
  if (has({ part: "schema" }) && schema)
    problems.push(
      ...(yield* schemaProblems(
        schema,
        `${field}.${whole ? "validation" : "schema"}`,
        (whole ? versions : [version]).some(
          ({ subresources }) => subresources?.status !== undefined,
        ),
        rules,
        rules.unchanged.has(version.name),
      )),
    );
  if (has({ part: "subresources" }))
    problems.push(
      ...subresourceProblems(version.subresources, `${field}.subresources`),
    );
  if (has({ part: "additionalPrinterColumns" }))
    problems.push(
      ...columns.flatMap((column, index) =>
        columnProblems(column, `${field}.additionalPrinterColumns[${index}]`),
      ),
    );
  if (has({ part: "selectableFields" }) && selectableFields.length > 0)
    problems.push(...(yield* selectedProblems(version, field)));
  return problems;
}

function* selectedProblems(
  version: Version,
  field: string,
): Steps<FieldError[]> {
  const schema = schemaOf(version);
  const at = `${field}.selectableFields`;
  if (!schema)
    return [
      fieldErrors.invalid(
        at,
        "",
        "selectableFields may only be set when version.schema.openAPIV3Schema is not included",
      ),
    ];
  const why = yield* whyUnsupported(schema);
  return why === undefined
    ? selectableFieldProblems(version.selectableFields ?? [], schema, at)
    : [fieldErrors.invalid(`${field}.schema.openAPIV3Schema`, "", why)];
}

function storedVersionProblems({ spec, status }: Definition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const field = "status.storedVersions";
  const shown = asGo("[]string", stored.length > 0 ? stored : undefined);
  if (stored.length === 0)
    return [
      fieldErrors.invalid(
        field,
        shown,
        "must have at least one stored version",
      ),
    ];
  const versions = spec.versions ?? [];
  return [
    ...versions
      .filter(({ name, storage }) => storage && !stored.includes(name))
      .map(({ name }) =>
        fieldErrors.invalid(
          field,
          shown,
          `must have the storage version ${name}`,
        ),
      ),
    ...stored.flatMap((name, index) =>
      versions.some((version) => version.name === name)
        ? []
        : [
            fieldErrors.invalid(
              `${field}[${index}]`,
              name,
              "must appear in spec.versions",
            ),
          ],
    ),
  ];
}

function preserveProblems(
  { spec }: Definition,
  old: Definition | undefined,
): FieldError[] {
  return spec.preserveUnknownFields && !old?.spec.preserveUnknownFields
    ? [
        fieldErrors.invalid(
          "spec.preserveUnknownFields",
          true,
          "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ),
      ]
    : [];
}
