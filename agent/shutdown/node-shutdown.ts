// Ends the pods in order when the machine shuts down (shutdownGracePeriod… of KubeletConfiguration, the reference's node
// shutdown manager): a lock holds the shutdown up, pods of lower priority end first, each group within its period, then
// the lock is released. Meanwhile the node is not ready and takes no pods. Works only where there is a period.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { Backoff, sleep } from "../../api/queueing/backoff.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { ShutdownPeriod } from "../config/shutdown-period.ts";
import type { PodEvents } from "../events/pod-events.ts";
import {
  podGroups,
  totalSeconds,
  type PodGroup,
} from "../pods/shape/shutdown-groups.ts";
import type { EndRequest } from "../pods/worker/worker-state.ts";
import type {
  ShutdownLock,
  ShutdownSource,
  ShutdownWatch,
} from "./shutdown-source.ts";
import type { ShutdownTimes } from "./shutdown-times.ts";

interface NodeShutdownOptions {
  readonly periods: readonly ShutdownPeriod[];
  readonly source: ShutdownSource;
  /** Those that run, or will; not those that are over. */
  readonly pods: () => readonly Pod[];
  readonly endPod: (uid: string, request: EndRequest) => void;
  /** The machine shuts down, or not after all. */
  readonly onChange: (active: boolean) => void;
  readonly times: ShutdownTimes;
  readonly events: PodEvents;
  readonly clock: Clock;
  readonly logger: Logger;
}

const message = "Pod was terminated in response to imminent node shutdown.";
const lookEveryMs = 100;

export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  #active = false;
  #stopped = false;
  #lock: ShutdownLock | undefined;
  #watch: ShutdownWatch | undefined;
  #retry: Timer | undefined;
  readonly #retries = new Backoff({ baseMs: 1000, maxMs: 30_000 });

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.periods.length > 0) this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry?.cancel();
    this.#watch?.stop();
    this.#release();
  }

  #connect(): void {
    this.#listen().then(
      () => this.#retries.reset(),
      (error: unknown) => {
        this.#options.logger.error(
          { err: error },
          "can't watch for the machine's shutdown: pods would not end in order",
        );
        this.#again();
      },
    );
  }

  #again(): void {
    if (this.#stopped) return;
    this.#watch?.stop();
    this.#watch = undefined;
    this.#release();
    this.#retry = this.#options.clock.after(this.#retries.nextMs(), () =>
      this.#connect(),
    );
  }

  async #listen(): Promise<void> {
    const { source, periods } = this.#options;
    const neededMs = totalSeconds(periods) * 1000;
    if ((await source.maximumDelayMs()) < neededMs) {
      await source.raiseMaximumDelay(neededMs);
      const delayMs = await source.maximumDelayMs();
      if (delayMs < neededMs)
        throw new Error(
          `logind holds a shutdown up for ${delayMs / 1000} s at most, less than the ${neededMs / 1000} s of shutdownGracePeriod`,
        );
    }
    const watch = await source.watch(
      (active) => this.#changed(active),
      () => this.#again(),
    );
    if (this.#stopped) {
      watch.stop();
      return;
    }
    this.#watch = watch;
    await this.#takeLock();
  }

  async #takeLock(): Promise<void> {
    const lock = await this.#options.source.lock();
    this.#release();
    if (this.#stopped) lock.release();
    else this.#lock = lock;
  }

  #release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  #changed(active: boolean): void {
    const { events, onChange, logger } = this.#options;
    if (this.#stopped || active === this.#active) return;
    this.#active = active;
    const what = active ? "event" : "cancellation";
    logger.warn({ active }, "the machine's shutdown begins or is cancelled");
    events.node(
      "Normal",
      "Shutdown",
      `Shutdown manager detected shutdown ${what}`,
    );
    onChange(active);
    const work = active ? this.#endPods() : this.#takeLock();
    work.catch((error: unknown) =>
      logger.error({ err: error }, "a shutdown of the machine failed"),
    );
  }

  async #endPods(): Promise<void> {
    const { periods, pods, clock, logger, times } = this.#options;
    times.began(clock.now());
    try {
      for (const group of podGroups(periods, pods(), priorityOf)) {
        if (!this.#active || this.#stopped) return;
        logger.info(
          { pods: group.pods.length, graceSeconds: group.graceSeconds },
          "pods end because the machine shuts down",
        );
        await this.#endGroup(group);
      }
    } finally {
      times.ended(clock.now());
      // A shutdown that was cancelled meanwhile has a lock of its own.
      if (this.#active) this.#release();
    }
  }

  async #endGroup({ graceSeconds, pods }: PodGroup<Pod>): Promise<void> {
    const { endPod, clock } = this.#options;
    const own = new Set(pods.map(({ metadata }) => metadata.uid ?? ""));
    for (const { metadata, spec } of pods)
      endPod(metadata.uid ?? "", {
        graceSeconds: Math.min(
          graceSeconds,
          spec.terminationGracePeriodSeconds ?? 30,
        ),
        failure: { reason: "Terminated", message, disruption: true },
      });
    const untilMs = clock.monotonic() + graceSeconds * 1000;
    const some = (): boolean =>
      this.#options.pods().some(({ metadata }) => own.has(metadata.uid ?? ""));
    while (some() && clock.monotonic() < untilMs && !this.#stopped)
      await sleep(clock, lookEveryMs);
  }
}

function priorityOf({ spec }: Pod): number {
  return spec.priority ?? 0;
}
