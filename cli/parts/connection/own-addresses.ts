// Whether this machine has lost an address: connections from it hear nothing any more, and nothing ends them. A link that is
// down takes its addresses along and brings them back: while there is none at all, none is lost.
import type { Logger } from "pino";
import { machineAddresses } from "../addresses.ts";

export class OwnAddresses {
  readonly #read: () => readonly string[];
  #known: readonly string[];

  constructor(read: () => readonly string[] = machineAddresses) {
    this.#read = read;
    this.#known = read();
  }

  /** Asked after each change of the links. */
  haveGone(): boolean {
    const now = this.#read();
    if (now.length === 0) return false;
    const gone = this.#known.some((address) => !now.includes(address));
    this.#known = now;
    return gone;
  }
}

/** Called after each change of the links, it has all connections made again when an address is gone. */
export function reconnecting(
  logger: Logger,
  reconnect: () => Promise<void>,
  addresses = new OwnAddresses(),
): () => Promise<void> {
  return async () => {
    if (!addresses.haveGone()) return;
    logger.info("an address of this machine is gone: connecting again");
    await reconnect();
  };
}
