// Short works that thousands ask for at once: in order, and no more of them in one turn of the event loop than take some
// milliseconds. Promises alone give no other a turn: what follows from them, however long, is one.
const sliceMs = 5;

export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  #sliceBegunMs: number | undefined;

  /** At once where this turn has time left. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error as Error);
        }
      });
      this.#work();
    });
  }

  #work(): void {
    this.#sliceBegunMs ??= this.#beginSlice();
    while (
      this.#waiting.length > 0 &&
      performance.now() - this.#sliceBegunMs < sliceMs
    )
      this.#waiting.shift()!();
  }

  #beginSlice(): number {
    setImmediate(() => {
      this.#sliceBegunMs = undefined;
      if (this.#waiting.length > 0) this.#work();
    });
    return performance.now();
  }
}
