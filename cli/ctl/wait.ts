// orbitctl wait, and delete's waiting: watches the object instead of asking again and again.
import type { AnyObject } from "../../api/object.ts";
import { isNotFound } from "../../api/errors.ts";
import { option } from "../options/build-table.ts";
import { fileOptions, outputOptions } from "../options/ctl.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { jsonPathValues } from "./jsonpath.ts";
import { selectorOptions } from "./get.ts";
import { pathOf, shownName } from "./resource-names.ts";
import { selectTargets, targetPath, type Target } from "./targets.ts";

/** Whether the condition holds; undefined object: it is gone. */
type Condition = (object: AnyObject | undefined) => boolean;

async function waitFor(
  context: CtlContext,
  target: Target,
  condition: Condition,
  timeoutMs: number,
): Promise<boolean> {
  const http = await context.http();
  const deadline = timeoutMs > 0 ? performance.now() + timeoutMs : Infinity;
  for (;;) {
    const object = await http
      .json<AnyObject>({ path: targetPath(target) })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (condition(object)) return true;
    if (!object)
      throw new UsageError(
        `${target.type.resource} "${target.name}" not found`,
      );
    if (performance.now() >= deadline) return false;
    const left = Math.min(deadline - performance.now(), 60_000);
    const query = new URLSearchParams({
      watch: "1",
      fieldSelector: `metadata.name=${target.name}`,
      resourceVersion: object.metadata.resourceVersion ?? "",
      timeoutSeconds: String(Math.max(1, Math.ceil(left / 1000))),
    });
    const stream = await http.stream({
      path: `${pathOf(target.type, target.namespace)}?${query.toString()}`,
    });
    const timer = setTimeout(() => stream.destroy(), left);
    try {
      let rest = "";
      for await (const chunk of stream.setEncoding(
        "utf8",
      ) as AsyncIterable<string>) {
        const parts = (rest + chunk).split("\n");
        rest = parts.pop()!;
        for (const part of parts.filter(Boolean)) {
          const event = JSON.parse(part) as { type: string; object: AnyObject };
          // A new object of the same name is not the one that was waited for.
          if (
            event.type === "ERROR" ||
            event.object.metadata.uid !== object.metadata.uid
          )
            continue;
          if (condition(event.type === "DELETED" ? undefined : event.object))
            return true;
        }
      }
    } catch {
      // The watch ended: look again.
    } finally {
      clearTimeout(timer);
      stream.destroy();
    }
  }
}

export async function waitGone(
  context: CtlContext,
  targets: readonly Target[],
  timeoutMs: number,
): Promise<boolean> {
  const done = await Promise.all(
    targets.map((target) => {
      const uid = target.object?.metadata.uid;
      return waitFor(
        context,
        target,
        (object) =>
          !object || (uid !== undefined && object.metadata.uid !== uid),
        timeoutMs,
      );
    }),
  );
  return done.every(Boolean);
}

interface StatusCondition {
  type: string;
  status: string;
}

function parseCondition(text: string): { condition: Condition; met: string } {
  if (text === "delete")
    return { condition: (object) => !object, met: "condition met" };
  if (text === "create")
    return {
      condition: (object) => object !== undefined,
      met: "condition met",
    };
  const condition = /^condition=([^=]+)(?:=(.*))?$/.exec(text);
  if (condition) {
    const [, type, status = "true"] = condition;
    return {
      condition: (object) =>
        (
          (object?.status as { conditions?: StatusCondition[] } | undefined)
            ?.conditions ?? []
        ).some(
          (each) =>
            each.type.toLowerCase() === type!.toLowerCase() &&
            each.status.toLowerCase() === status.toLowerCase(),
        ),
      met: "condition met",
    };
  }
  const path =
    /^jsonpath=(.+?\})(?:=(.*))?$/s.exec(text) ??
    /^jsonpath=([^=]+)(?:=(.*))?$/s.exec(text);
  if (path) {
    const wanted = path[2];
    return {
      condition: (object) => {
        if (!object) return false;
        const found = jsonPathValues(path[1]!, object);
        return wanted === undefined
          ? found.length > 0
          : found.length > 0 &&
              found.every(
                (each) =>
                  String(each) === wanted.replace(/^(["'])(.*)\1$/, "$2"),
              );
      },
      met: "condition met",
    };
  }
  throw new UsageError(`unrecognized condition: ${JSON.stringify(text)}`);
}

export const waitCommand: CtlCommand = {
  usage:
    "wait (-f FILENAME | TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR) --for=delete|create|condition=NAME[=VALUE]|jsonpath=EXPRESSION[=VALUE]",
  about: "Wait for a condition of objects.",
  options: [
    ...fileOptions,
    ...selectorOptions,
    ...outputOptions,
    option("all", "bool", "false", "All objects of the type in the namespace."),
    option("for", "string", "", "The condition."),
    option("timeout", "duration", "30s", "Longest wait; 0: look once.", {}),
  ],
  run: async (context) => {
    const { condition, met } = parseCondition(context.values.text("for"));
    const timeoutMs = context.values.number("timeout");
    const targets = await selectTargets(context);
    if (targets.length === 0)
      throw new UsageError("no matching resources found");
    const deadline =
      performance.now() + (timeoutMs < 0 ? 7 * 86_400_000 : timeoutMs);
    let code = 0;
    for (const target of targets) {
      const leftMs = Math.max(1, deadline - performance.now());
      if (await waitFor(context, target, condition, leftMs))
        context.print(`${shownName(target.type, target.name)} ${met}\n`);
      else {
        context.warn(
          `error: timed out waiting for the condition on ${target.type.resource}/${target.name}`,
        );
        code = 1;
      }
    }
    return code;
  },
};
