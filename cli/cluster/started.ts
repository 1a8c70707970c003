// What was started so far, stopped in reverse order. A part that does not stop cleanly is logged and keeps none of the
// others from stopping.
import type { Logger } from "pino";

/** How long a start that failed waits for what it had started. */
const failedStartMs = 5000;

export class Started {
  readonly #stops: (() => Promise<void> | void)[] = [];

  constructor(private readonly logger: Logger) {}

  /** @param stop called once, before those of all that was started earlier */
  add(stop: () => Promise<void> | void): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (err) {
        this.logger.error({ err }, "a part did not stop cleanly");
      }
    }
  }

  /** After a failed start: a part that does not end must not hide the failure. */
  async abandon(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.stop(),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, failedStartMs);
      }),
    ]);
    clearTimeout(timer);
  }
}
