// orbitctl patch: one HTTP PATCH whose content type matches --type. With --dry-run=client or --local the patch is applied
// here and only printed.
import { readFileSync } from "node:fs";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { patchOptions } from "../options/ctl.ts";
import { allOptions, UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { parseDocuments, readObjects } from "./input.ts";
import { createPrinter } from "./output.ts";
import { shownName } from "./resource-names.ts";
import { namedTargets, targetOf, targetPath, type Target } from "./targets.ts";

const contentTypes: Readonly<Record<string, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

async function patchDocument(context: CtlContext): Promise<unknown> {
  const { values } = context;
  const inline = values.optionalText("patch");
  const file = values.optionalText("patch-file");
  if ((inline === undefined) === (file === undefined)) {
    throw new UsageError(
      inline === undefined
        ? "Must specify --patch or --patch-file containing the contents of the patch"
        : "cannot specify --patch and --patch-file together",
    );
  }
  let text = inline ?? "";
  if (file) {
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      throw new UsageError(
        `unable to read patch file: ${(error as Error).message}`,
      );
    }
  }
  const documents = await parseDocuments(text, file ?? "--patch");
  if (
    documents.length !== 1 ||
    documents[0] === null ||
    typeof documents[0] !== "object"
  ) {
    throw new UsageError(
      `unable to parse ${JSON.stringify(text)}: a patch is one JSON or YAML object or array`,
    );
  }
  const kind = values.text("type");
  if ((kind === "json") !== Array.isArray(documents[0])) {
    throw new UsageError(
      kind === "json"
        ? "a JSON patch is a list of operations"
        : `a ${kind} patch is an object`,
    );
  }
  return documents[0];
}

/** The patched object, made here. Strategic patches need the built-in type's schema. */
async function patchLocally(
  object: AnyObject,
  patch: unknown,
  kind: string,
): Promise<AnyObject> {
  if (kind === "json") {
    const { applyJsonPatch, parseJsonPatch } =
      await import("../../api/patch/json-patch.ts");
    return applyJsonPatch(object, parseJsonPatch(patch));
  }
  if (kind === "merge")
    return (await import("../../api/patch/merge-patch.ts")).applyMergePatch(
      object,
      patch,
    );
  const { schemaFor } = await import("../../api/schema.ts");
  const { group, version } = parseApiVersion(object.apiVersion ?? "");
  const schema = schemaFor(group, version, object.kind ?? "");
  if (!schema)
    throw new UsageError(
      `strategic merge patch is not supported for ${object.apiVersion}, Kind=${object.kind}: use --type=merge`,
    );
  return (
    await import("../../api/patch/strategic.ts")
  ).applyStrategicMergePatch(object, patch, schema);
}

async function targets(context: CtlContext, local: boolean): Promise<Target[]> {
  const { values, args } = context;
  const files = values.list("filename");
  if (
    values.optionalText("kustomize") &&
    (files.length > 0 || values.flag("recursive"))
  ) {
    throw new UsageError(
      "--kustomize cannot be combined with --filename or --recursive",
    );
  }
  if (values.optionalText("kustomize"))
    throw new UsageError(
      "--kustomize is not supported yet; render the directory first and pass it with -f -",
    );
  if (files.length > 0) {
    const objects = await readObjects(files, values.flag("recursive"));
    if (!local)
      return Promise.all(
        objects.map(({ object }) => targetOf(context, object)),
      );
    return objects.map(({ object }) => ({
      type: {
        ...parseApiVersion(object.apiVersion!),
        resource: "",
        kind: object.kind!,
        namespaced: true,
        singular: object.kind!.toLowerCase(),
        shortNames: [],
        categories: [],
        verbs: [],
        builtin: true,
      },
      name: object.metadata.name,
      namespace: object.metadata.namespace ?? "",
      object,
    }));
  }
  if (local)
    throw new UsageError("--local needs the object in a file: -f FILENAME");
  const found = (await namedTargets(context, args)).targets;
  if (found.length === 0)
    throw new UsageError("resource name may not be empty");
  return found;
}

async function run(context: CtlContext): Promise<number> {
  const { values } = context;
  const kind = values.text("type");
  const patch = await patchDocument(context);
  const local = values.flag("local");
  const dryRun = values.text("dry-run");
  const subresource = values.optionalText("subresource") ?? "";
  const printer = createPrinter(values);
  for (const target of await targets(context, local)) {
    let result: AnyObject;
    let before: AnyObject | undefined = target.object;
    if (local || dryRun === "client" || dryRun === "unchanged") {
      if (!local)
        before = await (
          await context.http()
        ).json<AnyObject>({ path: targetPath(target, subresource) });
      result = await patchLocally(before!, patch, kind);
    } else {
      const http = await context.http();
      before = await http.json<AnyObject>({
        path: targetPath(target, subresource),
      });
      const query = new URLSearchParams({
        fieldManager: values.text("field-manager"),
        ...(dryRun === "server" ? { dryRun: "All" } : {}),
      });
      result = await http.json<AnyObject>({
        method: "PATCH",
        path: `${targetPath(target, subresource)}?${query.toString()}`,
        contentType: contentTypes[kind]!,
        body: JSON.stringify(patch),
      });
    }
    if (printer) context.print(await printer(result, target.type));
    else if (local) context.print(await createPrinterFallback(result));
    else {
      const same =
        before !== undefined &&
        JSON.stringify(before) === JSON.stringify(result);
      const how =
        dryRun === "server"
          ? " (server dry run)"
          : dryRun === "none"
            ? ""
            : " (dry run)";
      context.print(
        `${shownName(target.type, result.metadata?.name ?? target.name)} patched${same ? " (no change)" : ""}${how}\n`,
      );
    }
  }
  return 0;
}

async function createPrinterFallback(object: AnyObject): Promise<string> {
  return (await import("./output.ts")).toYaml(object);
}

export const patchCommand: CtlCommand = {
  usage: "patch (-f FILENAME | TYPE NAME) [-p PATCH | --patch-file FILE]",
  about:
    "Update fields of a resource with a strategic merge patch, a JSON merge patch or a JSON patch.",
  options: allOptions(patchOptions.slice(0, 1)),
  run,
};
