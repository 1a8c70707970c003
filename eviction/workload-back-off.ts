// Keeps a workload whose pods are refused for the node's pressure from filling the cluster with failed pods: its
// controller replaces each of them at once. After a few refusals the next pod of the same controller is held instead,
// longer and longer, and may run when the pressure is over.
// Worked example: a ReplicaSet bound to a full node: three pods are refused at once, then one after 5 s, 10 s, 20 s … and
// at last one every five minutes; ten minutes without a refusal forget all of it.
import type { Clock } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";

const refusedAtOnce = 3;
const firstDelayMs = 5_000;
const longestDelayMs = 300_000;
const forgottenAfterMs = 600_000;
/** Held pods look again this often: the pressure may be over. */
const lookEveryMs = 10_000;
/** Of the workloads that are remembered those without a refusal for longest go first. */
const maximumWorkloads = 1000;

interface Refusals {
  count: number;
  lastMs: number;
}

export class WorkloadBackOff {
  readonly #clock: Clock;
  readonly #refused = new Map<string, Refusals>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the pod may ask again; 0: it is refused now, which counts. */
  hold(pod: Pod): number {
    const workload = pod.metadata.ownerReferences?.find(
      ({ controller }) => controller,
    )?.uid;
    // A pod by itself is replaced by no controller.
    if (workload === undefined) return 0;
    const nowMs = this.#clock.monotonic();
    const { count, lastMs } = this.#of(workload, nowMs);
    const delayMs =
      count < refusedAtOnce
        ? 0
        : Math.min(
            longestDelayMs,
            firstDelayMs * 2 ** Math.min(count - refusedAtOnce, 10),
          );
    const leftMs = lastMs + delayMs - nowMs;
    if (leftMs > 0) return Math.min(leftMs, lookEveryMs);
    this.#refused.delete(workload);
    this.#refused.set(workload, { count: count + 1, lastMs: nowMs });
    for (const oldest of this.#refused.keys()) {
      if (this.#refused.size <= maximumWorkloads) break;
      this.#refused.delete(oldest);
    }
    return 0;
  }

  #of(workload: string, nowMs: number): Refusals {
    const found = this.#refused.get(workload);
    return found && nowMs - found.lastMs < forgottenAfterMs
      ? found
      : { count: 0, lastMs: nowMs };
  }
}
