// The node's budget for the logs of all its containers together: when they take more, rotated files go, the oldest of the
// node first. A file that is being written to never goes, so that what runs can use more than the budget: that is logged,
// and the pressure of the disk decides.
import { lstat, readdir, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";

interface LogBudgetOptions {
  /** Bytes, or a percentage of the file system (`20%`); 0: there is none. */
  budget: string;
  /** Where the logs lie. */
  directory: string;
  /** Of this agent's containers, running or not. */
  logPaths: () => readonly string[];
  logger: Logger;
}

interface RotatedLog {
  readonly path: string;
  /** As rotation names files: its order is that of time. */
  readonly stamp: string;
  readonly bytes: number;
}

const rotated = /^\d+\.log\.(\d{8}-\d{6})(?:\.gz)?$/;

export class LogBudget {
  readonly #options: LogBudgetOptions;
  #exceeded = false;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
  }

  /** Resolves to the bytes that all logs take then. */
  async enforce(): Promise<number> {
    const budgetBytes = await this.#budgetBytes();
    if (budgetBytes <= 0) return 0;
    const { logger } = this.#options;
    const { bytes, removable } = await this.#read();
    let left = bytes;
    let removed = 0;
    for (const each of removable) {
      if (left <= budgetBytes) break;
      await rm(each.path, { force: true });
      left -= each.bytes;
      removed++;
    }
    if (removed > 0)
      logger.info(
        { removed, bytes: left, budgetBytes },
        "removed rotated logs: all logs together took more than their budget",
      );
    if (left > budgetBytes && !this.#exceeded)
      logger.warn(
        { bytes: left, budgetBytes },
        "logs that are being written to take more than the budget of all logs",
      );
    this.#exceeded = left > budgetBytes;
    return left;
  }

  async #budgetBytes(): Promise<number> {
    const { budget, directory } = this.#options;
    if (!budget.endsWith("%")) return Number(budget);
    const percent = Number(budget.slice(0, -1));
    if (percent <= 0) return 0;
    const found = await statfs(directory).catch(() => undefined);
    return found ? (found.blocks * found.bsize * percent) / 100 : 0;
  }

  /** Links are not followed; what they point to is not a log of ours. */
  async #read(): Promise<{ bytes: number; removable: RotatedLog[] }> {
    const removable: RotatedLog[] = [];
    let bytes = 0;
    for (const directory of new Set(this.#options.logPaths().map(dirname)))
      for (const name of await readdir(directory).catch(() => [])) {
        const path = join(directory, name);
        const found = await lstat(path).catch(() => undefined);
        if (!found?.isFile()) continue;
        // As the disk has it, holes left out.
        const own = found.blocks * 512;
        bytes += own;
        const stamp = rotated.exec(name)?.[1];
        if (stamp !== undefined) removable.push({ path, stamp, bytes: own });
      }
    removable.sort((a, b) => (a.stamp < b.stamp ? -1 : 1));
    return { bytes, removable };
  }
}
