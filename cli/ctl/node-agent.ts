// orbitctl against a node agent's port alone (--server https://host:10250): its pods, and, where it has no API server, the
// other objects of its manifests directory.
import type { AnyObject } from "../../api/object.ts";
import { ApiError, errors, isNotFound } from "../../api/errors.ts";
import { parseFieldSelector, parseLabelSelector } from "../../api/selectors.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { UsageError } from "../options/table.ts";
import type { CtlContext } from "./command.ts";
import type { ResourceType } from "./resource-names.ts";

/** What the port lists, with the words that mean it. */
const resources: Readonly<Record<string, readonly string[]>> = {
  pods: ["pod", "po"],
  configmaps: ["configmap", "cm"],
  events: ["event", "ev"],
  persistentvolumeclaims: ["persistentvolumeclaim", "pvc"],
  persistentvolumes: ["persistentvolume", "pv"],
  secrets: ["secret"],
  services: ["service", "svc"],
};

/** By what else than names the reference selects them. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  pods: [
    "spec.hostNetwork",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
  ],
  events: [
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.uid",
    "reason",
    "type",
  ],
  secrets: ["type"],
  services: ["spec.clusterIP", "spec.type"],
};

/** Whether the server is a node agent: port 10250 or 10255, or one that knows /pods and no /api. */
export async function isNodeAgent(context: CtlContext): Promise<boolean> {
  const http = await context.http();
  if (http.base.port === "10250" || http.base.port === "10255") return true;
  if (!context.values.optionalText("server")) return false;
  try {
    await http.call({ path: "/api" });
    return false;
  } catch (error) {
    return error instanceof ApiError && error.code === 404;
  }
}

/** The plural name of what a word means. @throws UsageError for what a node agent has not */
function agentResource(word: string): string {
  const found = Object.entries(resources).find(
    ([plural, others]) => plural === word || others.includes(word),
  );
  if (!found)
    throw new UsageError(
      `a node agent has no "${word}", only ${Object.keys(resources).join(", ")}`,
    );
  return found[0];
}

/** What this agent lists: pods, and where it has no API server the rest. Only pods can be deleted, and only there. */
export async function typesOfAgent(
  context: CtlContext,
): Promise<ResourceType[]> {
  const http = await context.http();
  await http.call({ path: "/pods" });
  const alone = await http
    .call({ path: "/directory/services" })
    .then(() => true)
    .catch((error: unknown) => {
      if ((error as ApiError).code !== 404) throw error;
      return false;
    });
  const served = alone ? Object.keys(resources) : ["pods"];
  const verbs = (resource: string): string[] =>
    alone && resource === "pods" ? ["delete", "get", "list"] : ["get", "list"];
  const { ResourceNames } = await import("./resource-names.ts");
  return new ResourceNames(undefined)
    .builtin()
    .filter(({ group, resource }) => group === "" && served.includes(resource))
    .map((type) => ({ ...type, verbs: verbs(type.resource) }));
}

/** @throws UsageError for a node agent, where the command at hand means nothing */
export async function refuseAgent(context: CtlContext): Promise<void> {
  if (await isNodeAgent(context))
    throw new UsageError(
      "the server is a node agent: its pods have get, describe, logs, exec, attach, cp, port-forward, top and delete, all else is an API server's",
    );
}

/** Of the namespace asked for, or of all; rejects with NotFound when the agent has an API server, which has them. */
export async function objectsOfAgent(
  context: CtlContext,
  resource: string,
  namespace = context.values.optionalText("namespace"),
): Promise<AnyObject[]> {
  const http = await context.http();
  const path = resource === "pods" ? "/pods" : `/directory/${resource}`;
  const { items } = await http
    .json<{ items: AnyObject[] | null }>({ path })
    .catch((error: unknown) => {
      if (!isNotFound(error) && (error as ApiError).code !== 404) throw error;
      throw new UsageError(
        `the node agent shows no ${resource}: it has an API server, which does`,
      );
    });
  return (items ?? []).filter(
    ({ metadata }) =>
      !namespace ||
      metadata.namespace === undefined ||
      metadata.namespace === namespace,
  );
}

function fieldOf(object: AnyObject, path: string): string {
  let at: unknown = object;
  for (const name of path.split("."))
    at = (at as Record<string, unknown> | undefined)?.[name];
  return typeof at === "object" || at === undefined
    ? ""
    : String(at as string | number | boolean);
}

/** What -l and --field-selector select; undefined: they were not given. @throws UsageError for a field it can't be */
function selectionOf(
  { values }: CtlContext,
  resource: string,
): ((object: AnyObject) => boolean) | undefined {
  const given = (name: string): string =>
    (values.has(name) && values.optionalText(name)) || "";
  const labels = parseLabelSelector(given("selector"));
  const fields = parseFieldSelector(given("field-selector"));
  if (labels.empty && fields.empty) return undefined;
  const names = fields.requirements.map(({ field }) => field);
  for (const name of names)
    if (
      !/^metadata\.name(space)?$/.test(name) &&
      !selectable[resource]?.includes(name)
    )
      throw new UsageError(
        `--field-selector: field label not supported: ${name}`,
      );
  return (object) =>
    labels.matches(object.metadata.labels) &&
    fields.matches(
      Object.fromEntries(names.map((name) => [name, fieldOf(object, name)])),
    );
}

