// orbitctl describe: an object for people to read, with the events about it. Pods are laid out as their readers know them;
// other kinds are shown field by field.
import type { AnyObject, KubeList } from "../../../api/object.ts";
import type { Event, Pod } from "../../../api/types/core-v1.ts";
import { option } from "../../options/build-table.ts";
import { fileOptions } from "../../options/ctl.ts";
import type { CtlCommand, CtlContext } from "../command.ts";
import { selectorOptions } from "../get.ts";
import {
  agentOperands,
  isNodeAgent,
  namedOfAgent,
  objectsOfAgent,
} from "../node-agent.ts";
import { columnsText } from "../output.ts";
import { pathOf } from "../resource-names.ts";
import { namedTargets, selectTargets, targetPath } from "../targets.ts";
import { age } from "./agent-tables.ts";
import { fieldLines, type Lines } from "./field-lines.ts";
import { podLines } from "./pod-lines.ts";

async function eventsAbout(
  context: CtlContext,
  { metadata, kind }: AnyObject,
): Promise<Event[]> {
  const { name, namespace, uid } = metadata;
  if (await isNodeAgent(context))
    return (
      (await objectsOfAgent(context, "events", "").catch(
        () => [],
      )) as unknown as Event[]
    ).filter(
      ({ involvedObject: about }) =>
        about.kind === kind &&
        (about.uid === uid || (kind !== "Pod" && about.name === name)),
    );
  const selector = [
    `involvedObject.name=${name}`,
    ...(namespace ? [`involvedObject.namespace=${namespace}`] : []),
    ...(uid ? [`involvedObject.uid=${kind === "Node" ? name : uid}`] : []),
  ].join(",");
  const { items } = await (
    await context.http()
  ).json<KubeList<Event>>({
    path: `/api/v1/${namespace ? `namespaces/${namespace}/` : ""}events?fieldSelector=${encodeURIComponent(selector)}`,
  });
  return items;
}

function eventText(events: readonly Event[]): string {
  if (events.length === 0) return "Events:  <none>\n";
  const rows = events.map(
    ({ type = "", reason = "", source, message = "", ...event }) => {
      const { count = 1, firstTimestamp, lastTimestamp } = event;
      const last = age(lastTimestamp ?? event.metadata.creationTimestamp);
      return [
        `  ${type}`,
        reason,
        count > 1 ? `${last} (x${count} over ${age(firstTimestamp)})` : last,
        source?.component ?? "",
        message.trim(),
      ];
    },
  );
  return `Events:\n${columnsText([
    ["  Type", "Reason", "Age", "From", "Message"],
    ["  ----", "------", "----", "----", "-------"],
    ...rows,
  ])}`;
}

/** Names and values in two columns, what belongs to a name indented below it. */
function text(lines: Lines, indent = ""): string {
  const width = Math.max(
    0,
    ...lines.map(([name, value]) =>
      typeof value === "string" ? name.length : 0,
    ),
  );
  return lines
    .map(([name, value]) =>
      typeof value === "string"
        ? `${indent}${`${name}:`.padEnd(width + 3)}${value.replaceAll("\n", `\n${indent}${" ".repeat(width + 3)}`)}\n`
        : `${indent}${name}:\n${text(value, `${indent}  `)}`,
    )
    .join("");
}

async function objectsOf(context: CtlContext): Promise<AnyObject[]> {
  const { values, args } = context;
  if (await isNodeAgent(context)) {
    const { resource, names } = agentOperands(args);
    return (await namedOfAgent(context, resource, names)).map((object) => ({
      ...(resource === "pods" ? { kind: "Pod" } : {}),
      ...object,
    }));
  }
  const http = await context.http();
  if (values.optionalText("selector") || values.list("filename").length > 0)
    return Promise.all(
      (await selectTargets(context)).map((target) =>
        http.json<AnyObject>({ path: targetPath(target) }),
      ),
    );
  const { types, targets } = await namedTargets(context, args);
  if (targets.length > 0)
    return Promise.all(
      targets.map((target) =>
        http.json<AnyObject>({ path: targetPath(target) }),
      ),
    );
  const everywhere = values.flag("all-namespaces");
  const lists = await Promise.all(
    types.map(async (type) => {
      const namespace =
        everywhere || !type.namespaced ? "" : await context.namespace();
      const { items } = await http.json<KubeList<AnyObject>>({
        path: pathOf(type, namespace),
      });
      return items.map((item) => ({ ...item, kind: type.kind }));
    }),
  );
  return lists.flat();
}

export const describeCommand: CtlCommand = {
  usage:
    "describe (-f FILENAME | TYPE [NAME…] | TYPE/NAME… | TYPE -l SELECTOR)",
  about: "Show objects for people to read, with their events.",
  options: [
    ...fileOptions,
    ...selectorOptions,
    option("show-events", "bool", "true", "With the events about each."),
  ],
  run: async (context) => {
    const objects = await objectsOf(context);
    if (objects.length === 0) context.warn("No resources found");
    for (const [n, object] of objects.entries()) {
      if (n > 0) context.print("\n\n");
      const lines =
        object.kind === "Pod"
          ? podLines(object as unknown as Pod)
          : fieldLines(object);
      context.print(text(lines));
      if (context.values.flag("show-events") && object.kind !== "Event")
        context.print(eventText(await eventsAbout(context, object)));
    }
  },
};
