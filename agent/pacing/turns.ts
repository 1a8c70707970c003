// Lets only so many works run at a time, the others in order of arrival. The queue is as long as there are callers.

export class Turns {
  readonly #limit: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `work` is given what ends its turn before it ends itself. */
  async run<T>(work: (endTurn: () => void) => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    };
    try {
      return await work(end);
    } finally {
      end();
    }
  }
}
