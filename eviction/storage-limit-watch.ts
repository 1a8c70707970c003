// Ends pods above their own disk limits, whether the node is short or not. What they use is found by reading directories, and
// a pod may have made millions of files: this waits for that by itself, so that a look at the node's signals never does,
// and reads no more than a part of the time.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";
import {
  hasStorageLimits,
  storageExcess,
  type StorageExcess,
} from "./local-storage.ts";
import { noUsage, type EvictablePod, type PodUsage } from "./pod-usage.ts";

interface StorageLimitWatchOptions {
  /** Those that run, or will; not those that are ending. */
  readonly pods: () => readonly EvictablePod[];
  readonly usage: (
    pods: readonly Pod[],
    disk: true,
  ) => Promise<ReadonlyMap<string, PodUsage>>;
  /** Images and writable layers lie on a file system of their own. */
  readonly imagesApart: () => boolean;
  readonly end: (pod: Pod, excess: StorageExcess) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = 10_000;
/** After a look that took long the next one waits so many times as long. */
const restFactor = 3;

export class StorageLimitWatch {
  readonly #options: StorageLimitWatchOptions;
  #timer: Timer | undefined;
  #stopped = false;
  #failing = false;

  constructor(options: StorageLimitWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    const beganMs = clock.monotonic();
    void this.look().finally(() => {
      if (this.#stopped) return;
      const restMs = restFactor * (clock.monotonic() - beganMs);
      this.#timer = clock.after(Math.max(lookEveryMs, restMs), () =>
        this.start(),
      );
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects. */
  async look(): Promise<void> {
    try {
      await this.#endThoseAbove();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.#options.logger.warn(
          { err: error },
          "pods' disk limits can't be looked at",
        );
      this.#failing = true;
    }
  }

  async #endThoseAbove(): Promise<void> {
    const { pods, usage, imagesApart, end } = this.#options;
    const limited = (): Pod[] =>
      pods()
        .filter(({ pod, critical }) => !critical && hasStorageLimits(pod))
        .map(({ pod }) => pod);
    const wanted = limited();
    if (wanted.length === 0) return;
    const used = await usage(wanted, true);
    if (this.#stopped) return;
    // Some may have ended while the directories were read.
    for (const pod of limited()) {
      const found = used.get(pod.metadata.uid ?? "") ?? noUsage;
      const excess = storageExcess(pod, found, imagesApart());
      if (excess) end(pod, excess);
    }
  }
}
