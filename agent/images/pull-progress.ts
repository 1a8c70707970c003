// Lines in the log while images are pulled, as long as a pull takes longer than the interval: what is pulled, and how much of
// what the runtime downloads is there. Runtimes know parts of images by digests, so the amounts are of all pulls together.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Runtime } from "../../cri/runtime.ts";

interface PullProgressOptions {
  readonly runtime: Pick<Runtime, "downloads">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const everyMs = 10_000;

export class PullProgress {
  readonly #options: PullProgressOptions;
  /** Names of images, with when their pulls began. */
  readonly #running = new Map<object, { image: string; sinceMs: number }>();
  #timer: Timer | undefined;

  constructor(options: PullProgressOptions) {
    this.#options = options;
  }

  /** Call the returned function when the pull has ended, however. */
  begin(image: string): () => void {
    const pull = {};
    const sinceMs = this.#options.clock.monotonic();
    this.#running.set(pull, { image, sinceMs });
    this.#timer ??= this.#later();
    return () => {
      this.#running.delete(pull);
      if (this.#running.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  #later(): Timer {
    return this.#options.clock.after(everyMs, () => {
      this.#timer = this.#later();
      void this.#report();
    });
  }

  async #report(): Promise<void> {
    const { runtime, clock, logger } = this.#options;
    // A runtime that does not answer is reported elsewhere.
    const downloads = await runtime.downloads().catch(() => []);
    const pulls = [...this.#running.values()];
    if (pulls.length === 0) return;
    const sum = (of: "doneBytes" | "totalBytes"): number =>
      downloads.reduce((total, download) => total + download[of], 0);
    const since = Math.min(...pulls.map(({ sinceMs }) => sinceMs));
    logger.info(
      {
        images: pulls.map(({ image }) => image),
        seconds: Math.round((clock.monotonic() - since) / 1000),
        parts: downloads.length,
        doneBytes: sum("doneBytes"),
        totalBytes: sum("totalBytes"),
      },
      "pulling images",
    );
  }
}
