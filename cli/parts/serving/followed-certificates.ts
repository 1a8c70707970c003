// Files of certificates, keys and authorities, read again when they have changed, so that a renewal needs no restart. They
// are looked at every ten seconds, each part for itself: one that can't be used (only one file of a pair was written yet, a
// file is gone) keeps what was read last, is reported once, and holds up none of the others.
import { statSync } from "node:fs";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";

const periodMs = 10_000;

export interface CertificateFiles<Value> {
  /** Empty: it never changes by itself. */
  readonly files: readonly string[];
  /** Throws while the files can't be used. */
  readonly read: () => Value;
}

export type FollowedCertificatesParts<Values> = {
  readonly [Name in keyof Values]: CertificateFiles<Values[Name]>;
};

interface FollowedCertificatesOptions<Values> {
  readonly parts: FollowedCertificatesParts<Values>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Known {
  /** State of the files whose content is in use; undefined: they are to be read. */
  used: string | undefined;
  /** State of the files that could not be used. */
  refused: string | undefined;
}

export class FollowedCertificates<Values extends object> {
  readonly #options: FollowedCertificatesOptions<Values>;
  readonly #known = new Map<keyof Values, Known>();
  readonly #values: Values;
  #timer: Timer | undefined;
  #stopped = false;
  #changed: (values: Values) => void = () => undefined;

  /** Reads all parts; throws for one that can't be used. */
  constructor(options: FollowedCertificatesOptions<Values>) {
    this.#options = options;
    const values: Partial<Values> = {};
    for (const name of this.#names()) {
      const { files, read } = options.parts[name];
      // Before the files are read: what changes meanwhile is seen at the first look.
      this.#known.set(name, { used: stateOf(files), refused: undefined });
      values[name] = read();
    }
    this.#values = values as Values;
  }

  /** What is in use. */
  get values(): Values {
    return this.#values;
  }

  /** @param changed gets the values each time that some were read again */
  start(changed: (values: Values) => void): void {
    this.#changed = changed;
    if (this.#names().some((name) => this.#options.parts[name].files.length))
      this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Reads all once more and calls back, as something beside the files has changed. */
  renew(): void {
    for (const name of this.#names()) this.#read(name);
    this.#changed(this.#values);
  }

  #names(): (keyof Values)[] {
    return Object.keys(this.#options.parts) as (keyof Values)[];
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(periodMs, () => {
      this.#look();
      this.#schedule();
    });
  }

  #look(): void {
    const read = this.#names().filter(
      (name) =>
        this.#known.get(name)!.used !==
          stateOf(this.#options.parts[name].files) && this.#read(name),
    );
    if (read.length === 0) return;
    const files = read.flatMap((name) => this.#options.parts[name].files);
    this.#changed(this.#values);
    this.#options.logger.info(
      { files },
      "changed certificate files are in use",
    );
  }

  /** @returns whether the part is in use as its files are now */
  #read(name: keyof Values): boolean {
    const { logger, parts } = this.#options;
    const { files, read } = parts[name];
    const known = this.#known.get(name)!;
    const state = stateOf(files);
    try {
      this.#values[name] = read();
      known.used = state;
      known.refused = undefined;
      return true;
    } catch (error) {
      if (known.refused !== state)
        logger.error(
          { err: error, files },
          "a changed certificate is not used: the last one stays",
        );
      known.used = undefined;
      known.refused = state;
      return false;
    }
  }
}

/** Differs between two states of the files. */
function stateOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const { ino, size, mtimeMs } = statSync(file);
        return `${ino}:${size}:${mtimeMs}`;
      } catch {
        return "gone";
      }
    })
    .join(" ");
}
