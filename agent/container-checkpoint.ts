// Checkpoints of running containers, as archives in ROOT/checkpoints that only root can read: they hold the memory of the
// container's processes. Who asks for them removes them.
import * as path from "node:path";
import { makeDirectory } from "../cri/directories.ts";
import type { Clock } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Runtime } from "../cri/runtime.ts";
import type { RuntimePod } from "./pods/runtime/runtime-pods.ts";

interface CheckpointContext {
  readonly runtime: Pick<Runtime, "checkpointContainer">;
  readonly refresh: (pod: Pod) => Promise<RuntimePod>;
  readonly rootDirectory: string;
  readonly clock: Clock;
}

/** Resolves to the path of the archive. Rejects with the text that the reference's clients look for. */
export async function checkpointContainer(
  { runtime, refresh, rootDirectory, clock }: CheckpointContext,
  pod: Pod,
  container: string,
  timeoutSeconds: number,
): Promise<string> {
  const { containers } = await refresh(pod);
  const running = containers.find(
    ({ name, state }) => name === container && state === "running",
  );
  if (!running) throw new Error(`container ${container} not found`);
  if (timeoutSeconds < 0)
    throw new Error("CheckpointContainer requires the timeout value to be > 0");
  const directory = path.join(rootDirectory, "checkpoints");
  await makeDirectory(directory, 0o700);
  const { name, namespace = "default" } = pod.metadata;
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const location = path.join(
    directory,
    `checkpoint-${name}_${namespace}-${container}-${time}.tar`,
  );
  await runtime.checkpointContainer(running.id, location, timeoutSeconds);
  return location;
}
