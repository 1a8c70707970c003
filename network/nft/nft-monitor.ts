// Follows what others delete: `nft monitor` reports each transaction and then the process that made it, so that a flush by
// hand or a firewall's reload is noticed at once, without looking at the rules again and again. Our own processes learn from
// it that their transaction is in the kernel.
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { endingWithUs } from "../ending-program.ts";
import type { OwnProcesses } from "./own-processes.ts";

const restartMs = 1000;

interface NftMonitorOptions {
  /** What they change is no change of others. */
  processes: OwnProcesses;
  /** The tables that are followed, such as `ip orbit-proxy`. */
  tables: readonly string[];
  /** Some of the tables' objects may be gone. Also called when the monitor had to be started again. */
  onDeleted: () => void;
  clock: Clock;
  logger: Logger;
  /** As nftCommand's. */
  wrapper?: readonly string[];
}

export class NftMonitor {
  readonly #options: NftMonitorOptions;
  #child: ChildProcess | undefined;
  #restart: Timer | undefined;
  #stopped = false;

  constructor(options: NftMonitorOptions) {
    this.#options = options;
  }

  start(): void {
    const { tables, processes, onDeleted, clock, logger } = this.#options;
    processes.monitored();
    const [program = "", ...words] = [
      ...(this.#options.wrapper ?? []),
      ...endingWithUs(["nft", "monitor"]),
    ];
    const child = spawn(program, words, {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    // Such as `delete chain ip orbit-proxy services`.
    const ours = (line: string): boolean =>
      tables.some((table) =>
        `${line} `.includes(` ${table} `, line.indexOf(" ", 7)),
      );
    let mentioned = false;
    let touched = false;
    createInterface({ input: child.stdout }).on("line", (line) => {
      mentioned ||= tables.some((table) => `${line} `.includes(` ${table} `));
      if (line.startsWith("delete ")) touched ||= ours(line);
      // On a busy machine the kernel drops reports: what they were is unknown.
      if (line.startsWith("# ERROR")) onDeleted();
      const [, pid] = /^# new generation \d+ by process (\d+)/.exec(line) ?? [];
      if (pid === undefined) return;
      const own = mentioned && processes.made(Number(pid));
      if (touched && !own) onDeleted();
      processes.committed(Number(pid));
      mentioned = touched = false;
    });
    // Of sets that it did not expect it warns: `W: Received event for an unknown set.` All else means that it misses reports.
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (!line.startsWith("W: ")) onDeleted();
    });
    const ended = (error?: Error): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#stopped) return;
      logger.debug({ err: error }, "the nftables monitor ended");
      this.#restart = clock.after(restartMs, () => {
        this.start();
        onDeleted();
      });
    };
    child.once("error", ended);
    child.once("exit", () => ended());
  }

  stop(): void {
    this.#stopped = true;
    this.#restart?.cancel();
    this.#child?.kill();
  }
}
