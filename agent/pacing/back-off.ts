// Doubling delays by key, for restarts of containers and pulls of images: 10 s, 20 s … 5 min, forgotten after ten
// minutes without a failure. Worked example with restarts at key K: first crash at t=0: no entry, restarted at
// once, entry 10 s. Crash at t=3: delay runs from the crash, restarted at t=13, entry 20 s. A crash after 10 minutes of
// running starts over.
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { containerHash } from "../pods/shape/labels.ts";

/** The runtime rounds its times, and a clock is corrected by parts of a second. */
const toleranceMs = 1_000;

export class BackOff {
  readonly #entries = new Map<
    string,
    { delayMs: number; updatedAtMs: number }
  >();

  constructor(
    readonly initialMs = 10_000,
    readonly maximumMs = 300_000,
    /** Without a failure for so long a key starts over. */
    readonly forgottenAfterMs = 2 * maximumMs,
  ) {}

  /**
   * Milliseconds to wait yet when the last failure was at sinceMs; 0 when it may be tried now. A failure in the future is
   * of a clock that was set back since: nothing waits until that clock comes again, which may take a day.
   */
  remainingMs(key: string, sinceMs: number, nowMs: number): number {
    const entry = this.#current(key, sinceMs);
    if (!entry || nowMs < sinceMs - toleranceMs) return 0;
    return Math.max(0, sinceMs + entry.delayMs - nowMs);
  }

  delayMs(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  /** Records a try whose predecessor failed at sinceMs: the next one waits twice as long. */
  next(key: string, sinceMs: number, nowMs: number): void {
    const entry = this.#current(key, sinceMs);
    const delayMs = entry
      ? Math.min(entry.delayMs * 2, this.maximumMs)
      : this.initialMs;
    this.#entries.set(key, { delayMs, updatedAtMs: nowMs });
    if (this.#entries.size > 4096) this.#collect(nowMs);
  }

  reset(key: string): void {
    this.#entries.delete(key);
  }

  resetPrefix(prefix: string): void {
    for (const key of this.#entries.keys())
      if (key.startsWith(prefix)) this.#entries.delete(key);
  }

  #current(key: string, sinceMs: number): { delayMs: number } | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    return sinceMs - entry.updatedAtMs > this.forgottenAfterMs
      ? undefined
      : entry;
  }

  #collect(nowMs: number): void {
    for (const [key, entry] of this.#entries)
      if (nowMs - entry.updatedAtMs > this.forgottenAfterMs)
        this.#entries.delete(key);
  }
}

/** Restarts of one container of one pod. */
export function backOffKey(pod: Pod, container: Container): string {
  return `${pod.metadata.uid ?? ""}/${container.name}/${containerHash(container)}`;
}
