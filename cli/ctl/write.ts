// Commands that write whole objects: create, apply (server-side), replace, delete.
import type { AnyObject } from "../../api/object.ts";
import { isNotFound } from "../../api/errors.ts";
import { option } from "../options/build-table.ts";
import { dryRunOption, fileOptions, outputOptions } from "../options/ctl.ts";
import { UsageError, type OptionSpec } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { selectorOptions } from "./get.ts";
import { deleteFromAgent, isNodeAgent } from "./node-agent.ts";
import { createPrinter } from "./output.ts";
import { pathOf, shownName } from "./resource-names.ts";
import {
  fileTargets,
  selectTargets,
  targetPath,
  type Target,
} from "./targets.ts";
import { waitGone } from "./wait.ts";

const writeOptions = (manager: string): OptionSpec[] => [
  ...fileOptions,
  ...outputOptions,
  dryRunOption,
  option(
    "field-manager",
    "string",
    manager,
    "Manager name for field ownership.",
  ),
  option("validate", "string", "strict", "How unknown fields are treated.", {
    values: ["strict", "warn", "ignore", "true", "false"],
    bare: "strict",
  }),
];

function writeQuery(
  context: CtlContext,
  extra: Record<string, string> = {},
): string {
  const { values } = context;
  const validation = {
    strict: "Strict",
    true: "Strict",
    warn: "Warn",
    ignore: "Ignore",
    false: "Ignore",
  }[values.text("validate")]!;
  return new URLSearchParams({
    fieldManager: values.text("field-manager"),
    fieldValidation: validation,
    ...(values.text("dry-run") === "server" ? { dryRun: "All" } : {}),
    ...extra,
  }).toString();
}

const clientOnly = (context: CtlContext): boolean =>
  ["client", "unchanged"].includes(context.values.text("dry-run"));
const suffix = (context: CtlContext): string =>
  ({
    server: " (server dry run)",
    client: " (dry run)",
    unchanged: " (dry run)",
  })[context.values.text("dry-run")] ?? "";

async function report(
  context: CtlContext,
  target: Target,
  object: AnyObject,
  what: string,
): Promise<void> {
  const printer = createPrinter(context.values);
  context.print(
    printer
      ? await printer(object, target.type)
      : `${shownName(target.type, object.metadata.name || target.name)} ${what}${suffix(context)}\n`,
  );
}

/** Runs a write for every object of the files; goes on after a failure and reports it at the end. */
async function forEachFile(
  context: CtlContext,
  work: (target: Target) => Promise<void>,
): Promise<number> {
  if (context.values.list("filename").length === 0)
    throw new UsageError("must specify one of -f and -k");
  const { errorText } = await import("./http.ts");
  let code = 0;
  for (const target of await fileTargets(context)) {
    try {
      await work(target);
    } catch (error) {
      context.warn(errorText(error));
      code = 1;
    }
  }
  return code;
}

const body = (target: Target): string =>
  JSON.stringify(
    target.type.namespaced
      ? {
          ...target.object,
          metadata: { ...target.object!.metadata, namespace: target.namespace },
        }
      : target.object,
  );

export const createCommand: CtlCommand = {
  usage: "create -f FILENAME | create namespace NAME",
  about: "Create objects from files or standard input.",
  options: writeOptions("orbit-create"),
  run: async (context) => {
    if (context.args.length > 0) {
      const [word, name, more] = context.args;
      if (!/^(ns|namespaces?)$/.test(word!) || !name || more)
        throw new UsageError(
          "only `create namespace NAME` takes arguments; use -f for the rest",
        );
      const type = await (await context.names()).byWord("namespaces");
      const object = {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      } as AnyObject;
      const target = { type, name, namespace: "", object };
      const made = clientOnly(context)
        ? object
        : await (
            await context.http()
          ).json<AnyObject>({
            method: "POST",
            path: `${pathOf(type, "")}?${writeQuery(context)}`,
            body: body(target),
          });
      await report(context, target, made, "created");
      return 0;
    }
    return forEachFile(context, async (target) => {
      const made = clientOnly(context)
        ? target.object!
        : await (
            await context.http()
          ).json<AnyObject>({
            method: "POST",
            path: `${pathOf(target.type, target.namespace)}?${writeQuery(context)}`,
            body: body(target),
          });
      await report(context, target, made, "created");
    });
  },
};

