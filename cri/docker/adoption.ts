// What an earlier process of this agent left in the daemon, or the daemon itself when it was restarted: the logs of containers
// are copied on, those that were started and not yet held to the values of their cgroups are held to them, and the networks of
// sandboxes that are gone or ended are released.
import type { CallContext } from "./call-context.ts";
import { holdToValues } from "./hold-to-values.ts";
import { labelFilter, readRecord, type ContainerRecord } from "./records.ts";

/** After each connection: idempotent. */
export async function adoptContainers(
  context: CallContext,
  isOwn: (annotations: Readonly<Record<string, string>>) => boolean,
): Promise<void> {
  const { connection, copiers, attachments, facts, logger } = context;
  // Before the list: what is attached or begun meanwhile is no leftover.
  const attached = await attachments.ids();
  const unfinished = new Set(await context.unfinishedStarts.ids());
  const [{ rootDirectory }, found] = await Promise.all([
    facts(),
    connection.call("ListContainers", (docker, signal) =>
      docker.listContainers({
        all: true,
        filters: labelFilter(undefined),
        abortSignal: signal,
      }),
    ),
  ]);
  const ended = new Set(attached);
  for (const { Id, Labels, Names, State } of found) {
    const record = readRecord(Labels, Names);
    if (State === "running") ended.delete(Id);
    if (record?.type !== "container" || !isOwn(record.annotations)) continue;
    if (State === "created") {
      // Its start may be under way, or comes later.
      unfinished.delete(Id);
      continue;
    }
    if (State === "running" && unfinished.delete(Id))
      await finishStart(context, Id, record);
    await copiers.begin(Id, record.logPath, rootDirectory);
    // The rest of it, when it ended while no agent ran.
    if (State !== "running" && State !== "paused") await copiers.finish(Id);
  }
  // They have ended or are gone.
  for (const id of unfinished) await context.unfinishedStarts.end(id);
  for (const id of ended)
    await attachments
      .detach(id, attachments.stateDirectory, "")
      .catch((error: unknown) =>
        logger.warn(
          { err: error, sandbox: id },
          "the network of a sandbox that is gone can't be released",
        ),
      );
}

async function finishStart(
  context: CallContext,
  id: string,
  { name, pod, cgroup }: ContainerRecord,
): Promise<void> {
  if (cgroup)
    await holdToValues(context, id, cgroup).catch((error: unknown) =>
      context.logger.warn(
        { err: error, container: name, pod: pod.name },
        "a container that was just started can't be held to its limits",
      ),
    );
}
