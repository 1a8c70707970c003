// Who listens to a runtime's events. A listener that throws is logged and does not keep the others from being called.
import type { Logger } from "pino";
import type { RuntimeEvent } from "./runtime.ts";

export class EventListeners {
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns a disposer. */
  add(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: RuntimeEvent): void {
    for (const listener of this.#listeners)
      try {
        listener(event);
      } catch (error) {
        this.#logger.error(
          { err: error },
          "a listener of runtime events failed",
        );
      }
  }
}