export const applyCommand: CtlCommand = {
  usage: "apply -f FILENAME",
  about: "Create or update objects by server-side apply.",
  options: [
    ...writeOptions("orbitctl"),
    option("server-side", "bool", "true", "Always so."),
    option(
      "force-conflicts",
      "bool",
      "false",
      "Take over fields that others own.",
    ),
  ],
  run: (context) =>
    forEachFile(context, async (target) => {
      if (!target.name) throw new UsageError("apply needs metadata.name");
      if (clientOnly(context))
        return report(context, target, target.object!, "applied");
      const http = await context.http();
      const before = await http
        .json<AnyObject>({ path: targetPath(target) })
        .catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
      const query = writeQuery(
        context,
        context.values.flag("force-conflicts") ? { force: "true" } : {},
      );
      const made = await http.json<AnyObject>({
        method: "PATCH",
        path: `${targetPath(target)}?${query}`,
        contentType: "application/apply-patch+yaml",
        body: body(target),
      });
      const what = !before
        ? "created"
        : before.metadata.resourceVersion === made.metadata.resourceVersion
          ? "unchanged"
          : "configured";
      return report(context, target, made, what);
    }),
};

export const replaceCommand: CtlCommand = {
  usage: "replace -f FILENAME",
  about: "Replace objects by those of files.",
  options: writeOptions("orbit-replace"),
  run: (context) =>
    forEachFile(context, async (target) => {
      const made = clientOnly(context)
        ? target.object!
        : await (
            await context.http()
          ).json<AnyObject>({
            method: "PUT",
            path: `${targetPath(target)}?${writeQuery(context)}`,
            body: body(target),
          });
      await report(context, target, made, "replaced");
    }),
};

const cascades: Readonly<Record<string, string>> = {
  background: "Background",
  foreground: "Foreground",
  orphan: "Orphan",
  true: "Background",
  false: "Orphan",
};

export const deleteCommand: CtlCommand = {
  usage:
    "delete (-f FILENAME | TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | TYPE --all)",
  about: "Delete objects and wait until they are gone.",
  options: [
    ...fileOptions,
    ...selectorOptions,
    dryRunOption,
    option("output", "string", "", "name prints only names.", {
      short: "o",
      values: ["", "name"],
    }),
    option("all", "bool", "false", "All objects of the type in the namespace."),
    option("cascade", "string", "background", "What happens to dependents.", {
      values: Object.keys(cascades),
      bare: "background",
    }),
    option(
      "grace-period",
      "int",
      "-1",
      "Seconds pods have to end; -1: their own.",
      { min: -1 },
    ),
    option(
      "force",
      "bool",
      "false",
      "With --grace-period=0: don't wait for the node.",
    ),
    option("now", "bool", "false", "A grace period of one second."),
    option(
      "ignore-not-found",
      "bool",
      "false",
      "A missing object is no error.",
    ),
    option("wait", "bool", "true", "Wait until the objects are gone."),
    option(
      "timeout",
      "duration",
      "0s",
      "Longest wait; 0: as long as it takes.",
      { min: 0 },
    ),
  ],
  run: async (context) => {
    const { values } = context;
    const { errorText } = await import("./http.ts");
    let graceSeconds = values.number("grace-period");
    if (values.flag("now")) graceSeconds = 1;
    if (values.flag("force") && graceSeconds < 0) graceSeconds = 0;
    if (graceSeconds === 0 && !values.flag("force")) graceSeconds = 1;
    if (await isNodeAgent(context))
      return deleteFromAgent(context, values.number("timeout"));
    if (values.flag("force"))
      context.warn(
        "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated.",
      );
    const targets = await selectTargets(context);
    if (targets.length === 0) context.warn("No resources found");
    const gone: Target[] = [];
    let code = 0;
    for (const target of targets) {
      try {
        if (!clientOnly(context)) {
          await (
            await context.http()
          ).json({
            method: "DELETE",
            path:
              targetPath(target) +
              (values.text("dry-run") === "server" ? "?dryRun=All" : ""),
            body: JSON.stringify({
              kind: "DeleteOptions",
              apiVersion: "v1",
              propagationPolicy: cascades[values.text("cascade")],
              ...(graceSeconds >= 0
                ? { gracePeriodSeconds: graceSeconds }
                : {}),
            }),
          });
          gone.push(target);
        }
        context.print(
          values.text("output") === "name"
            ? `${shownName(target.type, target.name)}\n`
            : `${target.type.singular}${target.type.group ? `.${target.type.group}` : ""} "${target.name}" ${values.flag("force") ? "force " : ""}deleted${suffix(context)}\n`,
        );
      } catch (error) {
        if (
          isNotFound(error) &&
          (values.flag("ignore-not-found") || values.flag("all"))
        )
          continue;
        context.warn(errorText(error));
        code = 1;
      }
    }
    if (values.flag("wait") && values.text("dry-run") === "none") {
      const timeoutMs = values.number("timeout");
      if (!(await waitGone(context, gone, timeoutMs))) {
        context.warn(`error: timed out waiting for the condition`);
        return 1;
      }
    }
    return code;
  },
};
