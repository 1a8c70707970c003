// How objects are printed: -o json, yaml, name, jsonpath…, go-template…, custom-columns, or the server's Table.
import * as fs from "node:fs";
import type { AnyObject } from "../../api/object.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import type { CtlContext } from "./command.ts";
import { jsonPathValues, renderJsonPath } from "./jsonpath.ts";
import { shownName, type ResourceType } from "./resource-names.ts";

/** Turns an object, or a List of them, into text that ends as the format wants it to. */
export type Printer = (
  object: AnyObject,
  type?: ResourceType,
) => Promise<string>;

function withoutManagedFields(value: AnyObject): AnyObject {
  const items = value.items as AnyObject[] | undefined;
  if (Array.isArray(items))
    return { ...value, items: items.map(withoutManagedFields) };
  const metadata = value.metadata as AnyObject["metadata"] | undefined;
  if (!metadata || !("managedFields" in metadata)) return value;
  const { managedFields: _, ...rest } = metadata;
  return { ...value, metadata: rest } as AnyObject;
}

export async function toYaml(value: unknown): Promise<string> {
  return (await import("../../api/codec/yaml-emit.ts")).emitYaml(value);
}

function readTemplate(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(
      `error reading template file: ${(error as Error).message}`,
    );
  }
}

/** The printer of -o, or undefined when the command prints its own text (or a Table). */
export function createPrinter(values: OptionValues): Printer | undefined {
  const output = values.optionalText("output");
  const template = values.optionalText("template");
  if (!output && !template) return undefined;
  const equals = (output ?? "").indexOf("=");
  let format =
    equals < 0 ? (output ?? "go-template") : output!.slice(0, equals);
  let argument = equals < 0 ? template : output!.slice(equals + 1);
  if (
    format === "jsonpath-file" ||
    format === "go-template-file" ||
    format === "templatefile" ||
    format === "custom-columns-file"
  ) {
    argument = readTemplate(argument ?? "").replace(/\n$/, "");
    format =
      format === "templatefile"
        ? "go-template"
        : format.slice(0, -"-file".length);
  }
  if (format === "template") format = "go-template";
  const missing = values.has("allow-missing-template-keys")
    ? values.flag("allow-missing-template-keys")
    : true;
  const clean =
    values.has("show-managed-fields") && values.flag("show-managed-fields")
      ? (value: AnyObject) => value
      : withoutManagedFields;
  const needed = (): string => {
    if (!argument)
      throw new UsageError(
        `template format specified but no template given: -o ${format}=…`,
      );
    return argument;
  };
  switch (format) {
    case "json":
      return (object) =>
        Promise.resolve(`${JSON.stringify(clean(object), undefined, 4)}\n`);
    case "yaml":
      return (object) => toYaml(clean(object));
    case "name":
      return (object, type) => {
        const items = (object.items as AnyObject[] | undefined) ?? [object];
        return Promise.resolve(
          items
            .map(
              (item) =>
                `${type ? shownName(type, item.metadata.name) : nameOf(item)}\n`,
            )
            .join(""),
        );
      };
    case "jsonpath": {
      const text = needed();
      return (object) => Promise.resolve(renderJsonPath(text, object, missing));
    }
    case "jsonpath-as-json": {
      const text = needed();
      return (object) =>
        Promise.resolve(
          `${JSON.stringify(jsonPathValues(text, object, missing), undefined, 4)}\n`,
        );
    }
    case "go-template": {
      const text = needed();
      return async (object) =>
        (await import("./go-template.ts")).renderGoTemplate(
          text,
          object,
          missing,
        );
    }
    case "custom-columns": {
      const columns = needed()
        .split(",")
        .map((column) => {
          const colon = column.indexOf(":");
          if (colon < 1)
            throw new UsageError(
              `unexpected custom-columns spec: ${column}, expected <header>:<json-path-expr>`,
            );
          return {
            header: column.slice(0, colon),
            path: column.slice(colon + 1),
          };
        });
      return (object) => {
        const items = (object.items as AnyObject[] | undefined) ?? [object];
        const rows = items.map((item) =>
          columns.map(({ path }) => {
            const found = jsonPathValues(path, item);
            return found.length === 0
              ? "<none>"
              : found
                  .map((each) =>
                    typeof each === "string" ? each : JSON.stringify(each),
                  )
                  .join(",");
          }),
        );
        const headless = values.has("no-headers") && values.flag("no-headers");
        return Promise.resolve(
          columnsText(
            headless ? rows : [columns.map(({ header }) => header), ...rows],
          ),
        );
      };
    }
    case "wide":
      return undefined;
    default:
      throw new UsageError(
        `unable to match a printer suitable for the output format "${output}", allowed formats are: custom-columns,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,wide,yaml`,
      );
  }
}

