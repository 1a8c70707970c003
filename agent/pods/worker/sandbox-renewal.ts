// When a pod's sandbox that can't be used any more is replaced: the first time at once, then 1 s, 2 s, 4 s … 5 minutes after
// each that ended too; one that held for ten minutes starts over. A try that failed counts as one that ended. Before that
// the dead one is stopped, which gives its address back, and older dead ones are removed: only the newest is kept, as at
// the reference, because the next attempt is counted from it.
// Worked example: made at t=0, dead at 1: replaced at once. Dead at 2: replaced at 3. Dead at 4: replaced at 6. Dead at
// 700: replaced at once.
import type { Clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import { BackOff } from "../../pacing/back-off.ts";
import type { DeadContainers } from "../clean/dead-containers.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";

interface RenewedPod {
  pod: () => Pod;
  events: Pick<PodEvents, "pod">;
  /** Ends the pod's containers and stops its sandboxes. */
  kill: (runtimePod: RuntimePod) => Promise<void>;
  dead: Pick<DeadContainers, "removeSandboxes">;
  clock: Clock;
}

const initialMs = 1000;
const maximumMs = 300_000;
const heldMs = 600_000;
const key = "sandbox";

export class SandboxRenewal {
  readonly #of: RenewedPod;
  readonly #backOff = new BackOff(initialMs, maximumMs, heldMs);
  /** The sandbox that was found dead last, and when. */
  #ended: { id: string; atMs: number } | undefined;
  /** The one of them that was stopped. */
  #killed: string | undefined;

  constructor(of: RenewedPod) {
    this.#of = of;
  }

  /** Resolves to how long a new sandbox has to wait yet, 0: it may be made now, which then counts as a try. */
  async waitMs(runtimePod: RuntimePod): Promise<number> {
    const newest = runtimePod.sandboxes[0];
    if (!newest) return 0;
    const nowMs = this.#of.clock.monotonic();
    if (this.#ended?.id !== newest.id) {
      this.#ended = { id: newest.id, atMs: nowMs };
      this.#report(nowMs);
    }
    if (this.#killed !== newest.id) {
      await this.#of.kill(runtimePod);
      this.#killed = newest.id;
      await this.#of.dead.removeSandboxes(this.#of.pod(), runtimePod);
    }
    const { atMs } = this.#ended;
    const waitMs = this.#backOff.remainingMs(
      key,
      atMs,
      this.#of.clock.monotonic(),
    );
    if (waitMs > 0) return waitMs;
    this.#backOff.next(key, atMs, this.#of.clock.monotonic());
    return 0;
  }

  /** The try that waitMs() allowed made no sandbox. */
  failed(): void {
    if (this.#ended) this.#ended.atMs = this.#of.clock.monotonic();
  }

  #report(atMs: number): void {
    const { pod, events } = this.#of;
    events.pod(
      pod(),
      "Normal",
      "SandboxChanged",
      "Pod sandbox changed, it will be killed and re-created.",
    );
    const waitMs = this.#backOff.remainingMs(key, atMs, atMs);
    if (waitMs > 0)
      events.pod(
        pod(),
        "Warning",
        "FailedCreatePodSandBox",
        `Failed to create pod sandbox: the last one ended soon after it was made, back-off ${waitMs / 1000}s`,
      );
  }
}
