// The versions of a definition as a list: their names, deprecation, which one is stored, and what all of them have alike.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, shownValue } from "../../../api/field-errors.ts";
import { dns1035Problems } from "../../../api/names.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import type { CustomResourceDefinitionVersion as Version } from "../../../api/types/apiextensions-v1.ts";

export type Part =
  "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

/** The parts that all versions have alike. */
export function sharedParts(versions: readonly Version[]): ReadonlySet<Part> {
  const parts: readonly Part[] = [
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
  ];
  return new Set(
    parts.filter((part) =>
      versions.every((version) =>
        sameValue(version[part], versions[0]?.[part]),
      ),
    ),
  );
}

export const versionNameProblems = (
  { name = "" }: Version,
  field: string,
): FieldError[] => {
  const problems = dns1035Problems(name);
  return problems.length === 0
    ? []
    : [fieldErrors.invalid(field, name, problems.join(","))];
};

export function deprecationProblems(
  { deprecated, deprecationWarning: text }: Version,
  field: string,
): FieldError[] {
  if (text === undefined) return [];
  const found: string[] = [];
  if (!deprecated) found.push("can only be set for deprecated versions");
  else {
    if (Buffer.byteLength(text) > 256)
      found.push("must be <= 256 characters long");
    if (text === "") found.push("must not be an empty string");
    const at = [...text].findIndex(
      (character) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character),
    );
    if (at >= 0) {
      const index = Buffer.byteLength([...text].slice(0, at).join(""));
      found.push(
        `must only contain printable UTF-8 characters; non-printable character found at index ${index}`,
      );
    }
  }
  return found.map((problem) =>
    fieldErrors.invalid(`${field}.deprecationWarning`, text, problem),
  );
}

export function versionListProblems(
  given: readonly Version[] | undefined,
  shared: ReadonlySet<Part>,
): FieldError[] {
  const refuse = (why: string): FieldError =>
    fieldErrors.invalidShown(
      "spec.versions",
      shownVersions(given, shared),
      why,
    );
  const versions = given ?? [];
  const names = new Set(versions.map(({ name }) => name));
  return [
    ...(names.size < versions.length
      ? [refuse("must contain unique version names")]
      : []),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [refuse("must have exactly one version marked as storage version")]),
  ];
}

/** As the reference prints its own type; a pointer's target is an address, here always the same. */
function shownVersions(
  versions: readonly Version[] | undefined,
  shared: ReadonlySet<Part>,
): string {
  const type = "apiextensions.CustomResourceDefinitionVersion";
  const pointer = (to: string, is: boolean): string =>
    `(*${to})(${is ? "0xc000000000" : "nil"})`;
  const has = (version: Version, part: Part): boolean =>
    !shared.has(part) && version[part] !== undefined;
  const list = (of: string, values: readonly string[] | undefined): string =>
    values ? `[]${of}{${values.join(", ")}}` : `[]${of}(nil)`;
  const shown = versions?.map((version) => {
    const { additionalPrinterColumns: columns, selectableFields } = version;
    const fields = [
      `Name:${shownValue(version.name ?? "")}`,
      `Served:${version.served ?? false}`,
      `Storage:${version.storage ?? false}`,
      `Deprecated:${version.deprecated ?? false}`,
      `DeprecationWarning:${pointer("string", version.deprecationWarning !== undefined)}`,
      `Schema:${pointer("apiextensions.CustomResourceValidation", has(version, "schema"))}`,
      `Subresources:${pointer("apiextensions.CustomResourceSubresources", has(version, "subresources"))}`,
      `AdditionalPrinterColumns:${list(
        "apiextensions.CustomResourceColumnDefinition",
        has(version, "additionalPrinterColumns")
          ? columns?.map(
              (column) =>
                `apiextensions.CustomResourceColumnDefinition{Name:${shownValue(column.name ?? "")}, Type:${shownValue(column.type ?? "")}, Format:${shownValue(column.format ?? "")}, Description:${shownValue(column.description ?? "")}, Priority:${column.priority ?? 0}, JSONPath:${shownValue(column.jsonPath ?? "")}}`,
            )
          : undefined,
      )}`,
      `SelectableFields:${list(
        "apiextensions.SelectableField",
        has(version, "selectableFields")
          ? selectableFields?.map(
              ({ jsonPath }) =>
                `apiextensions.SelectableField{JSONPath:${shownValue(jsonPath)}}`,
            )
          : undefined,
      )}`,
    ];
    return `${type}{${fields.join(", ")}}`;
  });
  return list(type, shown);
}
