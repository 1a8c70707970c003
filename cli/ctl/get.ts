// orbitctl get: objects as the server's Table, or in any output format; -w follows. Against a node agent's port only pods.
import type { Readable } from "node:stream";
import type { AnyObject, KubeList } from "../../api/object.ts";
import { isNotFound } from "../../api/errors.ts";
import { option } from "../options/build-table.ts";
import { fileOptions, outputOptions } from "../options/ctl.ts";
import { UsageError } from "../options/table.ts";
import { agentLists, isNodeAgent, namedOfAgent } from "./node-agent.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import {
  createPrinter,
  sorted,
  tableOptions,
  TablePrinter,
  tableText,
  type Printer,
  type Table,
} from "./output.ts";
import { pathOf, type ResourceType } from "./resource-names.ts";
import { fileTargets, namedTargets, targetPath } from "./targets.ts";

const tableAccept =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

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
  const { values } = context;
  for (const name of ["watch", "watch-only"])
    if (values.flag(name))
      throw new UsageError(
        `--${name}: a node agent's port has no watches, an API server has`,
      );
  if (values.list("filename").length > 0)
    throw new UsageError(
      "--filename: a node agent's objects are asked for by type and name",
    );
  const { types, names } = await agentLists(context);
  const found: AnyObject[] = [];
  const { agentTable } = await import("./inspect/agent-tables.ts");
  let text = "";
  for (const type of types) {
    const items = sorted(
      await namedOfAgent(context, type.resource, names).catch(
        (error: unknown) => {
          if (isNotFound(error) && values.flag("ignore-not-found")) return [];
          throw error;
        },
      ),
      values.optionalText("sort-by"),
      (item) => item,
    );
    found.push(...items);
    if (printer || items.length === 0) continue;
    if (text !== "") text += "\n";
    text += tableText(agentTable(type.resource, items), {
      ...tableOptions(context, types.length > 1, type),
      namespaces: type.namespaced,
    });
  }
  if (printer) {
    const single = names.length === 1 && types.length === 1;
    if (single && found.length === 0) return 0;
    await printObjects(context, printer, found, single ? 1 : 0);
  } else if (text !== "") context.print(text);
  else if (!values.flag("ignore-not-found")) context.warn("No resources found");
  return 0;
}

/** What a get has found so far. */
interface Gathered {
  /** With -o: the objects to print. */
  readonly objects: AnyObject[];
  readonly tables: TablePrinter;
  /** Of the last answer: where a watch begins. */
  resourceVersion: string;
  failed: boolean;
}

/** The namespace of a type's list; "" for all. */
const listNamespace = async (
  context: CtlContext,
  type: ResourceType,
): Promise<string> =>
  context.values.flag("all-namespaces") || !type.namespaced
    ? ""
    : await context.namespace();

type Target = Awaited<ReturnType<typeof fileTargets>>[number];

async function getTargets(
  context: CtlContext,
  targets: readonly Target[],
  raw: boolean,
  gathered: Gathered,
): Promise<void> {
  const { values } = context;
  const http = await context.http();
  const several = new Set(targets.map(({ type }) => type.kind)).size > 1;
  for (const target of targets) {
    try {
      const object = await http.json<AnyObject & Partial<Table>>({
        path: targetPath(target, values.optionalText("subresource") ?? ""),
        accept: raw ? "application/json" : tableAccept,
      });
      gathered.resourceVersion = object.metadata.resourceVersion ?? "";
      if (raw) gathered.objects.push(object);
      else if (!values.flag("watch-only"))
        gathered.tables.show(object, target.type, several);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (values.flag("ignore-not-found")) continue;
      context.warn(`Error from server (NotFound): ${(error as Error).message}`);
      gathered.failed = true;
    }
  }
}

async function getLists(
  context: CtlContext,
  types: readonly ResourceType[],
  raw: boolean,
  gathered: Gathered,
): Promise<void> {
  const { values } = context;
  for (const type of types) {
    const list = await listAll(
      context,
      pathOf(type, await listNamespace(context, type)),
      raw ? "application/json" : tableAccept,
    );
    gathered.resourceVersion = list.metadata.resourceVersion ?? "";
    if (raw) {
      const kind = {
        apiVersion: list.apiVersion ?? "v1",
        kind: (list.kind ?? "List").replace(/List$/, ""),
      };
      gathered.objects.push(
        ...sorted(
          list.items.map((item) => ({ ...kind, ...item })),
          values.optionalText("sort-by"),
          (item) => item,
        ),
      );
    } else if (!values.flag("watch-only"))
      gathered.tables.show(list, type, types.length > 1);
  }
}

/** One object that was asked for by name as itself, everything else as a List. */
async function printObjects(
  context: CtlContext,
  printer: Printer,
  objects: readonly AnyObject[],
  names: number,
): Promise<void> {
  if (objects.length === 0 && names > 0) return;
  const [single] = objects;
  context.print(
    await printer(
      single && names === 1 && objects.length === 1
        ? single
        : ({
            apiVersion: "v1",
            kind: "List",
            metadata: { resourceVersion: "" },
            items: objects,
          } as unknown as AnyObject),
    ),
  );
}

async function watchOne(
  context: CtlContext,
  targets: readonly Target[],
  types: readonly ResourceType[],
  printer: Printer | undefined,
  resourceVersion: string,
): Promise<void> {
  const [target] = targets;
  const type = target?.type ?? types[0];
  if (targets.length > 1 || types.length > 1 || !type)
    throw new UsageError(
      "you may only specify a single resource type to watch",
    );
  const everywhere = context.values.flag("all-namespaces") || !type.namespaced;
  await follow(
    context,
    type,
    everywhere ? "" : (target?.namespace ?? (await context.namespace())),
    target?.name ?? "",
    printer,
    resourceVersion,
  );
}

async function run(context: CtlContext): Promise<number> {
  const { values } = context;
  const printer = createPrinter(values);
  if (await isNodeAgent(context)) return getFromAgent(context, printer);
  const { types, targets } =
    values.list("filename").length > 0
      ? { types: [], targets: await fileTargets(context) }
      : await namedTargets(context, context.args);
  const listed = targets.length === 0 ? types : [];
  const raw = printer !== undefined;
  const gathered: Gathered = {
    objects: [],
    tables: new TablePrinter(context, values.optionalText("sort-by")),
    resourceVersion: "",
    failed: false,
  };
  await getTargets(context, targets, raw, gathered);
  await getLists(context, listed, raw, gathered);
  const watching = values.flag("watch") || values.flag("watch-only");
  const nothing = gathered.tables.printed === 0 && targets.length === 0;
  if (printer && !values.flag("watch-only"))
    await printObjects(context, printer, gathered.objects, targets.length);
  else if (nothing && !gathered.failed && !watching) {
    const namespaced =
      listed.some((type) => type.namespaced) && !values.flag("all-namespaces");
    context.warn(
      namespaced
        ? `No resources found in ${await context.namespace()} namespace.`
        : "No resources found",
    );
  }
  if (watching)
    await watchOne(context, targets, listed, printer, gathered.resourceVersion);
  return gathered.failed ? 1 : 0;
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
