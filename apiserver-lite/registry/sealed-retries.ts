// Sealed values that did not open are tried again, as what keeps them shut may end: a plug-in comes back, a configuration
// brings a key back. A kind of which a value opens is read again as a whole: its watches end, and clients list again, as a
// value of an old revision can't become an event.
//
// Nothing is done while every value opens. What is tried at a time is bounded, and chosen at random.
import { randomInt } from "node:crypto";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Store } from "../../storage/store.ts";
import type { KindSet } from "./kinds/kind-set.ts";
import type { StoredKind } from "./kinds/stored-kind.ts";

const lookEveryMs = 5_000;
const tries = { baseMs: lookEveryMs, maxMs: 60_000 };
/** Of one kind at a time. */
const maxTried = 8;

interface SealedRetriesOptions {
  readonly store: Store;
  readonly kinds: KindSet;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class SealedRetries {
  #timer: Timer | undefined;
  #stopped = false;
  /** Looks in a row that found values, none of which opened. */
  #failures = 0;

  constructor(private readonly options: SealedRetriesOptions) {}

  start(): void {
    if (this.#stopped) return;
    const waitMs = backoffMs(tries, this.#failures);
    this.#timer = this.options.clock.after(waitMs, () => {
      void this.#look().then(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { kinds, logger } = this.options;
    let shut = false;
    for (const kind of [...kinds.stored()]) {
      const keys = sealedKeys(kind);
      if (keys.length === 0) continue;
      const { group, resource } = kind;
      try {
        if (await this.#opens(kind, keys)) {
          await kinds.readAgain({ group, resource });
          logger.info({ group, resource }, "sealed values open again");
        } else shut = true;
      } catch (err) {
        shut = true;
        logger.warn({ err, group, resource }, "can't read sealed values again");
      }
      if (this.#stopped) return;
    }
    this.#failures = shut ? this.#failures + 1 : 0;
  }

  /** Does one of some of them open? */
  async #opens(kind: StoredKind, keys: string[]): Promise<boolean> {
    const some: string[] = [];
    while (some.length < maxTried && keys.length > 0)
      some.push(...keys.splice(randomInt(keys.length), 1));
    const opened = await Promise.all(
      some.map(async (key) => {
        const storeKey = kind.storeKey(key);
        const stored = await this.options.store.get(storeKey);
        try {
          if (stored) await kind.form.open?.(stored.value, storeKey);
          return stored !== undefined;
        } catch {
          return false;
        }
      }),
    );
    return opened.includes(true);
  }
}

function sealedKeys({ cache }: StoredKind): string[] {
  return [...cache.unreadable].flatMap(([key, { sealed }]) =>
    sealed ? [key] : [],
  );
}
