// orbitctl get: objects as the server's Table, or in any output format; -w follows. Against a node agent's port only pods.
import type { Readable } from "node:stream";
import type { AnyObject, KubeList } from "../../api/object.ts";
import { isNotFound } from "../../api/errors.ts";
import { option } from "../options/build-table.ts";
import { fileOptions, outputOptions } from "../options/ctl.ts";
import { UsageError } from "../options/table.ts";
import { isNodeAgent, podsOfAgent } from "./node-agent.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { jsonPathValues } from "./jsonpath.ts";
import {
  createPrinter,
  tableText,
  type Printer,
  type Table,
  type TableOptions,
} from "./output.ts";
import { pathOf, type ResourceType } from "./resource-names.ts";
import { fileTargets, namedTargets, targetPath } from "./targets.ts";

const tableAccept =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

function tableOptions(
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

function query(
  context: CtlContext,
  extra: Record<string, string> = {},
): string {
  const { values } = context;
  const parameters = new URLSearchParams(extra);
  const selector = values.optionalText("selector");
  const field = values.optionalText("field-selector");
  if (selector) parameters.set("labelSelector", selector);
  if (field) parameters.set("fieldSelector", field);
  const text = parameters.toString();
  return text ? `?${text}` : "";
}

/** All pages of a list, 500 objects each. */
async function listAll(
  context: CtlContext,
  path: string,
  accept: string,
): Promise<AnyObject & KubeList<AnyObject> & Partial<Table>> {
  const http = await context.http();
  const limit = String(context.values.number("chunk-size"));
  type Page = AnyObject & KubeList<AnyObject> & Partial<Table>;
  const first = await http.json<Page>({
    path: path + query(context, limit === "0" ? {} : { limit }),
    accept,
  });
  let next = first.metadata.continue;
  while (next) {
    const page = await http.json<Page>({
      path: path + query(context, { limit, continue: next }),
      accept,
    });
    if (first.items) first.items.push(...page.items);
    if (first.rows && page.rows) first.rows.push(...page.rows);
    next = page.metadata.continue;
  }
  return first;
}

function sorted<T>(
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

async function* lines(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.setEncoding(
    "utf8",
  ) as AsyncIterable<string>) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    yield* parts.filter((part) => part !== "");
  }
}

async function follow(
  context: CtlContext,
  type: ResourceType,
  namespace: string,
  name: string,
  printer: Printer | undefined,
  resourceVersion: string,
): Promise<void> {
  const http = await context.http();
  const extra = {
    watch: "1",
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(name ? { fieldSelector: `metadata.name=${name}` } : {}),
  };
  const stream = await http.stream({
    path: pathOf(type, namespace) + query(context, extra),
    accept: printer ? "application/json" : tableAccept,
  });
  for await (const line of lines(stream)) {
    const { type: event, object } = JSON.parse(line) as {
      type: string;
      object: AnyObject;
    };
    if (event === "BOOKMARK") continue;
    if (event === "ERROR")
      throw new Error((object as { message?: string }).message);
    if (printer) context.print(await printer(object, type));
    else
      context.print(
        tableText(object as unknown as Table, {
          ...tableOptions(context, false, type),
          headers: false,
        }),
      );
  }
}

async function getFromAgent(
  context: CtlContext,
  printer: Printer | undefined,
): Promise<number> {
  const [word = "pods", ...names] = context.args.flatMap((arg) =>
    arg.split("/"),
  );
  if (!/^(po|pods?)$/.test(word))
    throw new UsageError(`a node agent has only pods, not "${word}"`);
  const items = (await podsOfAgent(context)).filter(
    ({ metadata }) => names.length === 0 || names.includes(metadata.name),
  );
  if (names.length > 0 && items.length === 0) {
    context.warn(
      `Error from server (NotFound): pods "${names.join(", ")}" not found`,
    );
    return 1;
  }
  if (printer) {
    const single = names.length === 1 ? items[0] : undefined;
    context.print(
      await printer(
        single ??
          ({
            apiVersion: "v1",
            kind: "List",
            metadata: {},
            items,
          } as unknown as AnyObject),
      ),
    );
    return 0;
  }
  const { podTable } = await import("./node-agent.ts");
  if (items.length === 0) context.warn("No resources found");
  else
    context.print(
      tableText(podTable(items), {
        ...tableOptions(context, false, undefined),
        namespaces: true,
      }),
    );
  return 0;
}