/** The resources of `TYPE,TYPE…` or `all`, and the names behind them. */
export async function agentLists(context: CtlContext): Promise<{
  types: readonly ResourceType[];
  names: readonly string[];
}> {
  const { args } = context;
  const [first = "pods", ...rest] = args;
  const { ResourceNames } = await import("./resource-names.ts");
  const builtin = new ResourceNames(undefined).builtin();
  const typeOf = (resource: string): ResourceType =>
    builtin.find((type) => type.group === "" && type.resource === resource)!;
  if (first === "all") {
    const served = await typesOfAgent(context);
    const types = served.filter(({ resource }) =>
      ["pods", "services"].includes(resource),
    );
    return { types, names: rest };
  }
  if (!first.includes(",")) {
    const { resource, names } = agentOperands(args);
    return { types: [typeOf(resource)], names };
  }
  const words = first.split(",").filter((word) => word !== "");
  const resources = [...new Set(words.map(agentResource))];
  return { types: resources.map(typeOf), names: rest };
}

/** Resource and names of `TYPE [NAME…]` or `TYPE/NAME…`; without words pods. */
export function agentOperands(args: readonly string[]): {
  resource: string;
  names: readonly string[];
} {
  const [first = "pods", ...rest] = args;
  if (!first.includes("/"))
    return { resource: agentResource(first), names: rest };
  const pairs = args.map((arg) => arg.split("/"));
  if (pairs.some((pair) => pair.length !== 2 || pair[0] !== pairs[0]![0]))
    throw new UsageError(
      "arguments in resource/name form must have a single resource and name",
    );
  return {
    resource: agentResource(pairs[0]![0]!),
    names: pairs.map(([, name = ""]) => name),
  };
}

/** The objects of these names, or all that are selected. Rejects with NotFound for the first that is not there. */
export async function namedOfAgent(
  context: CtlContext,
  resource: string,
  names: readonly string[],
): Promise<AnyObject[]> {
  const selects = selectionOf(context, resource);
  const all = await objectsOfAgent(context, resource);
  if (names.length === 0) return selects ? all.filter(selects) : all;
  if (selects)
    throw new UsageError(
      "name cannot be provided when a selector is specified",
    );
  return names.map((name) => oneOf(all, resource, name));
}

function oneOf(
  all: readonly AnyObject[],
  resource: string,
  name: string,
): AnyObject {
  const found = all.filter(({ metadata }) => metadata.name === name);
  if (found.length > 1)
    throw errors.badRequest(
      `several namespaces have ${resource} "${name}": use -n`,
    );
  if (!found[0]) throw errors.notFound({ group: "", resource }, name);
  return found[0];
}

/** The pod of a name in the namespace asked for, or the only one of that name. */
export async function podOfAgent(
  context: CtlContext,
  name: string,
  namespace?: string,
): Promise<Pod> {
  const all = await objectsOfAgent(context, "pods", namespace);
  return oneOf(all, "pods", name) as unknown as Pod;
}

/** Removes pods' manifests from an agent without an API server, and waits until the pods have ended. */
export async function deleteFromAgent(
  context: CtlContext,
  timeoutMs: number,
): Promise<number> {
  const { resource, names } = agentOperands(context.args);
  if (resource !== "pods" || context.args.length === 0)
    throw new UsageError(
      "of a node agent's objects pods alone can be deleted; others go with their manifest",
    );
  const { values } = context;
  const selects = selectionOf(context, resource);
  if (names.length === 0 && !values.flag("all") && !selects)
    throw new UsageError(
      "resource(s) were provided, but no name was specified",
    );
  const http = await context.http();
  const chosen = await namedOfAgent(context, resource, names).catch(
    (error: unknown) => {
      if (isNotFound(error) && values.flag("ignore-not-found")) return [];
      throw error;
    },
  );
  if (chosen.length === 0 && names.length === 0)
    context.warn("No resources found");
  for (const { metadata } of chosen) {
    const { name, namespace = "default" } = metadata;
    await http.json({ method: "DELETE", path: `/pods/${namespace}/${name}` });
    context.print(
      values.text("output") === "name"
        ? `pod/${name}\n`
        : `pod "${name}" deleted\n`,
    );
  }
  const uids = new Set(chosen.map(({ metadata }) => metadata.uid));
  const beganMs = Date.now();
  while (values.flag("wait")) {
    const left = await objectsOfAgent(context, "pods");
    if (!left.some(({ metadata }) => uids.has(metadata.uid))) break;
    if (timeoutMs > 0 && Date.now() - beganMs > timeoutMs) {
      context.warn("error: timed out waiting for the condition");
      return 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return 0;
}
