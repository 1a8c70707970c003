// The columns of a kind and the cells of an object, the content of tables: built-in kinds take the columns of facts and
// the rows of their strategy; all others show name and creation time. Objects are read as they are, parsed and frozen.
import { JsonProjection, type Wanted } from "./json-projection.ts";
import columnFacts from "../../api/facts/table-columns.json";
import type { AnyObject, KubeObject } from "../../api/object.ts";

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0: always shown; 1: wide only. */
  readonly priority: number;
}

export type Cell = string | number | boolean | null;

/** The part of a kind's strategy that makes table rows. */
export interface RowPrinter<T extends KubeObject = AnyObject> {
  /**
   * One row of the table in the order of facts' columns; dates and ages are made by `formatAge`. @param now in
   * milliseconds since the epoch
   */
  printRow?(object: Readonly<T>, now: number): Cell[];
  /** Orders the rows of a list of this kind. Unset: by namespace and name, as the store has them. */
  compareRows?(one: Readonly<T>, other: Readonly<T>): number;
  /** The members that `printRow` reads. Unset: all but the documents of managed fields. */
  readonly rowReads?: Wanted;
}

/** Name, type, format, priority. */
type Column = readonly (string | number)[];

/** By "Kind.group"; null marks the kinds with the default columns. */
const facts: Readonly<Record<string, readonly Column[] | null>> = columnFacts;
const defaultColumns: readonly Column[] = [
  ["Name", "string", "name", 0],
  ["Created At", "date", "", 0],
];

/** Texts of our own: the reference's are its documentation. */
function descriptionOf(name: string): string {
  if (name === "Name") return "Identifies the object among its kind.";
  if (name === "Age") return "Time since the object was created.";
  // The one column that the reference says nothing of.
  if (name === "Handler") return "";
  if (name === "Created At") return "When the object was created.";
  return `The object's ${name.toLowerCase()}.`;
}

/** How the objects of a kind are shown in tables. */
export interface Printer {
  readonly columns: readonly ColumnDefinition[];
  /** One row; `now` in milliseconds since the epoch, or NaN as `formatAge` says. As many cells as there are columns. */
  cells(object: Readonly<AnyObject>, now: number): Cell[];
  /** As `RowPrinter` says. */
  compare?(one: Readonly<AnyObject>, other: Readonly<AnyObject>): number;
  /** Reads what the cells need of an object. */
  readonly projection?: JsonProjection | undefined;
}

/** Of a built-in kind. */
export function printerOf(
  info: { group: string; kind: string },
  strategy: RowPrinter,
): Printer {
  let columns: ColumnDefinition[] | undefined;
  const { rowReads } = strategy;
  return {
    projection: rowReads && new JsonProjection(rowReads),
    ...(strategy.compareRows && {
      compare: (one, other) => strategy.compareRows!(one, other),
    }),
    get columns() {
      return (columns ??= columnsOf(info, strategy));
    },
    cells: (object, now) => cellsOf(strategy, object, now),
  };
}

/** The default two when the kind has no row of its own. */
export function columnsOf(
  info: { group: string; kind: string },
  strategy: RowPrinter,
): ColumnDefinition[] {
  const columns =
    (strategy.printRow && facts[`${info.kind}.${info.group}`]) ||
    defaultColumns;
  return columns.map(([name, type, format, priority]) => ({
    name: String(name),
    type: String(type),
    format: String(format),
    description: descriptionOf(String(name)),
    priority: Number(priority),
  }));
}

/** One row; `now` in milliseconds since the epoch. As many cells as the kind has columns. */
export function cellsOf(
  strategy: RowPrinter,
  object: Readonly<AnyObject>,
  now: number,
): Cell[] {
  return (
    strategy.printRow?.(object, now) ?? [
      object.metadata.name,
      object.metadata.creationTimestamp ?? null,
    ]
  );
}
