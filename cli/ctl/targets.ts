// Which objects a command means: TYPE NAME…, TYPE/NAME…, TYPE with -l or --all, or -f.
import type { AnyObject, KubeList } from "../../api/object.ts";
import { UsageError } from "../options/table.ts";
import type { CtlContext } from "./command.ts";
import { readObjects } from "./input.ts";
import { pathOf, type ResourceType } from "./resource-names.ts";

export interface Target {
  readonly type: ResourceType;
  readonly name: string;
  readonly namespace: string;
  /** The object of the file, when it came from one. */
  readonly object?: AnyObject;
}

export function targetPath(
  { type, namespace, name }: Target,
  subresource = "",
): string {
  return pathOf(type, type.namespaced ? namespace : "", name, subresource);
}

/** The resource type and namespace of an object from a file. */
export async function targetOf(
  context: CtlContext,
  object: AnyObject,
): Promise<Target> {
  const type = await (
    await context.names()
  ).byKind(object.apiVersion ?? "", object.kind ?? "");
  const own = object.metadata.namespace;
  const wanted = context.values.optionalText("namespace");
  if (type.namespaced && own && wanted && own !== wanted) {
    throw new UsageError(
      `the namespace from the provided object "${own}" does not match the namespace "${wanted}". You must pass '--namespace=${own}' to perform this operation.`,
    );
  }
  return {
    type,
    name: object.metadata.name ?? "",
    namespace: type.namespaced ? (own ?? (await context.namespace())) : "",
    object,
  };
}

export async function fileTargets(context: CtlContext): Promise<Target[]> {
  if (
    context.values.has("kustomize") &&
    context.values.optionalText("kustomize")
  ) {
    throw new UsageError(
      "--kustomize is not supported yet; render the directory first and pass it with -f -",
    );
  }
  const objects = await readObjects(
    context.values.list("filename"),
    context.values.has("recursive") && context.values.flag("recursive"),
  );
  return Promise.all(objects.map(({ object }) => targetOf(context, object)));
}

/** TYPE/NAME… or TYPE NAME…; a type alone gives no names. */
export async function namedTargets(
  context: CtlContext,
  args: readonly string[],
): Promise<{ types: ResourceType[]; targets: Target[] }> {
  const names = await context.names();
  const namespace = await context.namespace();
  if (args.length === 0)
    throw new UsageError("You must specify the type of resource");
  if (args[0]!.includes("/")) {
    const targets = await Promise.all(
      args.map(async (arg): Promise<Target> => {
        const [word, name, more] = arg.split("/");
        if (!word || !name || more !== undefined)
          throw new UsageError(
            `arguments in resource/name form must have a single resource and name: ${arg}`,
          );
        return { type: await names.byWord(word), name, namespace };
      }),
    );
    return { types: [], targets };
  }
  const types = await names.byWords(args[0]!);
  const given = args.slice(1);
  if (given.some((name) => name.includes("/")))
    throw new UsageError(
      "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form",
    );
  return {
    types,
    targets: types.flatMap((type) =>
      given.map((name) => ({ type, name, namespace })),
    ),
  };
}

/** Everything the arguments, -l and --all name; lists when there are no names. */
export async function selectTargets(
  context: CtlContext,
  args: readonly string[] = context.args,
): Promise<Target[]> {
  const { values } = context;
  if (values.list("filename").length > 0) {
    if (args.length > 0)
      throw new UsageError(
        "when paths, URLs, or stdin is provided as resource input, you may not specify resource arguments as well",
      );
    return fileTargets(context);
  }
  const { types, targets } = await namedTargets(context, args);
  const selector = values.has("selector")
    ? values.optionalText("selector")
    : undefined;
  const all = values.has("all") && values.flag("all");
  if (targets.length > 0) {
    if (selector || all)
      throw new UsageError(
        "name cannot be provided when a selector is specified",
      );
    return targets;
  }
  if (!selector && !all)
    throw new UsageError(
      "resource(s) were provided, but no name was specified",
    );
  const http = await context.http();
  const everywhere =
    values.has("all-namespaces") && values.flag("all-namespaces");
  const found: Target[] = [];
  for (const type of types) {
    const query = selector
      ? `?labelSelector=${encodeURIComponent(selector)}`
      : "";
    const list = await http.json<KubeList<AnyObject>>({
      path: pathOf(type, everywhere ? "" : await context.namespace()) + query,
    });
    for (const item of list.items)
      found.push({
        type,
        name: item.metadata.name,
        namespace: item.metadata.namespace ?? "",
        object: item,
      });
  }
  return found;
}
