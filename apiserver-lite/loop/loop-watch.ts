// Finds the requests that hold the event loop. Code that starts to work for a request reports that; until the next such
// report, or the end of the loop's turn, the time is that request's; of the last one of a turn the log says that it may also
// be what came after it. A request that took longer than the limit is counted and logged with its path, ten of them at once
// and then one each ten seconds, unless the process was not running meanwhile: on a busy machine that is no request's doing.
// Node measures the loop's own delay beside it, for everything this process does.
//
// Invariants: costs a clock reading where work starts and one immediate a turn; an idle loop is not woken by it.
import { monitorEventLoopDelay, type IntervalHistogram } from "node:perf_hooks";
import type { Logger } from "pino";
import { systemClock } from "../../api/clock.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";

/** For whom the loop works. */
export interface LoopWork {
  readonly method: string;
  /** The path, which is logged, with or without a query, which is not: it may hold secrets. */
  readonly url: string;
  /** Whose it is: tenants take turns. */
  readonly tenant?: string | undefined;
}

interface LoopDelay {
  readonly quantiles: readonly (readonly [quantile: number, seconds: number])[];
  readonly maxSeconds: number;
  /** Of all samples since the start. */
  readonly sumSeconds: number;
  readonly count: number;
}

const defaultLimitMs = 50;
/** Of a path in the log: paths are the client's. */
const maxPathLength = 256;
/**
 * How often the delay is sampled, by a timer below JavaScript: each 20 ms this took 0.18 % of a core of an idle process,
 * each 50 ms 0.07. A turn that is longer is always seen, and reported at most this much shorter than it was.
 */
const resolutionMs = 50;
/** Less than a request may take: what was used before its turn counts as well. */
const readEveryMs = 20;
/** Lines of the log at once, and a second: on an overloaded machine every request holds the loop. */
const logBurst = 10;
const logsPerSecond = 0.1;

/** Of all threads of the process: there is no cheap reading of one thread's. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export class LoopWatch {
  /** Requests that held the loop longer than the limit. */
  held = 0;
  #who: LoopWork | undefined;
  #sinceMs = 0;
  /** What the process had used a moment before the turn began, and when that was read: reading it takes some microseconds. */
  #usedMs = 0;
  #usedReadMs = -Infinity;
  #armed = false;
  readonly #delay: IntervalHistogram;
  #sumSeconds = 0;
  #count = 0;
  #notLogged = 0;
  #logsFromMs = -Infinity;
  readonly #lines: TokenBucket;

  constructor(
    private readonly logger: Pick<Logger, "warn">,
    private readonly limitMs = defaultLimitMs,
    private readonly clock = systemClock,
    private readonly processor: () => number = processorMs,
  ) {
    this.#lines = new TokenBucket(clock, logsPerSecond, logBurst);
    this.#delay = monitorEventLoopDelay({ resolution: resolutionMs });
  }

  /** @param warmUpMs so long what holds the loop is counted and not logged */
  start(warmUpMs = 0): void {
    this.#delay.enable();
    this.#logsFromMs = this.clock.monotonic() + warmUpMs;
  }

  stop(): void {
    this.#delay.disable();
  }

  /** From here on the loop works for `who`. @param nowMs performance.now() */
  enter(who: LoopWork, nowMs = performance.now()): void {
    if (this.#armed) this.#settle(nowMs);
    else {
      this.#armed = true;
      if (nowMs - this.#usedReadMs > readEveryMs) {
        this.#usedMs = this.processor();
        this.#usedReadMs = nowMs;
      }
      setImmediate(this.#turnOver);
    }
    this.#who = who;
    this.#sinceMs = nowMs;
  }

  /** Quantiles and the longest since it was last asked for. */
  takeDelay(): LoopDelay {
    const seconds = (nanoseconds: number): number =>
      Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3);
    const delay = this.#delay;
    const { count } = delay;
    this.#count += count;
    if (count > 0) this.#sumSeconds += count * seconds(delay.mean);
    const taken = {
      quantiles: [0.5, 0.9, 0.99].map(
        (quantile) =>
          [
            quantile,
            count === 0 ? 0 : seconds(delay.percentile(quantile * 100)),
          ] as const,
      ),
      maxSeconds: count === 0 ? 0 : seconds(delay.max),
      sumSeconds: this.#sumSeconds,
      count: this.#count,
    };
    delay.reset();
    return taken;
  }

  readonly #turnOver = (): void => {
    this.#armed = false;
    this.#settle(performance.now(), true);
    this.#who = undefined;
  };

  #settle(nowMs: number, last = false): void {
    if (nowMs - this.#sinceMs <= this.limitMs || !this.#who) return;
    const heldMs = Math.min(
      nowMs - this.#sinceMs,
      this.processor() - this.#usedMs,
    );
    if (heldMs <= this.limitMs) return;
    this.held++;
    if (this.clock.monotonic() < this.#logsFromMs) return;
    if (!this.#lines.tryTake()) {
      this.#notLogged++;
      return;
    }
    const { method, url } = this.#who;
    this.logger.warn(
      {
        method,
        path: url.slice(0, maxPathLength).split("?", 1)[0],
        heldMs: Math.round(heldMs),
        ...(this.#notLogged > 0 && { notLogged: this.#notLogged }),
      },
      last
        ? "a request, or what came after it, held the event loop"
        : "a request held the event loop",
    );
    this.#notLogged = 0;
  }
}
