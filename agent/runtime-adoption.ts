// Takes up what the container runtime runs: reads it whole at start, trying until it answers, and only then lets pods have
// workers, so that none is started twice. Later it is read again at intervals and when it comes back, as the safety net
// below all events.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import type { PodWorkers } from "./pods/worker/pod-workers.ts";
import type { MirrorPods } from "./reporting/mirror-pods.ts";
import type { PodSources } from "./sources/pod-sources.ts";

interface RuntimeAdoptionOptions {
  runtimePods: Pick<RuntimePods, "start" | "relist" | "uids">;
  workers: Pick<PodWorkers, "open" | "isOpen" | "wakeAll">;
  sources: Pick<PodSources, "complete" | "endOrphans">;
  /** Which mirrors may go depends on what the runtime runs. */
  mirrors: Pick<MirrorPods, "reconcile"> | undefined;
  /** A pod that runs already counts as admitted. */
  admission: { adopt(uids: Iterable<string>): void };
  housekeeping: Pick<Housekeeping, "sweep">;
  resyncEveryMs: number;
  clock: Clock;
  logger: Logger;
}

const retryMs = 1000;
const firstResyncMs = 5000;

export class RuntimeAdoption {
  readonly #options: RuntimeAdoptionOptions;
  #retryTimer: Timer | undefined;
  #resyncTimer: Timer | undefined;
  #stopped = false;

  constructor(options: RuntimeAdoptionOptions) {
    this.#options = options;
  }

  /** Resolves after the first try, whether or not the runtime answered. */
  async start(): Promise<void> {
    const { runtimePods, workers, sources, mirrors } = this.#options;
    const { admission, clock, logger } = this.#options;
    if (this.#stopped) return;
    try {
      await runtimePods.start();
    } catch (error) {
      logger.warn({ err: error }, "the container runtime does not answer");
      this.#retryTimer = clock.after(retryMs, () => void this.start());
      return;
    }
    admission.adopt(runtimePods.uids());
    workers.open();
    if (this.#stopped) return;
    sources.endOrphans();
    mirrors?.reconcile();
  }

  /** @param afterMs soon at first: what pods left that ended while no agent ran goes then */
  startResync(afterMs = firstResyncMs): void {
    const { clock, resyncEveryMs } = this.#options;
    if (this.#stopped) return;
    this.#resyncTimer = clock.after(afterMs, () => {
      this.startResync(resyncEveryMs);
      this.resync();
    });
  }

  resync(): void {
    const { runtimePods, workers, sources, mirrors } = this.#options;
    const { housekeeping, logger } = this.#options;
    if (!workers.isOpen || this.#stopped) return;
    runtimePods.relist().then(
      () => {
        workers.wakeAll();
        sources.endOrphans();
        mirrors?.reconcile();
        if (sources.complete) housekeeping.sweep();
      },
      (error: unknown) =>
        logger.warn({ err: error }, "can't list the runtime's pods"),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#retryTimer?.cancel();
    this.#resyncTimer?.cancel();
  }
}
