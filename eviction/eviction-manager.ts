// Ends pods when the node runs short. The signals are read once a second, which takes well below a millisecond, so that
// a crossing is noticed within two. Under pressure at most one pod ends at a time, the first by rank, and the next only
// after it has given back what it held: a storm of evictions frees more than is needed. Disk space is first sought among
// unused images. Pods above their own disk limits end whether the node is short or not (storage-limit-watch.ts). The
// pod's object stays, Failed with reason Evicted.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";
import {
  garbageOn,
  isApart,
  shareOn,
  type DiskLayout,
  type Garbage,
} from "./disk-layout.ts";
import { evictionMessage, starvedBy } from "./message.ts";
import { noUsage, type EvictablePod, type PodUsage } from "./pod-usage.ts";
import { PressureState, type NodePressure } from "./pressure-state.ts";
import { rankForEviction, type Starved } from "./ranking.ts";
import type { SignalName, Signals } from "./signals.ts";
import { StorageLimitWatch } from "./storage-limit-watch.ts";
import { thresholdsMet, type Threshold } from "./thresholds.ts";

export interface Eviction {
  readonly message: string;
  readonly graceSeconds: number;
  /** Of the Event about it. */
  readonly annotations: Record<string, string>;
  /** The node was short; otherwise the pod was above a limit of its own. */
  readonly disruption: boolean;
}

