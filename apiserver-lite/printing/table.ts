// Tables, the server's half of `kubectl get`: the columns of a kind and the cells of an object. Built-in kinds take the
// columns of facts and the rows of their strategy; a custom resource brings its own columns; all others show name and
// creation time. Objects are read as they are, parsed and frozen; nothing is encoded or copied here.
import columnFacts from "../../api/facts/table-columns.json";
import type { ResourceInfo } from "../../api/catalogue.ts";
import type { AnyObject } from "../../api/object.ts";
import { strategyFor } from "../resources/index.ts";

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export type Cell = string | number | boolean | null;

type Kind = Pick<ResourceInfo, "group" | "kind" | "resource">;

/** How a custom resource fills its columns after Name; made from additionalPrinterColumns. */
export interface CustomColumns {
  readonly definitions: readonly ColumnDefinition[];
  /** All cells, Name included. */
  cells(object: Readonly<AnyObject>, now: number): Cell[];
}

export interface Table {
  readonly columnDefinitions: readonly ColumnDefinition[];
  readonly rows: readonly {
    readonly cells: readonly Cell[];
    readonly object: Readonly<AnyObject>;
  }[];
}

const descriptions: Readonly<Record<string, string>> = {
  Name: "Name must be unique within a namespace.",
  Age: "Time since the object was created.",
  "Created At": "When the object was created.",
};

function definition([
  name,
  type,
  format,
  priority,
]: readonly unknown[]): ColumnDefinition {
  return {
    name: String(name),
    type: String(type),
    format: String(format),
    description: descriptions[String(name)] ?? "",
    priority: Number(priority),
  };
}

const facts = columnFacts as unknown as Readonly<
  Record<string, readonly (readonly unknown[])[]>
>;
const defaultColumns: readonly ColumnDefinition[] = [
  definition(["Name", "string", "name", 0]),
  definition(["Created At", "date", "", 0]),
];

/** Columns of a built-in kind; the default two when it has none of its own. */
export function tableColumns({
  group,
  kind,
  resource,
}: Kind): readonly ColumnDefinition[] {
  const columns = facts[`${kind}.${group}`];
  return columns && strategyFor(group, resource)?.printRow
    ? columns.map(definition)
    : defaultColumns;
}

/** One row; `now` in milliseconds since the epoch. As many cells as the kind has columns. */
export function tableCells(
  { group, resource }: Kind,
  object: Readonly<AnyObject>,
  now: number,
): Cell[] {
  const print = strategyFor(group, resource)?.printRow;
  return print
    ? print(object, now)
    : [object.metadata.name, object.metadata.creationTimestamp ?? null];
}

/** The whole table; what goes into each row's `object` (none, metadata, all) is the caller's to encode. */
export function tableFor(
  info: Kind,
  objects: readonly Readonly<AnyObject>[],
  now: number,
  custom?: CustomColumns,
): Table {
  return {
    columnDefinitions: custom?.definitions ?? tableColumns(info),
    rows: objects.map((object) => ({
      cells: custom ? custom.cells(object, now) : tableCells(info, object, now),
      object,
    })),
  };
}