async function run(context: CtlContext): Promise<number> {
  const { values } = context;
  const printer = createPrinter(values);
  if (await isNodeAgent(context)) return getFromAgent(context, printer);
  const http = await context.http();
  const sortBy = values.optionalText("sort-by");
  const { types, targets } =
    values.list("filename").length > 0
      ? { types: [], targets: await fileTargets(context) }
      : await namedTargets(context, context.args);
  const watching = values.flag("watch") || values.flag("watch-only");
  const raw = printer !== undefined;
  const gathered: AnyObject[] = [];
  let failed = false;
  let printed = 0;
  const show = (
    table: AnyObject & Partial<Table>,
    type: ResourceType,
    several: boolean,
  ): void => {
    if (!table.columnDefinitions || !table.rows) {
      const items = (table.items as AnyObject[] | undefined) ?? [table];
      table = {
        ...table,
        columnDefinitions: [{ name: "Name" }, { name: "Created At" }],
        rows: items.map((item) => ({
          cells: [item.metadata.name, item.metadata.creationTimestamp],
          object: item,
        })),
      };
    }
    if (table.rows!.length === 0) return;
    const rows = sorted(table.rows!, sortBy, (row) => row.object);
    if (printed++ > 0) context.print("\n");
    context.print(
      tableText(
        { columnDefinitions: table.columnDefinitions!, rows },
        tableOptions(context, several, type),
      ),
    );
  };
  let resourceVersion = "";
  for (const target of targets) {
    try {
      const object = await http.json<AnyObject & Partial<Table>>({
        path: targetPath(target, values.optionalText("subresource") ?? ""),
        accept: raw ? "application/json" : tableAccept,
      });
      resourceVersion = object.metadata.resourceVersion ?? "";
      if (raw) gathered.push(object);
      else if (!values.flag("watch-only"))
        show(
          object,
          target.type,
          new Set(targets.map(({ type }) => type.kind)).size > 1,
        );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (values.flag("ignore-not-found")) continue;
      context.warn(`Error from server (NotFound): ${(error as Error).message}`);
      failed = true;
    }
  }
  const listed = types.filter(() => targets.length === 0);
  for (const type of listed) {
    const namespace =
      values.flag("all-namespaces") || !type.namespaced
        ? ""
        : await context.namespace();
    const wantsObjects =
      sortBy && !raw
        ? `${tableAccept}`
        : raw
          ? "application/json"
          : tableAccept;
    const list = await listAll(
      context,
      pathOf(type, namespace) + "",
      wantsObjects,
    );
    resourceVersion = list.metadata.resourceVersion ?? "";
    if (raw) {
      const kind = {
        apiVersion: list.apiVersion ?? "v1",
        kind: (list.kind ?? "List").replace(/List$/, ""),
      };
      gathered.push(
        ...sorted(
          list.items.map((item) => ({ ...kind, ...item })),
          sortBy,
          (item) => item,
        ),
      );
    } else if (!values.flag("watch-only")) show(list, type, listed.length > 1);
  }
  if (raw && !values.flag("watch-only")) {
    const single = targets.length === 1 && gathered.length === 1;
    if (gathered.length > 0 || targets.length === 0) {
      context.print(
        await printer(
          single
            ? gathered[0]!
            : ({
                apiVersion: "v1",
                kind: "List",
                metadata: { resourceVersion: "" },
                items: gathered,
              } as unknown as AnyObject),
        ),
      );
    }
  } else if (printed === 0 && !failed && !watching && targets.length === 0) {
    const namespaced =
      listed.some((type) => type.namespaced) && !values.flag("all-namespaces");
    context.warn(
      namespaced
        ? `No resources found in ${await context.namespace()} namespace.`
        : "No resources found",
    );
  }
  if (watching) {
    const type = targets[0]?.type ?? listed[0];
    if (targets.length > 1 || listed.length > 1 || !type)
      throw new UsageError(
        "you may only specify a single resource type to watch",
      );
    const namespace =
      values.flag("all-namespaces") || !type.namespaced
        ? ""
        : (targets[0]?.namespace ?? (await context.namespace()));
    await follow(
      context,
      type,
      namespace,
      targets[0]?.name ?? "",
      printer,
      resourceVersion,
    );
  }
  return failed ? 1 : 0;
}

export const selectorOptions = [
  option("selector", "string", "", "Label selector.", { short: "l" }),
  option("field-selector", "string", "", "Field selector."),
  option("all-namespaces", "bool", "false", "All namespaces.", { short: "A" }),
];

export const getCommand: CtlCommand = {
  usage: "get (-f FILENAME | TYPE [NAME…] | TYPE/NAME…)",
  about: "Show objects: as the server's table, or in an output format.",
  options: [
    ...fileOptions,
    ...selectorOptions,
    ...outputOptions,
    option("watch", "bool", "false", "Follow changes after the listing.", {
      short: "w",
    }),
    option(
      "watch-only",
      "bool",
      "false",
      "Follow changes without the listing.",
    ),
    option("no-headers", "bool", "false", "No header line."),
    option("show-labels", "bool", "false", "Labels as the last column."),
    option("show-kind", "bool", "false", "The kind before names."),
    option("label-columns", "strings", "", "Labels to show as columns.", {
      short: "L",
    }),
    option("sort-by", "string", "", "JSONPath of the field to sort by."),
    option(
      "ignore-not-found",
      "bool",
      "false",
      "A missing object is no error.",
    ),
    option("subresource", "string", "", "Subresource to get."),
    option("chunk-size", "int", "500", "Objects a page; 0: all at once.", {
      min: 0,
    }),
  ],
  run,
};