/** `pod/web`, `deployment.apps/web` from the object alone. */
function nameOf(object: AnyObject): string {
  const apiVersion = object.apiVersion ?? "";
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
  return `${(object.kind ?? "object").toLowerCase()}${group}/${object.metadata.name}`;
}

/** Columns three spaces apart, as kubectl aligns them. */
export function columnsText(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach(
      (cell, index) =>
        (widths[index] = Math.max(widths[index] ?? 0, cell.length)),
    );
  return rows
    .map(
      (row) =>
        `${row.map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index]! + 3) : cell)).join("")}\n`,
    )
    .join("");
}

export interface Table {
  columnDefinitions: { name: string; priority?: number }[];
  rows: { cells: unknown[]; object?: AnyObject }[];
}

interface TableOptions {
  wide: boolean;
  headers: boolean;
  namespaces: boolean;
  showLabels: boolean;
  labelColumns: readonly string[];
  kindPrefix?: string;
}

export function tableText(table: Table, options: TableOptions): string {
  const columns = table.columnDefinitions
    .map(({ name, priority }, index) => ({
      name,
      index,
      shown: options.wide || !priority,
    }))
    .filter(({ shown }) => shown);
  const rows = table.rows.map((row) => {
    const metadata = row.object?.metadata;
    const labels = metadata?.labels ?? {};
    const cells = columns.map(({ index }, at) => {
      const text =
        row.cells[index] === null || row.cells[index] === undefined
          ? "<none>"
          : String(row.cells[index]);
      return at === 0 && options.kindPrefix
        ? `${options.kindPrefix}/${text}`
        : text;
    });
    return [
      ...(options.namespaces ? [metadata?.namespace ?? ""] : []),
      ...cells,
      ...options.labelColumns.map((label) => labels[label] ?? ""),
      ...(options.showLabels
        ? [
            Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .sort()
              .join(",") || "<none>",
          ]
        : []),
    ];
  });
  const head = [
    ...(options.namespaces ? ["NAMESPACE"] : []),
    ...columns.map(({ name }) => name.toUpperCase()),
    ...options.labelColumns.map((label) =>
      label.slice(label.lastIndexOf("/") + 1).toUpperCase(),
    ),
    ...(options.showLabels ? ["LABELS"] : []),
  ];
  return columnsText(options.headers ? [head, ...rows] : rows);
}

export function tableOptions(
  context: CtlContext,
  several: boolean,
  type: ResourceType | undefined,
): TableOptions {
  const { values } = context;
  return {
    wide: values.text("output") === "wide",
    headers: !values.flag("no-headers"),
    namespaces: values.flag("all-namespaces") && (type?.namespaced ?? true),
    showLabels: values.flag("show-labels"),
    labelColumns: values.list("label-columns"),
    ...(several || values.flag("show-kind")
      ? {
          kindPrefix: type
            ? type.singular + (type.group ? `.${type.group}` : "")
            : "",
        }
      : {}),
  };
}

export function sorted<T>(
  items: T[],
  path: string | undefined,
  of: (item: T) => AnyObject | undefined,
): T[] {
  if (!path) return items;
  const value = (item: T): unknown =>
    jsonPathValues(path.startsWith("{") ? path : `{${path}}`, of(item))[0];
  return [...items].sort((a, b) => {
    const left = value(a) as string | number | undefined;
    const right = value(b) as string | number | undefined;
    if (left === undefined || right === undefined)
      return left === right ? 0 : left === undefined ? -1 : 1;
    if (typeof left === "string")
      return left.localeCompare(String(right), "en", { numeric: true });
    return left - Number(right);
  });
}

/** Prints tables with an empty line between them. */
export class TablePrinter {
  /** Tables with rows so far. */
  printed = 0;

  constructor(
    private readonly context: CtlContext,
    private readonly sortBy: string | undefined,
  ) {}

  /** @param several whether the output names more than one type */
  show(
    answer: AnyObject & Partial<Table>,
    type: ResourceType,
    several: boolean,
  ): void {
    const { columnDefinitions, rows } = asTable(answer);
    if (rows.length === 0) return;
    if (this.printed++ > 0) this.context.print("\n");
    this.context.print(
      tableText(
        {
          columnDefinitions,
          rows: sorted(rows, this.sortBy, (row) => row.object),
        },
        tableOptions(this.context, several, type),
      ),
    );
  }
}

/** A server that makes no Tables answers with the object or the list itself: its names and ages. */
function asTable(
  answer: AnyObject & Partial<Table>,
): Pick<Table, "columnDefinitions" | "rows"> {
  const { columnDefinitions, rows } = answer;
  if (columnDefinitions && rows) return { columnDefinitions, rows };
  const items = (answer.items as AnyObject[] | undefined) ?? [answer];
  return {
    columnDefinitions: [{ name: "Name" }, { name: "Created At" }],
    rows: items.map((item) => ({
      cells: [item.metadata.name, item.metadata.creationTimestamp],
      object: item,
    })),
  };
}
