// What the thresholds say over time: a condition comes at once and goes only after the transition period without a
// threshold of its kind being met, so that it does not flap; a soft threshold is due after its grace period; one that was
// due stays so until its minimum is given back. Pure but for what it remembers. The rules are the reference's.
import { isDiskSignal, type SignalName, type Signals } from "./signals.ts";
import { thresholdsMet, type Threshold } from "./thresholds.ts";

export interface NodePressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

interface Observation {
  readonly pressure: NodePressure;
  /** Thresholds that something has to be done about now, in the order in which signals go first. */
  readonly due: readonly Threshold[];
}

/** Memory goes first: without it nothing else gets done. */
const order: readonly SignalName[] = [
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
];

export class PressureState {
  readonly #thresholds: readonly Threshold[];
  readonly #transitionPeriodMs: number;
  /** Since when each threshold has been met without a break. */
  #firstMetMs = new Map<Threshold, number>();
  #due: readonly Threshold[] = [];
  readonly #lastMetMs = new Map<keyof NodePressure, number>();

  constructor(thresholds: readonly Threshold[], transitionPeriodMs: number) {
    this.#thresholds = thresholds;
    this.#transitionPeriodMs = transitionPeriodMs;
  }

  observe(signals: Signals, nowMs: number): Observation {
    const met = new Set([
      ...thresholdsMet(this.#thresholds, signals, false),
      ...thresholdsMet(this.#due, signals, true),
    ]);
    this.#firstMetMs = new Map(
      [...met].map((threshold) => [
        threshold,
        this.#firstMetMs.get(threshold) ?? nowMs,
      ]),
    );
    for (const { signal } of met) this.#lastMetMs.set(kindOf(signal), nowMs);
    this.#due = [...met]
      .filter(
        (threshold) =>
          nowMs - this.#firstMetMs.get(threshold)! >= threshold.graceMs,
      )
      .sort((a, b) => order.indexOf(a.signal) - order.indexOf(b.signal));
    return {
      pressure: {
        memory: this.#holds("memory", nowMs),
        disk: this.#holds("disk", nowMs),
        pid: this.#holds("pid", nowMs),
      },
      due: this.#due,
    };
  }

  #holds(kind: keyof NodePressure, nowMs: number): boolean {
    const sinceMs = this.#lastMetMs.get(kind);
    if (sinceMs === undefined) return false;
    return sinceMs === nowMs || nowMs - sinceMs < this.#transitionPeriodMs;
  }
}

function kindOf(signal: SignalName): keyof NodePressure {
  if (signal === "pid.available") return "pid";
  return isDiskSignal(signal) ? "disk" : "memory";
}