interface EvictionManagerOptions {
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriodMs: number;
  /** Longest grace of an eviction for a soft threshold; below 0: the pod's own. */
  readonly maxPodGraceSeconds: number;
  /** Pods are held to their own disk limits. */
  readonly localStorageLimits: boolean;
  /** Those that run, or will; not those that are ending. */
  readonly pods: () => readonly EvictablePod[];
  /** What these pods use; with `disk` their volumes and logs too, which takes reading directories. */
  readonly usage: (
    pods: readonly Pod[],
    disk: boolean,
  ) => Promise<ReadonlyMap<string, PodUsage>>;
  readonly reclaimDisk: (garbage: Garbage) => Promise<void>;
  readonly readSignals: () => Promise<Signals>;
  readonly diskLayout: () => DiskLayout;
  readonly evict: (pod: Pod, eviction: Eviction) => void;
  /** Whether nothing of the pod runs any more. */
  readonly isEnded: (uid: string) => boolean;
  readonly onChange: (pressure: NodePressure) => void;
  /** The pod still runs something, long after its grace. */
  readonly onOverdue: (pod: Pod) => void;
  /** Records an Event about the node. */
  readonly onReclaim: (message: string) => void;
  /** The signal, or the limit: for metrics. */
  readonly onEviction: (signal: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = 1000;
/** After nothing could be done about a signal, so long until the next attempt. */
const retryMs = 10_000;
/** The next pod ends after this time even if the one before is still there. */
const endPatienceMs = 30_000;
/** Hardly any time is left to a pod under a hard threshold: the node needs what it holds. */
const hardGraceSeconds = 1;
/** Of a pod that says nothing. */
const defaultGraceSeconds = 30;

export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #state: PressureState;
  readonly #limits: StorageLimitWatch | undefined;
  readonly #retryAtMs = new Map<SignalName, number>();
  #pressure: NodePressure = { memory: false, disk: false, pid: false };
  #ending: { pod: Pod; untilMs: number } | undefined;
  #acting = false;
  #failing = false;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#state = new PressureState(
      options.thresholds,
      options.transitionPeriodMs,
    );
    this.#limits = options.localStorageLimits
      ? new StorageLimitWatch({
          ...options,
          imagesApart: () => isApart(options.diskLayout()),
          end: (pod, { message, limit }) => {
            this.#end(pod, {
              message,
              graceSeconds: hardGraceSeconds,
              annotations: {},
              disruption: false,
            });
            options.onEviction(limit);
          },
        })
      : undefined;
  }

  start(): void {
    this.#limits?.start();
    this.#lookAgain();
  }

  #lookAgain(): void {
    const { clock } = this.#options;
    void this.look().finally(() => {
      if (!this.#stopped)
        this.#timer = clock.after(lookEveryMs, () => this.#lookAgain());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#limits?.stop();
  }

  /** One look, and what follows of it unless that of an earlier one still goes on. Never rejects. */
  async look(): Promise<void> {
    const { readSignals, clock, logger } = this.#options;
    try {
      const signals = await readSignals();
      const { pressure, due } = this.#state.observe(signals, clock.monotonic());
      this.#report(pressure, due);
      if (this.#acting || this.#stopped) return;
      this.#acting = true;
      await this.#act(due, signals).finally(() => (this.#acting = false));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) logger.warn({ err: error }, "eviction failed");
      this.#failing = true;
    }
  }

  #report(pressure: NodePressure, due: readonly Threshold[]): void {
    const before = this.#pressure;
    this.#pressure = pressure;
    if (
      pressure.memory === before.memory &&
      pressure.disk === before.disk &&
      pressure.pid === before.pid
    )
      return;
    const signals = due.map(({ signal }) => signal);
    this.#options.logger.warn(
      { pressure, due: signals },
      "the node's pressure changed",
    );
    this.#options.onChange(pressure);
  }

  async #act(due: readonly Threshold[], signals: Signals): Promise<void> {
    const nowMs = this.#options.clock.monotonic();
    if (this.#waitsForEnd(nowMs)) return;
    const threshold = due.find(
      ({ signal }) => nowMs >= (this.#retryAtMs.get(signal) ?? 0),
    );
    if (!threshold) return;
    if (!(await this.#relieve(threshold, signals)))
      this.#retryAtMs.set(threshold.signal, nowMs + retryMs);
  }

  #waitsForEnd(nowMs: number): boolean {
    const { isEnded, onOverdue } = this.#options;
    const ending = this.#ending;
    if (ending && !isEnded(ending.pod.metadata.uid ?? "")) {
      if (nowMs < ending.untilMs) return true;
      onOverdue(ending.pod);
    }
    this.#ending = undefined;
    return false;
  }

  /** Whether a pod was ended, or the threshold is no longer met. */
  async #relieve(threshold: Threshold, signals: Signals): Promise<boolean> {
    const { reclaimDisk, readSignals, onReclaim, thresholds, diskLayout } =
      this.#options;
    const starved = starvedBy(threshold.signal);
    onReclaim(`Attempting to reclaim ${starved}`);
    const garbage = garbageOn(threshold.signal, diskLayout());
    if (garbage.containers || garbage.images) {
      await reclaimDisk(garbage);
      const now = await readSignals();
      if (thresholdsMet(thresholds, now, true).length === 0) return true;
    }
    // The message says what was short, also where another threshold is what is left.
    return await this.#evictFor(threshold, signals);
  }

  async #evictFor(threshold: Threshold, signals: Signals): Promise<boolean> {
    const { pods, usage, diskLayout, onEviction, logger } = this.#options;
    const { signal } = threshold;
    const starved = starvedBy(signal);
    const candidates = pods();
    const used = await usage(
      candidates.map(({ pod }) => pod),
      starvedOfDisk(starved),
    );
    if (!starvedOfDisk(starved) && (await this.#isOver(threshold))) return true;
    const victim = rankForEviction(
      candidates,
      used,
      starved,
      shareOn(signal, diskLayout()),
    )[0];
    if (!victim) {
      logger.warn({ signal }, "under pressure, but no pod may be ended");
      return false;
    }
    const { pod } = victim;
    const usageOf = used.get(pod.metadata.uid ?? "") ?? noUsage;
    this.#end(pod, {
      ...evictionMessage(pod, usageOf, threshold, signals),
      graceSeconds: this.#graceSeconds(pod, threshold),
      disruption: true,
    });
    onEviction(signal);
    return true;
  }

  /**
   * Reading what pods use may take minutes where memory is short, and the kernel may have ended the one that took it
   * meanwhile: no other goes for what is no longer so.
   */
  async #isOver(threshold: Threshold): Promise<boolean> {
    const now = await this.#options.readSignals();
    return thresholdsMet([threshold], now, true).length === 0;
  }

  #graceSeconds(pod: Pod, { graceMs }: Threshold): number {
    if (graceMs === 0) return hardGraceSeconds;
    const own = pod.spec.terminationGracePeriodSeconds;
    const most = this.#options.maxPodGraceSeconds;
    if (most < 0) return own ?? defaultGraceSeconds;
    return own === undefined ? most : Math.min(most, own);
  }

  #end(pod: Pod, eviction: Eviction): void {
    const { evict, clock } = this.#options;
    evict(pod, eviction);
    this.#ending = {
      pod,
      untilMs: clock.monotonic() + endPatienceMs + eviction.graceSeconds * 1000,
    };
  }
}

const starvedOfDisk = (starved: Starved): boolean =>
  starved === "ephemeral-storage" || starved === "inodes";
