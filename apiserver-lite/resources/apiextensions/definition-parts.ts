// Parts of a definition beside its schemas: names, subresources, printer columns, selectable fields.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { dns1035Problems } from "../../../api/names.ts";
import {
  FieldPathError,
  findField,
} from "../../../api/structural/rules/field-path.ts";
import { Structural } from "../../../api/structural/structural.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionNames,
  CustomResourceSubresources,
  JSONSchemaProps,
  SelectableField,
} from "../../../api/types/apiextensions-v1.ts";

const maxSelectableFields = 8;
const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = [
  "byte",
  "date",
  "date-time",
  "double",
  "float",
  "int32",
  "int64",
  "password",
];

/** All texts of a label in one. */
export function labelProblem(
  field: string,
  value: string,
  before = "",
  text = value,
): FieldError[] {
  const problems = dns1035Problems(text);
  return value === "" || problems.length === 0
    ? []
    : [fieldErrors.invalid(field, value, `${before}${problems.join(",")}`)];
}

export function namesProblems(
  names: Partial<CustomResourceDefinitionNames>,
  field: string,
): FieldError[] {
  const { plural = "", singular = "", kind = "", listKind = "" } = names;
  const mixedCase = "may have mixed case, but should otherwise match: ";
  const each = (name: "shortNames" | "categories"): readonly FieldError[] =>
    (names[name] ?? []).flatMap((value, index) => {
      const problems = dns1035Problems(value);
      return problems.length === 0
        ? []
        : [
            fieldErrors.invalid(
              `${field}.${name}[${index}]`,
              value,
              problems.join(","),
            ),
          ];
    });
  return [
    ...labelProblem(`${field}.plural`, plural),
    ...labelProblem(`${field}.singular`, singular),
    ...labelProblem(`${field}.kind`, kind, mixedCase, kind.toLowerCase()),
    ...labelProblem(
      `${field}.listKind`,
      listKind,
      mixedCase,
      listKind.toLowerCase(),
    ),
    ...each("shortNames"),
    ...(kind !== "" && kind === listKind
      ? [
          fieldErrors.invalid(
            `${field}.listKind`,
            listKind,
            "kind and listKind may not be the same",
          ),
        ]
      : []),
    ...each("categories"),
  ];
}

export function subresourceProblems(
  subresources: CustomResourceSubresources | undefined,
  field: string,
): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const under = (
    name: string,
    path: string | undefined,
    parts: readonly string[],
    where: string,
  ): FieldError[] => {
    const at = `${field}.scale.${name}`;
    if (!path) return [fieldErrors.required(at)];
    const problems = pathProblems(path, at);
    return problems.length > 0 ||
      parts.some((part) => path.startsWith(`.${part}.`))
      ? problems
      : [fieldErrors.invalid(at, path, `should be a json path under ${where}`)];
  };
  return [
    ...under("specReplicasPath", scale.specReplicasPath, ["spec"], ".spec"),
    ...under(
      "statusReplicasPath",
      scale.statusReplicasPath,
      ["status"],
      ".status",
    ),
    ...(scale.labelSelectorPath
      ? under(
          "labelSelectorPath",
          scale.labelSelectorPath,
          ["spec", "status"],
          "either .spec or .status",
        )
      : []),
  ];
}

const pathProblems = (path: string, field: string): FieldError[] =>
  path.startsWith(".")
    ? []
    : [
        fieldErrors.invalid(
          field,
          path,
          "must be a simple json path starting with .",
        ),
      ];

export function columnProblems(
  column: CustomResourceColumnDefinition,
  field: string,
): FieldError[] {
  const { name, type, format, jsonPath } = column;
  const problems = name ? [] : [fieldErrors.required(`${field}.name`)];
  const oneOfTypes = `must be one of ${columnTypes.join(",")}`;
  if (!type) problems.push(fieldErrors.required(`${field}.type`, oneOfTypes));
  else if (!columnTypes.includes(type))
    problems.push(fieldErrors.invalid(`${field}.type`, type, oneOfTypes));
  if (format && !columnFormats.includes(format))
    problems.push(
      fieldErrors.invalid(
        `${field}.format`,
        format,
        `must be one of ${columnFormats.join(",")}`,
      ),
    );
  return [
    ...problems,
    ...(jsonPath
      ? pathProblems(jsonPath, `${field}.JSONPath`)
      : [fieldErrors.required(`${field}.JSONPath`)]),
  ];
}

/** The schema has a structural form. */
export function selectableFieldProblems(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  field: string,
): FieldError[] {
  const structural = new Structural(schema);
  const seen = new Set<string>();
  const problems = fields.flatMap(({ jsonPath }, index) => {
    const at = `${field}[${index}].jsonPath`;
    if (!jsonPath) return [fieldErrors.required(at)];
    try {
      return selectedProblems(jsonPath, structural, at, seen);
    } catch (error) {
      if (!(error instanceof FieldPathError)) throw error;
      return [
        fieldErrors.invalid(
          at,
          jsonPath,
          `is an invalid path: ${error.message}`,
        ),
      ];
    }
  });
  return seen.size > maxSelectableFields
    ? [...problems, fieldErrors.tooMany(field, seen.size, maxSelectableFields)]
    : problems;
}

/** Throws FieldPathError. */
function selectedProblems(
  jsonPath: string,
  structural: Structural,
  at: string,
  seen: Set<string>,
): FieldError[] {
  const { path, root, schema } = findField(jsonPath, structural, false);
  const problems: FieldError[] = [];
  if (root === "metadata")
    problems.push(
      fieldErrors.invalid(at, jsonPath, "must not point to fields in metadata"),
    );
  if (!["string", "boolean", "integer"].includes(schema?.type ?? ""))
    problems.push(
      fieldErrors.invalid(
        at,
        jsonPath,
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
      ),
    );
  if (seen.has(path)) problems.push(fieldErrors.duplicate(at, jsonPath));
  seen.add(path);
  return problems;
}
