// Ends the containers of one pod for its worker: all of them, or one that must not run on. While all of them are ended
// the grace can be shortened.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { ContainerStatus, Runtime } from "../../../cri/runtime.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";
import { findContainer } from "../shape/pod-shape.ts";
import {
  endContainer,
  PodEnding,
  type EndingContext,
} from "./container-end.ts";
import { stopSandboxes } from "./sandboxes.ts";

export interface PodEndContext extends EndingContext {
  readonly runtime: Pick<
    Runtime,
    "stopContainer" | "stopPodSandbox" | "removeContainer" | "removePodSandbox"
  >;
  readonly runtimePods: Pick<RuntimePods, "markDirty" | "refresh">;
  readonly events: Pick<PodEvents, "container" | "pod">;
}

const defaultGraceSeconds = 30;

export class PodEnd {
  readonly #context: PodEndContext;
  #ending: PodEnding | undefined;

  constructor(context: PodEndContext) {
    this.#context = context;
  }

  /** Of an ending that is under way; a longer grace changes nothing. */
  shorten(graceSeconds: number): void {
    this.#ending?.shorten(graceSeconds);
  }

  /** Ends every container; resolves to what was left, with the containers' last messages. */
  async containers(
    pod: Pod,
    runtimePod: RuntimePod,
    graceSeconds: number,
  ): Promise<RuntimePod> {
    this.#ending = new PodEnding(this.#context, pod, graceSeconds);
    try {
      await this.#ending.run(runtimePod);
    } finally {
      this.#ending = undefined;
    }
    // The last messages of the containers are read before their sandbox goes.
    const { name, namespace = "default", uid = "" } = pod.metadata;
    return await this.#context.runtimePods.refresh(uid, { name, namespace });
  }

  /** Ends one container, so that it is started again or stays ended. */
  async container(
    pod: Pod,
    runtimePod: RuntimePod,
    status: ContainerStatus,
    because: { reason: string; message: string },
  ): Promise<void> {
    const { runtime, runtimePods, clock } = this.#context;
    if (status.state === "created") {
      // An agent made it and ended before it started it: it never ran, and containerd does not stop such a container.
      await runtime.removeContainer(status.id);
      runtimePods.markDirty(pod.metadata.uid ?? "");
      return;
    }
    const container = findContainer(pod, status.name)?.container;
    const probe =
      because.reason === "liveness"
        ? container?.livenessProbe
        : because.reason === "startup"
          ? container?.startupProbe
          : undefined;
    const seconds =
      probe?.terminationGracePeriodSeconds ??
      pod.spec.terminationGracePeriodSeconds ??
      defaultGraceSeconds;
    const deadlineMs = clock.monotonic() + seconds * 1000;
    await endContainer(this.#context, pod, status, runtimePod, {
      remainingSeconds: () =>
        Math.max(0, (deadlineMs - clock.monotonic()) / 1000),
      message: because.message,
    });
  }

  async sandboxes(pod: Pod, runtimePod: RuntimePod): Promise<void> {
    await stopSandboxes(this.#context.runtime, runtimePod);
    this.#context.runtimePods.markDirty(pod.metadata.uid ?? "");
  }
}
