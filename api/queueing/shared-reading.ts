// Something that many ask for at once, such as the kernel's list of all mounts when the pods of a node end together. One
// reading answers everybody who asked before it began, so the work does not grow with the number of those who ask.
// Example: a asks and reading 1 begins; b and c ask while it runs; reading 2 follows it and answers both.

export class SharedReading<T> {
  readonly #read: () => Promise<T>;
  #last: Promise<unknown> = Promise.resolve();
  /** Has not begun. */
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** As it was at some time after this call; one reading runs at a time. Rejects as the reading does. */
  value(): Promise<T> {
    if (this.#next) return this.#next;
    const next = this.#last.then(() => {
      this.#next = undefined;
      return this.#read();
    });
    this.#next = next;
    this.#last = next.catch(() => undefined);
    return next;
  }
}
