// What becomes of the machine's links, addresses and routes, for all who follow it: one monitor, which begins with the
// first of them. Changes that come together are reported once.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { LinkMonitor } from "./link-monitor.ts";

const quietMs = 100;

export class HostLinks {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #monitor: LinkMonitor;
  readonly #listeners = new Set<() => unknown>();
  #timer: Timer | undefined;
  #started = false;

  /** @param wrapper as nftCommand's */
  constructor({
    clock,
    logger,
    wrapper = [],
  }: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly wrapper?: readonly string[];
  }) {
    this.#clock = clock;
    this.#logger = logger;
    this.#monitor = new LinkMonitor({
      onChange: () => this.#due(),
      clock,
      wrapper,
    });
  }

  /** Called after each change. Returns a disposer. */
  onChange(listener: () => unknown): () => void {
    this.#listeners.add(listener);
    if (!this.#started) this.#monitor.start();
    this.#started = true;
    return () => void this.#listeners.delete(listener);
  }

  stop(): void {
    this.#listeners.clear();
    this.#timer?.cancel();
    this.#monitor.stop();
  }

  /** The first of several changes starts the wait: a link that flaps all the time is reported all the same. */
  #due(): void {
    this.#timer ??= this.#clock.after(quietMs, () => {
      this.#timer = undefined;
      for (const listener of this.#listeners)
        Promise.resolve(listener()).catch((err: unknown) =>
          this.#logger.warn({ err }, "a change of the machine's links is lost"),
        );
    });
  }
}
