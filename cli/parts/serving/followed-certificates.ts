// Files of certificates, keys and authorities, read again when they have changed, so that a renewal needs no restart. They
// are looked at every ten seconds, each part for itself: one that can't be used (only one file of a pair was written yet, a
// file is gone) keeps what was read last, is reported once, and holds up none of the others.
import { statSync, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
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

/** All parts as their files are now; throws for one that can't be used. */
export function readParts<Values extends object>(
  parts: FollowedCertificatesParts<Values>,
): Values {
  const values: Partial<Values> = {};
  for (const name of namesOf(parts)) values[name] = parts[name].read();
  return values as Values;
}

const namesOf = <Values>(
  parts: FollowedCertificatesParts<Values>,
): (keyof Values)[] => Object.keys(parts) as (keyof Values)[];

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
    const { parts } = options;
    // Before the files are read: what changes meanwhile is seen at the first look.
    for (const name of namesOf(parts)) {
      const used = stateNow(parts[name].files);
      this.#known.set(name, { used, refused: undefined });
    }
    this.#values = readParts(parts);
  }

  /** What is in use. */
  get values(): Values {
    return this.#values;
  }

  /** @param changed gets the values each time that some were read again */
  start(changed: (values: Values) => void): void {
    this.#changed = changed;
    const { parts } = this.#options;
    if (namesOf(parts).some((name) => parts[name].files.length > 0))
      this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Reads all once more and calls back, as something beside the files has changed. */
  renew(): void {
    const { parts } = this.#options;
    for (const name of namesOf(parts))
      this.#read(name, stateNow(parts[name].files));
    this.#changed(this.#values);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(periodMs, () => {
      void this.#look().finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { parts, logger } = this.#options;
    const inUse: string[] = [];
    for (const name of namesOf(parts)) {
      const { files } = parts[name];
      // Not in this turn: a file system of another machine may not answer.
      const state = await stateSoon(files);
      if (this.#stopped) return;
      if (state !== this.#known.get(name)!.used && this.#read(name, state))
        inUse.push(...files);
    }
    if (inUse.length === 0) return;
    this.#changed(this.#values);
    logger.info({ files: inUse }, "changed certificate files are in use");
  }

  /**
   * @param state of its files
   * @returns whether the part is in use as its files are now
   */
  #read(name: keyof Values, state: string): boolean {
    const { logger, parts } = this.#options;
    const { files, read } = parts[name];
    const known = this.#known.get(name)!;
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

/** Differs between two states of the files; undefined: one that is gone or can't be looked at. */
const stateOf = (found: readonly (Stats | undefined)[]): string =>
  found
    .map((file) => (file ? `${file.ino}:${file.size}:${file.mtimeMs}` : "gone"))
    .join(" ");

const stateNow = (files: readonly string[]): string =>
  stateOf(
    files.map((file) => {
      try {
        return statSync(file);
      } catch {
        return undefined;
      }
    }),
  );

const stateSoon = async (files: readonly string[]): Promise<string> =>
  stateOf(
    await Promise.all(files.map((file) => stat(file).catch(() => undefined))),
  );
