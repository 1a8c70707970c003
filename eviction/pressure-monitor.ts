// Watches the signals and says which kinds of pressure the node is under. A condition comes at once and goes only after
// the transition period without its threshold being crossed, so that it does not flap. Ending pods under pressure is the
// eviction manager's, which gets the signals of each look.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import {
  crossed,
  readSignals,
  type SignalName,
  type SignalPaths,
  type Signals,
} from "./signals.ts";

export interface NodePressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

interface PressureMonitorOptions {
  thresholds: Readonly<Record<string, string>>;
  transitionPeriodMs: number;
  paths: () => SignalPaths;
  /** Replaced in tests. */
  read?: (paths: SignalPaths) => Promise<Signals>;
  clock: Clock;
  logger: Logger;
  onChange: (pressure: NodePressure) => void;
  /** At each look, under pressure or not. */
  onSignals?: (signals: Signals) => void;
}

const periodMs = 10_000;

export class PressureMonitor {
  readonly #options: PressureMonitorOptions;
  /** Kind → when its threshold was last crossed. */
  readonly #lastCrossedMs = new Map<keyof NodePressure, number>();
  #pressure: NodePressure = { memory: false, disk: false, pid: false };
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: PressureMonitorOptions) {
    this.#options = options;
  }

  get pressure(): NodePressure {
    return this.#pressure;
  }

  start(): void {
    void this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const {
      paths,
      read = readSignals,
      thresholds,
      clock,
      logger,
    } = this.#options;
    try {
      const signals = await read(paths());
      this.#update(crossed(signals, thresholds));
      this.#options.onSignals?.(signals);
    } catch (error) {
      logger.warn({ err: error }, "can't read the node's resource signals");
    }
    if (!this.#stopped)
      this.#timer = clock.after(periodMs, () => void this.#look());
  }

  #update(found: readonly SignalName[]): void {
    const nowMs = this.#options.clock.monotonic();
    for (const signal of found) this.#lastCrossedMs.set(kindOf(signal), nowMs);
    const holds = (kind: keyof NodePressure): boolean => {
      const sinceMs = this.#lastCrossedMs.get(kind);
      if (sinceMs === undefined) return false;
      return (
        sinceMs === nowMs || nowMs - sinceMs < this.#options.transitionPeriodMs
      );
    };
    const next = {
      memory: holds("memory"),
      disk: holds("disk"),
      pid: holds("pid"),
    };
    const before = this.#pressure;
    this.#pressure = next;
    if (
      next.memory === before.memory &&
      next.disk === before.disk &&
      next.pid === before.pid
    )
      return;
    this.#options.logger.warn(
      { pressure: next, crossed: found },
      "the node's pressure changed",
    );
    this.#options.onChange(next);
  }
}

function kindOf(signal: SignalName): keyof NodePressure {
  if (signal.startsWith("memory.")) return "memory";
  return signal.startsWith("pid.") ? "pid" : "disk";
}
