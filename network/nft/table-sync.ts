// Brings one table in step with what it is written from: the whole at first and after trouble, then changes, one transaction
// at a time. A transaction that fails leaves the old rules in place and is followed by the whole, with back-off.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { RunNft } from "./nft-command.ts";
import type { TableScripts } from "./table-objects.ts";

const baseBackoffMs = 100;
const longestBackoffMs = 10_000;

interface TableSyncOptions {
  scripts: TableScripts;
  /** For messages, such as `service rules`. */
  what: string;
  run: RunNft;
  clock: Clock;
  logger: Logger;
  /** Before each transaction, which will have all changes so far. */
  onBegin: () => void;
  /** After each transaction, one that has nothing to change included: how long it took, and whether it failed. */
  onDone: (durationMs: number, failed: boolean) => void;
}

export class TableSync {
  readonly #options: TableSyncOptions;
  #whole = true;
  #due = false;
  #running: Promise<void> | undefined;
  #failures = 0;
  #retry: Timer | undefined;
  #stopped = false;
  #inStep = false;
  /** Since when the kernel lacks something that was asked for, on the monotonic clock. */
  #behindSince: number | undefined;

  constructor(options: TableSyncOptions) {
    this.#options = options;
  }

  /** The kernel has what was asked for last. */
  get inStep(): boolean {
    return this.#inStep && !this.#due && this.#running === undefined;
  }

  /** For how long the kernel has lacked something that was asked for, in milliseconds; each transaction that succeeds begins it again. */
  get behindMs(): number {
    return this.#behindSince === undefined
      ? 0
      : this.#options.clock.monotonic() - this.#behindSince;
  }

  /** Something changed in the scripts; `whole`: or in the kernel, which gets everything again. */
  request(whole = false): void {
    if (whole) this.#whole = true;
    this.#due = true;
    this.#behindSince ??= this.#options.clock.monotonic();
    this.#retry?.cancel();
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined;
      // Asked for after the loop had ended and before it was known.
      if (this.#due && !this.#stopped) this.request();
    });
  }

  /** Resolves when all that was asked for was tried: whether the kernel has it. */
  async settled(): Promise<boolean> {
    while (this.#running) await this.#running;
    return this.inStep;
  }

  /** Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry?.cancel();
    await this.#running;
  }

  #succeeded(): void {
    this.#behindSince = this.#due ? this.#options.clock.monotonic() : undefined;
  }

  async #loop(): Promise<void> {
    // What comes in this turn of the loop goes into one transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#due && !this.#stopped) {
      this.#due = false;
      const { scripts, what, run, clock, logger, onBegin, onDone } =
        this.#options;
      const started = clock.monotonic();
      onBegin();
      const script = this.#whole
        ? scripts.wholeScript()
        : scripts.changeScript();
      if (script === "") {
        this.#succeeded();
        onDone(clock.monotonic() - started, false);
        continue;
      }
      // Asked for again while this one runs, the whole is written once more: it may have been deleted again.
      this.#whole = false;
      try {
        await run(script);
        this.#failures = 0;
        this.#inStep = true;
        this.#succeeded();
        onDone(clock.monotonic() - started, false);
      } catch (error) {
        this.#whole = true;
        this.#inStep = false;
        onDone(clock.monotonic() - started, true);
        const delayMs = backoffMs(
          { baseMs: baseBackoffMs, maxMs: longestBackoffMs },
          this.#failures++,
        );
        logger.error(
          { err: error, table: scripts.table, retryInMs: delayMs },
          `the ${what} could not be written; the old ones stay`,
        );
        this.#due = false;
        this.#retry = clock.after(delayMs, () => this.request());
        return;
      }
    }
  }
}
