// Files of certificates, keys and authorities, read again when they have changed, so that a renewal needs no restart. They
// are looked at every ten seconds. What can't be used (only one file of a pair was written yet, a file is gone) leaves what
// was read last in use and is reported once.
import { stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";

const periodMs = 10_000;

interface FollowedCertificatesOptions<Certificates> {
  readonly files: readonly string[];
  /** Throws while the files can't be used. */
  readonly read: () => Certificates;
  readonly changed: (certificates: Certificates) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class FollowedCertificates<Certificates> {
  #timer: Timer | undefined;
  #stopped = false;
  #used: string | undefined;
  #refused: string | undefined;

  constructor(
    private readonly options: FollowedCertificatesOptions<Certificates>,
  ) {}

  /** The files are as they were read at the start. */
  async start(): Promise<void> {
    if (this.options.files.length === 0) return;
    this.#used = await this.#look();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Reads once more, as something beside the files has changed. */
  renew(): void {
    this.#use(undefined);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.options.clock.after(periodMs, () => {
      void this.#follow().finally(() => this.#schedule());
    });
  }

  async #follow(): Promise<void> {
    const now = await this.#look();
    if (this.#stopped || now === this.#used || !this.#use(now)) return;
    const { logger, files } = this.options;
    logger.info({ files }, "changed certificate files are in use");
  }

  /** @param state of the files; undefined: that of the last look @returns whether they are in use */
  #use(state: string | undefined): boolean {
    const { read, changed, logger, files } = this.options;
    try {
      changed(read());
      this.#used = state ?? this.#used;
      this.#refused = undefined;
      return true;
    } catch (error) {
      if (state === undefined || this.#refused !== state)
        logger.error(
          { err: error, files },
          "a changed certificate is not used: the last one stays",
        );
      this.#refused = state;
      return false;
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
