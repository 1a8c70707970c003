// Keeps the sandbox image present in a runtime: it is imported when the runtime was reached, and again after each reconnection.
import type { Logger } from "pino";

export class SandboxImage {
  #ready: Promise<void> = Promise.resolve();

  /** @param ensure imports the image when it is missing; undefined: it is left to the runtime's administrator */
  constructor(
    private readonly ensure: ((name?: string) => Promise<void>) | undefined,
    private readonly logger: Logger,
  ) {}

  /** The present import, if any, is through. Never rejects. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Never rejects: without the image sandboxes fail, with a text that says so.
   * @param name as the runtime asked for it in vain; undefined: as its configuration shows it
   */
  importAgain(name?: string): Promise<void> {
    this.#ready = this.#import(name);
    return this.#ready;
  }

  async #import(name: string | undefined): Promise<void> {
    try {
      await this.ensure?.(name);
    } catch (error) {
      this.logger.warn(
        { err: error },
        "the built-in sandbox image could not be imported",
      );
    }
  }
}
