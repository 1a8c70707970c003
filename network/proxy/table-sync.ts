// Brings one family's table in step with its ruleset: the whole at first and after trouble, then changes, one transaction
// at a time. A transaction that fails leaves the old rules in place and is followed by the whole, with back-off.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { RunNft } from "../nft/nft-command.ts";
import type { Ruleset } from "./ruleset.ts";

const baseBackoffMs = 100;
const longestBackoffMs = 10_000;

interface TableSyncOptions {
  ruleset: Ruleset;
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

  constructor(options: TableSyncOptions) {
    this.#options = options;
  }

  /** The kernel has what was asked for last. */
  get inStep(): boolean {
    return this.#inStep && !this.#due && this.#running === undefined;
  }

  /** Something changed in the ruleset; `whole`: or in the kernel, which gets everything again. */
  request(whole = false): void {
    if (whole) this.#whole = true;
    this.#due = true;
    this.#retry?.cancel();
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry?.cancel();
    await this.#running;
  }

  async #loop(): Promise<void> {
    // What comes in this turn of the loop goes into one transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#due && !this.#stopped) {
      this.#due = false;
      const { ruleset, run, clock, logger, onBegin, onDone } = this.#options;
      const started = clock.monotonic();
      onBegin();
      const script = this.#whole
        ? ruleset.wholeScript()
        : ruleset.changeScript();
      if (script === "") {
        onDone(clock.monotonic() - started, false);
        continue;
      }
      // Asked for again while this one runs, the whole is written once more: it may have been deleted again.
      this.#whole = false;
      try {
        await run(script);
        this.#failures = 0;
        this.#inStep = true;
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
          { err: error, table: ruleset.table, retryInMs: delayMs },
          "the service rules could not be written; the old ones stay",
        );
        this.#due = false;
        this.#retry = clock.after(delayMs, () => this.request());
        return;
      }
    }
  }
}
