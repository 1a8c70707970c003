// What containers use: a request to the daemon for each that runs, some at a time.
import { RuntimeError, type Runtime } from "../runtime.ts";
import type { ContainerStats } from "../usage.ts";
import { containerStats } from "./answers.ts";
import { listContainers, type CallContext } from "./call-context.ts";
import type { ContainerRecord } from "./records.ts";
import { WritableLayers } from "./writable-layers.ts";

const atOnce = 16;

export function statsCalls(
  context: CallContext,
): Pick<Runtime, "containerStats"> {
  const layers = new WritableLayers(context);
  return {
    async containerStats(labels) {
      const running = await listContainers(
        context.connection,
        labels && { labels },
        false,
      );
      const stats: ContainerStats[] = [];
      const rest = running[Symbol.iterator]();
      const measure = async (): Promise<void> => {
        for (const { info, record } of rest) {
          const found = await statsOf(context, info.Id, record);
          if (!found) continue;
          const layer = layers.of(info.Id);
          stats.push(layer ? { ...found, writableLayer: layer } : found);
        }
      };
      layers.refresh();
      await Promise.all(Array.from({ length: atOnce }, measure));
      return stats;
    },
  };
}

/** undefined when the container ended meanwhile. */
async function statsOf(
  { connection }: CallContext,
  id: string,
  record: ContainerRecord,
): Promise<ContainerStats | undefined> {
  try {
    const found = await connection.call(
      "ContainerStats",
      // one-shot: without it the daemon waits for a second sample.
      (docker, signal) =>
        docker.getContainer(id).stats({
          stream: false,
          "one-shot": true,
          abortSignal: signal,
        } as { stream: false }),
    );
    // Of a container that has ended the daemon gives a sample of nothing.
    return found.read.startsWith("0001-")
      ? undefined
      : containerStats(id, record, found);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "not-found")
      return undefined;
    throw error;
  }
}
