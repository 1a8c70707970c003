// What an earlier process of this agent left in the daemon, or the daemon itself when it was restarted: the logs of containers
// are copied on, and the networks of sandboxes that are gone or ended are released.
import type { CallContext } from "./call-context.ts";
import { labelFilter, readRecord } from "./records.ts";

/** After each connection: idempotent. */
export async function adoptContainers(
  { connection, copiers, attachments, facts, logger }: CallContext,
  isOwn: (annotations: Readonly<Record<string, string>>) => boolean,
): Promise<void> {
  // Before the list: what is attached meanwhile is no leftover.
  const attached = await attachments.ids();
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
    if (State === "created") continue;
    await copiers.begin(Id, record.logPath, rootDirectory);
    // The rest of it, when it ended while no agent ran.
    if (State !== "running" && State !== "paused") await copiers.finish(Id);
  }
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
