// Removes ended containers: beyond what may be kept on the whole node, and, when the disk is short, all of pods that are
// over. Invariants: the newest container of a name of a pod that is not over stays, as its restarts are counted by it;
// static pods keep theirs, because without them an agent that starts again would run such a pod once more.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";
import { isOldEnough } from "./container-age.ts";

interface ContainerGarbageOptions {
  readonly runtime: Pick<Runtime, "removeContainer">;
  /** This agent's pods. */
  readonly pods: () => readonly RuntimePod[];
  /** The pod's end was reported, and its object has what its containers said. */
  readonly isOver: (uid: string) => boolean;
  /** The node ended the pod. */
  readonly isEvicted: (uid: string) => boolean;
  readonly files: {
    unlinkContainerLog(
      podName: string,
      namespace: string,
      containerName: string,
      containerId: string,
    ): Promise<void>;
  };
  readonly forgetRemoved: (uid: string) => void;
  /** Of all pods together; below 0: any number. */
  readonly maximum: number;
  readonly minimumAgeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Ended {
  readonly id: string;
  readonly name: string;
  readonly pod: RuntimePod;
  readonly createdAtMs: number;
}

export class ContainerGarbage {
  readonly #options: ContainerGarbageOptions;
  #running: Promise<number> | undefined;

  constructor(options: ContainerGarbageOptions) {
    this.#options = options;
  }

  /** Resolves to how many were removed. Overlapping calls are one. @param those all of these pods, whatever may be kept */
  collect(those: "none" | "evicted" | "over" = "none"): Promise<number> {
    this.#running ??= this.#collect(those).finally(
      () => (this.#running = undefined),
    );
    return this.#running;
  }

  async #collect(those: "none" | "evicted" | "over"): Promise<number> {
    const { isOver, isEvicted, maximum } = this.#options;
    const ended = this.#ended();
    const surplus = ended.filter(
      ({ pod: { uid } }) =>
        those !== "none" && isOver(uid) && (those === "over" || isEvicted(uid)),
    );
    const left = ended.filter((each) => !surplus.includes(each));
    // The oldest go first.
    left.sort((a, b) => a.createdAtMs - b.createdAtMs);
    if (maximum >= 0)
      surplus.push(...left.slice(0, Math.max(0, left.length - maximum)));
    let removed = 0;
    for (const each of surplus) if (await this.#remove(each)) removed++;
    return removed;
  }

  /** What may be removed at all. */
  #ended(): Ended[] {
    const { pods, isOver, minimumAgeMs, clock } = this.#options;
    const nowMs = clock.now();
    return pods().flatMap((pod) => {
      const seen = new Set<string>();
      return pod.containers.flatMap(({ id, name, state, createdAtMs }) => {
        const isNewest = !seen.has(name);
        seen.add(name);
        const stays = isNewest && !isOver(pod.uid);
        return state === "exited" &&
          !stays &&
          isOldEnough(createdAtMs, minimumAgeMs, nowMs)
          ? [{ id, name, pod, createdAtMs }]
          : [];
      });
    });
  }

  async #remove({ id, name, pod }: Ended): Promise<boolean> {
    const { runtime, files, forgetRemoved, logger } = this.#options;
    try {
      await runtime.removeContainer(id);
      await files.unlinkContainerLog(pod.name, pod.namespace, name, id);
      forgetRemoved(pod.uid);
      return true;
    } catch (error) {
      logger.warn(
        { err: error, id, pod: pod.name },
        "can't remove a container",
      );
      return false;
    }
  }
}
