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
  hasDefaults,
  hasExtensions,
  isNonStructural,
  schemaProblems,
  type SchemaRules,
} from "./definition-schema.ts";
import { keyedItemProblems, nonAtomic } from "./schema-node.ts";
import { schemaHas } from "./schema-rules.ts";
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
export function validateNewDefinition(definition: Definition): FieldError[] {
  const { metadata, spec } = definition;
  return [
    ...(!metadata.name ||
    metadata.name === `${spec.names?.plural}.${spec.group}`
      ? []
      : [
          fieldErrors.invalid(
            "metadata.name",
            metadata.name,
            'must be spec.names.plural+"."+spec.group',
          ),
        ]),
    ...specProblems(definition, rulesOfNew),
    ...statusProblems(definition),
    ...storedVersionProblems(definition),
    ...approvalProblems(definition, undefined),
    ...preserveProblems(definition, undefined),
  ];
}

export function validateChangedDefinition(
  definition: Definition,
  old: Definition,
): FieldError[] {
  const [now, was] = [definition.spec, old.spec];
  const established = isConditionTrue(old.status?.conditions, "Established");
  return [
    ...specProblems(definition, rulesOfChanged(definition, old)),
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

function rulesOfChanged(definition: Definition, old: Definition): Rules {
  const versions = old.spec.versions ?? [];
  const has = (is: (schema: JSONSchemaProps) => boolean): boolean =>
    versions.some((version) => schemaHas(schemaOf(version), is));
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
    schemas: versions.every((version) => schemaOf(version) !== undefined),
    knownReview: reviews.length === 0 || knowsReview(reviews),
    structural: !versions.some((version) => isNonStructural(schemaOf(version))),
    prunedDefaults: true,
    validTypes: !has(({ type }) => Boolean(type) && !types.includes(type!)),
    atomicSets: !has(
      (schema) =>
        schema["x-kubernetes-list-type"] === "set" &&
        isJsonObject(schema.items) &&
        nonAtomic(schema.items) !== undefined,
    ),
    keyedItems: !has((schema) => keyedItemProblems(schema, "").length > 0),
    unchanged: new Set(
      (definition.spec.versions ?? [])
        .filter((version) => !changed.includes(version))
        .map(({ name }) => name),
    ),
  };
}

function specProblems({ spec }: Definition, asked: Rules): FieldError[] {
  const { group = "", versions = [], names } = spec;
  const preserves = spec.preserveUnknownFields ?? false;
  const rules: Rules = {
    ...asked,
    structural:
      asked.structural ||
      !preserves ||
      versions.some(
        (version) =>
          hasDefaults(schemaOf(version)) || hasExtensions(schemaOf(version)),
      ),
  };
  const shared = sharedParts(versions);
  return [
    ...groupProblems(group),
    ...oneOf("spec.scope", spec.scope, ["Cluster", "Namespaced"], true),
    ...missingSchemas(versions, shared, preserves, rules),
    ...(preserves && versions.some((version) => hasDefaults(schemaOf(version)))
      ? [
          fieldErrors.invalid(
            "spec.preserveUnknownFields",
            true,
            "must be false in order to use defaults in the schema",
          ),
        ]
      : []),
    ...versions.flatMap((version, index) => [
      ...versionNameProblems(version, `spec.versions[${index}].name`),
      ...partProblems(
        version,
        `spec.versions[${index}]`,
        ({ part }) => !shared.has(part),
        versions,
        rules,
      ),
    ]),
    ...versionListProblems(spec.versions, shared),
    ...labelProblem("spec.version", versions[0]?.name ?? ""),
    ...(["plural", "singular", "kind", "listKind"] as const).flatMap((name) =>
      names?.[name] ? [] : [fieldErrors.required(`spec.names.${name}`)],
    ),
    ...namesProblems(names ?? {}, "spec.names"),
    ...(versions[0]
      ? partProblems(
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
function partProblems(
  version: Version,
  field: string,
  has: (of: { part: Part }) => boolean,
  versions: readonly Version[],
  rules: Rules,
): FieldError[] {
  const whole = field === "spec";
  const problems = whole ? [] : deprecationProblems(version, field);
  const schema = schemaOf(version);
  const { additionalPrinterColumns: columns = [], selectableFields = [] } =
    version;
  if (has({ part: "schema" }) && schema)
    problems.push(
      ...schemaProblems(
        schema,
        `${field}.${whole ? "validation" : "schema"}`,
        (whole ? versions : [version]).some(
          ({ subresources }) => subresources?.status !== undefined,
        ),
        rules,
        rules.unchanged.has(version.name),
      ),
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
    problems.push(...selectedProblems(version, field));
  return problems;
}

function selectedProblems(version: Version, field: string): FieldError[] {
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
  const why = whyUnsupported(schema);
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
