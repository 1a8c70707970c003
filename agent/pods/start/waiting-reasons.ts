// Why each container of one pod does not run, as its waiting state shows it, and how long the pod waits before a container
// that could not be started is tried again.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { WaitingReason } from "../../status/container-statuses.ts";
import { podDescription } from "../shape/labels.ts";
import type { WaitingError } from "../../images/image-manager.ts";
import { StartFailures } from "./start-failures.ts";

export class WaitingReasons {
  readonly #reasons = new Map<string, WaitingReason>();
  readonly #failures = new StartFailures();

  /** By container name. */
  get reasons(): ReadonlyMap<string, WaitingReason> {
    return this.#reasons;
  }

  started(container: string): void {
    this.#reasons.delete(container);
    this.#failures.succeeded(container);
  }

  /** @returns milliseconds until the next try */
  failed(container: string, error: WaitingError): number {
    const { reason, message } = error;
    this.#reasons.set(container, { reason, message });
    return error.retryAfterMs ?? this.#failures.failed(container);
  }

  /** The containers that wait for their back-off now; each one new among them gets an event. */
  backingOff(
    pod: Pod,
    waiting: readonly { container: Container; delayMs: number }[],
    events: Pick<PodEvents, "container">,
  ): void {
    const names = new Set(waiting.map(({ container }) => container.name));
    for (const [name, { reason }] of this.#reasons)
      if (reason === "CrashLoopBackOff" && !names.has(name))
        this.#reasons.delete(name);
    const description = podDescription(pod);
    for (const { container, delayMs } of waiting) {
      const { name } = container;
      if (this.#reasons.get(name)?.reason !== "CrashLoopBackOff")
        events.container(
          pod,
          name,
          "Warning",
          "BackOff",
          `Back-off restarting failed container ${name} in pod ${description}`,
        );
      this.#reasons.set(name, {
        reason: "CrashLoopBackOff",
        message: `back-off ${formatDelay(delayMs)} restarting failed container=${name} pod=${description}`,
      });
    }
  }

  clear(): void {
    this.#reasons.clear();
  }
}

/** 10s, 1m20s, 5m0s: as Go prints durations. */
function formatDelay(delayMs: number): string {
  const seconds = Math.round(delayMs / 1000);
  return seconds < 60
    ? `${seconds}s`
    : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
