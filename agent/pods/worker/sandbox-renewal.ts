// When a pod's sandbox that can't be used any more is replaced: the first time at once, then 1 s, 2 s, 4 s … 5 minutes after
// each that ended too; one that held for ten minutes starts over. A try that makes none is repeated as any failed pass is.
// Before that the dead one is stopped, which gives its address back, and older dead ones are removed: only the newest is
// kept, as at the reference, because the next attempt is counted from it.
// Worked example: dead at t=1: replaced at once. Dead at 2: replaced at 3. Dead at 4: replaced at 6. Dead at 700: replaced at
// once.
import type { Clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
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

export class SandboxRenewal {
  readonly #of: RenewedPod;
  /** The sandbox that was found dead last, when, and how long its replacement waits. */
  #ended: { id: string; atMs: number; delayMs: number } | undefined;
  #replacedAtMs: number | undefined;
  /** The one that was stopped. */
  #killed: string | undefined;

  constructor(of: RenewedPod) {
    this.#of = of;
  }

  /** Resolves to how long a new sandbox has to wait yet; 0: it may be made now. */
  async waitMs(runtimePod: RuntimePod): Promise<number> {
    const { clock, kill, dead, pod } = this.#of;
    const newest = runtimePod.sandboxes[0];
    if (!newest) return 0;
    if (this.#ended?.id !== newest.id) this.#noteEnd(newest.id);
    if (this.#killed !== newest.id) {
      await kill(runtimePod);
      this.#killed = newest.id;
      await dead.removeSandboxes(pod(), runtimePod);
    }
    const { atMs, delayMs } = this.#ended!;
    const nowMs = clock.monotonic();
    const waitMs = Math.max(0, atMs + delayMs - nowMs);
    if (waitMs === 0) this.#replacedAtMs = nowMs;
    return waitMs;
  }

  #noteEnd(id: string): void {
    const { pod, events, clock } = this.#of;
    const atMs = clock.monotonic();
    const last = this.#ended?.delayMs ?? 0;
    const delayMs =
      this.#replacedAtMs === undefined || atMs - this.#replacedAtMs > heldMs
        ? 0
        : Math.min(maximumMs, last === 0 ? initialMs : 2 * last);
    this.#ended = { id, atMs, delayMs };
    events.pod(
      pod(),
      "Normal",
      "SandboxChanged",
      "Pod sandbox changed, it will be killed and re-created.",
    );
    if (delayMs > 0)
      events.pod(
        pod(),
        "Warning",
        "FailedCreatePodSandBox",
        `Failed to create pod sandbox: the last one ended soon after it was made, back-off ${delayMs / 1000}s`,
      );
  }
}
