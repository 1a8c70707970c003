// Notices that others have deleted rules of ours in iptables. The kernel reports no such change of a legacy table, so that
// a few rules are looked for every few seconds: a flush, or the restore of another ruleset, takes them away.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { IptablesCommand } from "./iptables-command.ts";
import type { OwnChains } from "./own-chains.ts";

interface OwnChainsWatchOptions {
  readonly chains: readonly {
    readonly own: OwnChains;
    readonly command: IptablesCommand;
  }[];
  /** Some of the rules are gone. */
  readonly onDeleted: () => void;
  readonly lookMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class OwnChainsWatch {
  readonly #options: OwnChainsWatchOptions;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: OwnChainsWatchOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(this.#options.lookMs, () => {
      void this.#look().finally(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const { chains, onDeleted, logger } = this.#options;
    try {
      for (const { own, command } of chains)
        for (const { table, chain, rule } of own.witnesses) {
          if (this.#stopped) return;
          if (!(await command.has(table, chain, rule))) return onDeleted();
        }
    } catch (err) {
      logger.debug({ err }, "the rules in iptables could not be looked for");
    }
  }
}
