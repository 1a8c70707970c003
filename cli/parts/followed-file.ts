// A configuration file that is read again while the program runs: it is looked at once a minute, and each new text is used
// once. One that can't be read or used is reported and changes nothing; it is not tried again before it changes.
import { readFile } from "node:fs/promises";
import type { Clock, Timer } from "../../api/clock.ts";

const lookEveryMs = 60_000;

interface FollowedFileOptions {
  readonly file: string;
  /** As it was read at the start. */
  readonly text: string;
  readonly clock: Clock;
  /** Rejects for a text that is not used. */
  readonly use: (text: string) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

export class FollowedFile {
  #text: string;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: FollowedFileOptions) {
    this.#text = options.text;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = this.options.clock.after(lookEveryMs, () => {
      void this.#look().then(() => this.start());
    });
  }

  /** A text that is being used may still be used up. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { file, use, failed } = this.options;
    try {
      const text = await readFile(file, "utf8");
      if (text === this.#text || this.#stopped) return;
      this.#text = text;
      await use(text);
    } catch (error) {
      failed(error);
    }
  }
}
