// Checkpoints of running containers, as archives in ROOT/checkpoints that only root can read: they hold the memory of the
// container's processes. Who asks for them removes them. A container has one at a time: runtimes collect it in one
// directory a container, and the archive's name counts in seconds.
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

export class ContainerCheckpoints {
  readonly #context: CheckpointContext;
  /** Ids of containers. */
  readonly #underWay = new Set<string>();

  constructor(context: CheckpointContext) {
    this.#context = context;
  }

  /** Resolves to the path of the archive. Rejects with the text that the reference's clients look for. */
  async take(
    pod: Pod,
    container: string,
    timeoutSeconds: number,
  ): Promise<string> {
    const { runtime, refresh } = this.#context;
    const { containers } = await refresh(pod);
    const running = containers.find(
      ({ name, state }) => name === container && state === "running",
    );
    if (!running) throw new Error(`container ${container} not found`);
    if (timeoutSeconds < 0)
      throw new Error(
        "CheckpointContainer requires the timeout value to be > 0",
      );
    const { id } = running;
    if (this.#underWay.has(id))
      throw new Error("another checkpoint of the container is under way");
    this.#underWay.add(id);
    try {
      const location = await this.#location(pod, container);
      await runtime.checkpointContainer(id, location, timeoutSeconds);
      return location;
    } finally {
      this.#underWay.delete(id);
    }
  }

  async #location({ metadata }: Pod, container: string): Promise<string> {
    const { rootDirectory, clock } = this.#context;
    const directory = path.join(rootDirectory, "checkpoints");
    await makeDirectory(directory, 0o700);
    const { name, namespace = "default" } = metadata;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    return path.join(
      directory,
      `checkpoint-${name}_${namespace}-${container}-${time}.tar`,
    );
  }
}
