// Keeps only so many ended containers of each name of a pod, and no stopped sandbox that has none. Works beside the
// pod's passes: a failure is logged and the next start of a container tries again.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";
import { podDescription } from "../shape/labels.ts";
import { isOldEnough } from "./container-age.ts";

export interface DeadContainersContext {
  readonly runtime: Pick<Runtime, "removeContainer" | "removePodSandbox">;
  readonly files: {
    unlinkContainerLog(
      podName: string,
      namespace: string,
      containerName: string,
      containerId: string,
    ): Promise<void>;
  };
  /** How many ended containers of a name are kept beside the newest one. */
  readonly keptPerContainer: number;
  /** Younger ones stay. */
  readonly minimumAgeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class DeadContainers {
  readonly #context: DeadContainersContext;
  /** Being removed just now: the runtime refuses a second removal at the same time. */
  readonly #removing = new Set<string>();

  constructor(context: DeadContainersContext) {
    this.#context = context;
  }

  prune(pod: Pod, name: string, runtimePod: RuntimePod): void {
    const { runtime, keptPerContainer, minimumAgeMs, clock, logger } =
      this.#context;
    const nowMs = clock.now();
    const surplus = runtimePod.containers
      .filter((container) => container.name === name)
      .slice(1 + keptPerContainer)
      .filter(
        ({ state, id, createdAtMs }) =>
          state === "exited" &&
          isOldEnough(createdAtMs, minimumAgeMs, nowMs) &&
          !this.#removing.has(id),
      );
    const kept = new Set(
      runtimePod.containers
        .filter((container) => !surplus.includes(container))
        .map(({ sandboxId }) => sandboxId),
    );
    const sandboxes = runtimePod.sandboxes.filter(
      ({ id, ready }) => !ready && !kept.has(id),
    );
    if (surplus.length + sandboxes.length === 0) return;
    Promise.all(surplus.map(({ id }) => this.#remove(pod, name, id)))
      .then(() =>
        Promise.all(sandboxes.map(({ id }) => runtime.removePodSandbox(id))),
      )
      .catch((error: unknown) =>
        logger.warn(
          { err: error, pod: podDescription(pod) },
          "can't remove dead containers",
        ),
      );
  }

  /** Removes the sandboxes that have ended and have no containers, but the newest one. A failure is logged. */
  async removeSandboxes(pod: Pod, runtimePod: RuntimePod): Promise<void> {
    const { runtime, logger } = this.#context;
    const used = new Set(
      runtimePod.containers.map(({ sandboxId }) => sandboxId),
    );
    const ended = runtimePod.sandboxes
      .slice(1)
      .filter(({ id, ready }) => !ready && !used.has(id));
    for (const { id } of ended)
      await runtime
        .removePodSandbox(id)
        .catch((error: unknown) =>
          logger.warn(
            { err: error, id, pod: podDescription(pod) },
            "can't remove a sandbox that has ended",
          ),
        );
  }

  async #remove(pod: Pod, name: string, id: string): Promise<void> {
    const { runtime, files } = this.#context;
    this.#removing.add(id);
    await runtime.removeContainer(id).finally(() => this.#removing.delete(id));
    await files.unlinkContainerLog(
      pod.metadata.name,
      pod.metadata.namespace ?? "default",
      name,
      id,
    );
  }
}
