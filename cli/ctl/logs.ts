// orbitctl logs: through the API server, or from a node agent's port.
import type { Pod } from "../../api/types/core-v1.ts";
import { option } from "../options/build-table.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { selectorOptions } from "./get.ts";
import { isNodeAgent, namedOfAgent, podOfAgent } from "./node-agent.ts";
import { namedTargets, selectTargets, targetPath } from "./targets.ts";

/** The container asked for, else the default one of the pod. */
export function chooseContainer(context: CtlContext, pod: Pod): string {
  const given = context.values.optionalText("container");
  const all = [
    ...pod.spec.containers,
    ...(pod.spec.initContainers ?? []),
    ...(pod.spec.ephemeralContainers ?? []),
  ];
  if (given) {
    if (!all.some(({ name }) => name === given))
      throw new UsageError(
        `container ${given} is not valid for pod ${pod.metadata.name}`,
      );
    return given;
  }
  const preferred =
    pod.metadata.annotations?.["kubectl.kubernetes.io/default-container"];
  if (preferred && all.some(({ name }) => name === preferred)) return preferred;
  const first = pod.spec.containers[0]!.name;
  if (all.length > 1)
    context.warn(
      `Defaulted container "${first}" out of: ${all.map(({ name }) => name).join(", ")}`,
    );
  return first;
}

/** The pod that an argument means: NAME, pod/NAME, or one of a workload's. */
export async function podOf(
  context: CtlContext,
  arg: string,
  namespace?: string,
): Promise<Pod> {
  const http = await context.http();
  if (await isNodeAgent(context))
    return podOfAgent(context, arg.replace(/^(pods?|po)\//, ""), namespace);
  const { targets } = await namedTargets(
    context,
    arg.includes("/") ? [arg] : ["pods", arg],
  );
  const target = {
    ...targets[0]!,
    ...(namespace === undefined ? {} : { namespace }),
  };
  const object = await http.json<
    Pod & {
      spec: {
        selector?:
          { matchLabels?: Record<string, string> } | Record<string, string>;
      };
    }
  >({ path: targetPath(target) });
  if (target.type.resource === "pods") return object;
  const selector = object.spec.selector ?? {};
  const labels = (
    "matchLabels" in selector ? selector.matchLabels : selector
  ) as Record<string, string> | undefined;
  if (!labels || Object.keys(labels).length === 0)
    throw new UsageError(`cannot find the pods of ${arg}`);
  const text = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  const { items } = await http.json<{ items: Pod[] }>({
    path: `/api/v1/namespaces/${encodeURIComponent(target.namespace)}/pods?labelSelector=${encodeURIComponent(text)}`,
  });
  const found =
    items.find(({ status }) => status?.phase === "Running") ?? items[0];
  if (!found) throw new UsageError(`no pods found for ${arg}`);
  return found;
}

async function printLogs(
  context: CtlContext,
  pod: Pod,
  container: string,
  prefix: boolean,
): Promise<void> {
  const { values } = context;
  const query = new URLSearchParams();
  const agent = await isNodeAgent(context);
  if (!agent) query.set("container", container);
  if (values.flag("follow")) query.set("follow", "true");
  if (values.flag("previous")) query.set("previous", "true");
  if (values.flag("timestamps")) query.set("timestamps", "true");
  if (values.isSet("tail") && values.number("tail") >= 0)
    query.set("tailLines", String(values.number("tail")));
  if (values.isSet("since"))
    query.set("sinceSeconds", String(Math.ceil(values.number("since") / 1000)));
  if (values.isSet("since-time"))
    query.set("sinceTime", values.text("since-time"));
  if (values.isSet("limit-bytes"))
    query.set("limitBytes", String(values.number("limit-bytes")));
  const { name, namespace = "default" } = pod.metadata;
  const path = agent
    ? `/containerLogs/${namespace}/${name}/${container}`
    : `/api/v1/namespaces/${namespace}/pods/${name}/log`;
  const text = query.toString();
  const stream = await (
    await context.http()
  ).stream({ path: text ? `${path}?${text}` : path, accept: "*/*" });
  if (!prefix) {
    for await (const chunk of stream as AsyncIterable<Buffer>)
      process.stdout.write(chunk);
    return;
  }
  let rest = "";
  for await (const chunk of stream.setEncoding(
    "utf8",
  ) as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    context.print(
      lines.map((line) => `[pod/${name}/${container}] ${line}\n`).join(""),
    );
  }
  if (rest) context.print(`[pod/${name}/${container}] ${rest}`);
}

export const logsCommand: CtlCommand = {
  usage: "logs (POD | TYPE/NAME | -l SELECTOR) [-c CONTAINER]",
  about: "Print the logs of containers.",
  options: [
    ...selectorOptions,
    option("filename", "strings", "", "", { hidden: true }),
    option("container", "string", "", "Container.", { short: "c" }),
    option("all-containers", "bool", "false", "All containers of the pod."),
    option("follow", "bool", "false", "Follow the log.", { short: "f" }),
    option("previous", "bool", "false", "The instance before.", { short: "p" }),
    option("timestamps", "bool", "false", "With timestamps."),
    option("tail", "int", "-1", "Only the last lines; -1: all.", { min: -1 }),
    option("since", "duration", "", "Only newer than this."),
    option("since-time", "string", "", "Only after this RFC 3339 time."),
    option("limit-bytes", "int", "", "At most so many bytes.", { min: 1 }),
    option("prefix", "bool", "false", "Pod and container before each line."),
  ],
  run: async (context) => {
    const { values, args } = context;
    const pods: Pod[] = [];
    if (values.optionalText("selector") && (await isNodeAgent(context))) {
      const all = await namedOfAgent(context, "pods", []);
      pods.push(...(all as unknown as Pod[]));
    } else if (values.optionalText("selector")) {
      for (const target of await selectTargets(context, ["pods"]))
        pods.push(target.object as unknown as Pod);
    } else {
      if (args.length === 0)
        throw new UsageError("expected 'logs (POD | TYPE/NAME)'");
      pods.push(
        await podOf(context, args[0] === "pod" && args[1] ? args[1] : args[0]!),
      );
    }
    for (const pod of pods) {
      const containers = values.flag("all-containers")
        ? [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(
            ({ name }) => name,
          )
        : [
            args[1] && args[0] !== "pod" && !values.optionalText("container")
              ? args[1]
              : chooseContainer(context, pod),
          ];
      for (const container of containers)
        await printLogs(context, pod, container, values.flag("prefix"));
    }
  },
};
