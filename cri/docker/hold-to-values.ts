// Holding a container that runs to the values of its cgroup that the daemon does not set: when it was started, and when an
// agent was killed before it had done so. One that can't be held to them must not go on.
import { inspectContainer, type CallContext } from "./call-context.ts";
import { writeCgroupValues, type CgroupValues } from "./cgroup-values.ts";
import { stopNow } from "./sandbox-calls.ts";

export async function writeValues(
  { cgroupMount, facts }: CallContext,
  id: string,
  values: CgroupValues,
): Promise<void> {
  await writeCgroupValues(cgroupMount, await facts(), id, values);
}

/** Rejects when the values can't be written: it has been stopped then. */
export async function holdToValues(
  context: CallContext,
  id: string,
  values: CgroupValues,
): Promise<void> {
  const { connection, unfinishedStarts } = context;
  try {
    await writeValues(context, id, values);
  } catch (error) {
    const runs = await inspectContainer(connection, id).then(
      ({ info }) => info.State.Running,
      () => true,
    );
    // One that ended at once has no cgroup left.
    if (runs) {
      await stopNow(connection, id);
      await unfinishedStarts.end(id);
      throw error;
    }
  }
  await unfinishedStarts.end(id);
}
