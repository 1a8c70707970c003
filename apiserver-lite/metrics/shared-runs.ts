// Work whose result is the same for all who ask: at most one run at a time, and all who ask while it runs share the next.
//
// Example: three scrapes come while a text is made; one text more is made for them, of the counts after they came.
// Invariant: a run begins after all have asked who get its result, so that what they did before is counted.

export class SharedRuns<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** @param run the work, as the first of those asks for it who share it */
  ask(run: () => Promise<T>): Promise<T> {
    return (this.#next ??= this.#after(this.#running, run));
  }

  async #after(
    running: Promise<T> | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    // Its failure is that of those who asked for it.
    await running?.catch(() => undefined);
    this.#next = undefined;
    const started = run();
    this.#running = started;
    try {
      return await started;
    } finally {
      if (this.#running === started) this.#running = undefined;
    }
  }
}
