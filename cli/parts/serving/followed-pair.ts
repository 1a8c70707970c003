// A certificate and its key in two files, read again when they have changed, so that a renewal needs no restart. Both are
// looked at every ten seconds. What is no pair (only one was written yet, a file is gone) leaves the last pair in use and
// is reported once.
import { stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";

const periodMs = 10_000;

interface FollowedPairOptions<Pair extends CertificatePair> {
  readonly files: readonly string[];
  /** Throws when there is no pair. */
  readonly read: () => Pair | undefined;
  readonly changed: (pair: Pair) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class FollowedPair<Pair extends CertificatePair = CertificatePair> {
  #timer: Timer | undefined;
  #stopped = false;
  #used: string | undefined;
  #refused: string | undefined;

  constructor(private readonly options: FollowedPairOptions<Pair>) {}

  /** The files are as they were read at the start. */
  async start(): Promise<void> {
    this.#used = await this.#look();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.options.clock.after(periodMs, () => {
      void this.#follow().finally(() => this.#schedule());
    });
  }

  async #follow(): Promise<void> {
    const { read, changed, logger, files } = this.options;
    const now = await this.#look();
    if (this.#stopped || now === this.#used) return;
    try {
      const pair = read();
      if (!pair) return;
      changed(pair);
      this.#used = now;
      this.#refused = undefined;
      logger.info({ files }, "changed certificate files are in use");
    } catch (error) {
      if (this.#refused !== now)
        logger.error(
          { err: error, files },
          "a changed certificate is not used: the last one stays",
        );
      this.#refused = now;
    }
  }

  /** Differs between two states of the files. */
  async #look(): Promise<string> {
    const states = this.options.files.map((file) =>
      stat(file).then(
        ({ ino, size, mtimeMs }) => `${ino}:${size}:${mtimeMs}`,
        () => "gone",
      ),
    );
    return (await Promise.all(states)).join(" ");
  }
}
