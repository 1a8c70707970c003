// The columns of a version's tables: the name, then those of the definition, or the age where it has none.
import type { CustomResourceDefinitionVersion as Version } from "../../api/types/apiextensions-v1.ts";
import {
  jsonPath,
  jsonPathText,
  Visits,
  type JsonPath,
} from "../../api/objects/json-path.ts";
import { formatAge } from "../printing/age.ts";
import type { Cell, Printer } from "../printing/table.ts";

type Column = NonNullable<Version["additionalPrinterColumns"]>[number];

const ageColumn: Column = {
  name: "Age",
  type: "date",
  description: "When the object was created.",
  jsonPath: ".metadata.creationTimestamp",
};

/** A path that can't be read ends the columns, as at the reference: only those before it are shown. */
export function customColumns(version: Readonly<Version>): Printer {
  const { additionalPrinterColumns: asked } = version;
  const shown: { column: Column; path: JsonPath }[] = [];
  for (const column of asked?.length ? asked : [ageColumn]) {
    const path = jsonPath(column.jsonPath);
    if (!path) break;
    shown.push({ column, path });
  }
  return {
    columns: [
      {
        name: "Name",
        type: "string",
        format: "name",
        description: "Identifies the object among its kind.",
        priority: 0,
      },
      ...shown.map(({ column }) => ({
        name: column.name,
        type: column.type,
        format: column.format ?? "",
        description:
          column.description ||
          `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
        priority: column.priority ?? 0,
      })),
    ],
    cells: (object, now) => {
      const visits = new Visits();
      return [
        object.metadata.name,
        ...shown.map(({ column, path }) =>
          cellOf(column.type, path(object, visits), now),
        ),
      ];
    },
  };
}

/** Of what the column's path has found. */
function cellOf(type: string, found: readonly unknown[], now: number): Cell {
  if (found.length === 0) return null;
  const value = found[0];
  if (type === "string") return jsonPathText(value);
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return null;
  }
}

/** Of an RFC 3339 time; its fraction does not count. */
function ageOf(value: string, now: number): string {
  if (value === "" || value === "null") return "<unknown>";
  const valid =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value));
  return valid ? formatAge(value, now) : "<invalid>";
}
