// orbitctl against a node agent's port alone (--server https://host:10250): pods, logs and exec without an API server.
import type { AnyObject } from "../../api/object.ts";
import { ApiError } from "../../api/errors.ts";
import { humanDuration } from "../../api/duration.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { CtlContext } from "./command.ts";
import type { Table } from "./output.ts";

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

export async function podsOfAgent(context: CtlContext): Promise<AnyObject[]> {
  const http = await context.http();
  const { items } = await http.json<{ items: AnyObject[] | null }>({
    path: "/pods",
  });
  const namespace = context.values.optionalText("namespace");
  return (items ?? []).filter(
    ({ metadata }) => !namespace || metadata.namespace === namespace,
  );
}

/** The pod of a name in the namespace asked for, or the only one of that name. */
export async function podOfAgent(
  context: CtlContext,
  name: string,
): Promise<Pod> {
  const found = (await podsOfAgent(context)).filter(
    ({ metadata }) => metadata.name === name,
  );
  if (found.length !== 1) {
    throw new ApiError({
      code: found.length === 0 ? 404 : 400,
      reason: found.length === 0 ? "NotFound" : "BadRequest",
      message:
        found.length === 0
          ? `pods "${name}" not found`
          : `several namespaces have a pod "${name}": use -n`,
    });
  }
  return found[0] as unknown as Pod;
}

/** The columns of `get pods`, made here, since a node agent prints no tables. */
export function podTable(pods: readonly AnyObject[]): Table {
  return {
    columnDefinitions: ["Name", "Ready", "Status", "Restarts", "Age", "IP"].map(
      (name) => ({ name, priority: name === "IP" ? 1 : 0 }),
    ),
    rows: pods.map((object) => {
      const pod = object as unknown as Pod;
      const statuses = pod.status?.containerStatuses ?? [];
      const waiting = statuses
        .map(
          (status) =>
            status.state?.waiting?.reason ?? status.state?.terminated?.reason,
        )
        .find(Boolean);
      const created = Date.parse(
        pod.metadata.creationTimestamp ?? pod.status?.startTime ?? "",
      );
      return {
        object,
        cells: [
          pod.metadata.name,
          `${statuses.filter(({ ready }) => ready).length}/${pod.spec.containers.length}`,
          pod.metadata.deletionTimestamp
            ? "Terminating"
            : (waiting ?? pod.status?.reason ?? pod.status?.phase ?? "Unknown"),
          String(
            statuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
          ),
          Number.isNaN(created)
            ? "<unknown>"
            : humanDuration(Date.now() - created),
          pod.status?.podIP ?? "<none>",
        ],
      };
    }),
  };
}
