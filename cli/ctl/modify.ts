// Small changes of single fields: label, annotate, scale.
import type { AnyObject } from "../../api/object.ts";
import { option } from "../options/build-table.ts";
import { dryRunOption, fileOptions, outputOptions } from "../options/ctl.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { selectorOptions } from "./get.ts";
import { createPrinter } from "./output.ts";
import { shownName } from "./resource-names.ts";
import { selectTargets, targetPath } from "./targets.ts";

const suffix = (context: CtlContext): string =>
  ({
    server: " (server dry run)",
    client: " (dry run)",
    unchanged: " (dry run)",
  })[context.values.text("dry-run")] ?? "";

/** `key=value` sets, `key-` removes; they come after the names. */
function splitChanges(args: readonly string[]): {
  names: string[];
  changes: Map<string, string | null>;
} {
  const changes = new Map<string, string | null>();
  const names: string[] = [];
  for (const arg of args) {
    const equals = arg.indexOf("=");
    if (equals > 0) changes.set(arg.slice(0, equals), arg.slice(equals + 1));
    else if (arg.endsWith("-") && names.length > 0)
      changes.set(arg.slice(0, -1), null);
    else if (changes.size > 0)
      throw new UsageError(
        `all resources must be specified before changes: ${arg}`,
      );
    else names.push(arg);
  }
  return { names, changes };
}

function mapCommand(
  field: "labels" | "annotations",
  verb: string,
  done: string,
): CtlCommand {
  return {
    usage: `${verb} (-f FILENAME | TYPE NAME… | TYPE/NAME…) KEY=VALUE… KEY-…`,
    about: `Set or remove ${field}.`,
    options: [
      ...fileOptions,
      ...selectorOptions,
      ...outputOptions,
      dryRunOption,
      option(
        "all",
        "bool",
        "false",
        "All objects of the type in the namespace.",
      ),
      option("overwrite", "bool", "false", "Allow replacing existing values."),
      option("list", "bool", "false", `Show the ${field} after.`),
      option(
        "resource-version",
        "string",
        "",
        "Only when the object has this version.",
      ),
      option(
        "field-manager",
        "string",
        `orbit-${verb}`,
        "Manager name for field ownership.",
      ),
    ],
    run: async (context) => {
      const { values } = context;
      const { names, changes } = splitChanges(context.args);
      if (changes.size === 0 && !values.flag("list"))
        throw new UsageError(
          `at least one ${field.slice(0, -1)} update is required`,
        );
      const printer = createPrinter(values);
      const http = await context.http();
      let code = 0;
      for (const target of await selectTargets(context, names)) {
        const before = await http.json<AnyObject>({ path: targetPath(target) });
        const present = before.metadata[field] ?? {};
        const taken = [...changes].filter(
          ([key, value]) =>
            value !== null &&
            present[key] !== undefined &&
            present[key] !== value,
        );
        if (taken.length > 0 && !values.flag("overwrite")) {
          context.warn(
            `error: '${taken[0]![0]}' already has a value (${present[taken[0]![0]]}), and --overwrite is false`,
          );
          code = 1;
          continue;
        }
        const patch = {
          metadata: {
            [field]: Object.fromEntries(changes),
            ...(values.optionalText("resource-version")
              ? { resourceVersion: values.text("resource-version") }
              : {}),
          },
        };
        const dryRun = values.text("dry-run");
        let after = before;
        if (changes.size > 0 && dryRun !== "client" && dryRun !== "unchanged") {
          const query = new URLSearchParams({
            fieldManager: values.text("field-manager"),
            ...(dryRun === "server" ? { dryRun: "All" } : {}),
          });
          after = await http.json<AnyObject>({
            method: "PATCH",
            path: `${targetPath(target)}?${query.toString()}`,
            contentType: "application/merge-patch+json",
            body: JSON.stringify(patch),
          });
        } else if (changes.size > 0) {
          after = (
            await import("../../api/patch/merge-patch.ts")
          ).applyMergePatch(before, patch);
        }
        const unchanged =
          JSON.stringify(after.metadata[field] ?? {}) ===
          JSON.stringify(present);
        const removed = [...changes.values()].every((value) => value === null);
        if (printer) context.print(await printer(after, target.type));
        else
          context.print(
            `${shownName(target.type, target.name)} ${unchanged ? `not ${done}` : removed && field === "labels" ? "unlabeled" : done}${suffix(context)}\n`,
          );
        if (values.flag("list"))
          for (const [key, value] of Object.entries(
            after.metadata[field] ?? {},
          ))
            context.print(`${key}=${value}\n`);
      }
      return code;
    },
  };
}

export const labelCommand: CtlCommand = mapCommand(
  "labels",
  "label",
  "labeled",
);
export const annotateCommand: CtlCommand = mapCommand(
  "annotations",
  "annotate",
  "annotated",
);

export const scaleCommand: CtlCommand = {
  usage: "scale (-f FILENAME | TYPE NAME… | TYPE/NAME…) --replicas=COUNT",
  about: "Set the number of replicas.",
  options: [
    ...fileOptions,
    ...selectorOptions,
    ...outputOptions,
    dryRunOption,
    option("all", "bool", "false", "All objects of the type in the namespace."),
    option("replicas", "int", "", "How many.", { min: 0 }),
    option("current-replicas", "int", "-1", "Only when it has so many now."),
    option(
      "resource-version",
      "string",
      "",
      "Only when the object has this version.",
    ),
  ],
  run: async (context) => {
    const { values } = context;
    const replicas = values.optionalNumber("replicas");
    if (replicas === undefined)
      throw new UsageError(
        "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
      );
    const printer = createPrinter(values);
    const http = await context.http();
    for (const target of await selectTargets(context)) {
      const path = targetPath(target, "scale");
      const current = values.number("current-replicas");
      const expected = values.optionalText("resource-version");
      if (current >= 0 || expected) {
        const { spec, metadata } = await http.json<
          AnyObject & { spec: { replicas?: number } }
        >({ path });
        if (current >= 0 && (spec.replicas ?? 0) !== current)
          throw new UsageError(
            `Expected replicas to be ${current}, was ${spec.replicas ?? 0}`,
          );
        if (expected && metadata.resourceVersion !== expected)
          throw new UsageError(
            `Expected resource version to be ${expected}, was ${metadata.resourceVersion}`,
          );
      }
      const dryRun = values.text("dry-run");
      let object: AnyObject | undefined;
      if (dryRun === "none" || dryRun === "server") {
        object = await http.json<AnyObject>({
          method: "PATCH",
          path: path + (dryRun === "server" ? "?dryRun=All" : ""),
          contentType: "application/merge-patch+json",
          body: JSON.stringify({
            spec: { replicas },
            ...(expected ? { metadata: { resourceVersion: expected } } : {}),
          }),
        });
      }
      context.print(
        printer && object
          ? await printer(object)
          : `${shownName(target.type, target.name)} scaled${suffix(context)}\n`,
      );
    }
  },
};
