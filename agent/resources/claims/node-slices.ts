// Removes the ResourceSlices of drivers that are not there (any more): pods must not be sent here for devices that no driver
// would prepare. Tried again with a doubling delay of 1 s to 5 min, until the API server took it.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import { backoffMs } from "../../../api/queueing/backoff.ts";
import type { Client } from "../../../client/client.ts";
import { resourceSlices } from "../../../client/resources.ts";

interface NodeSlicesOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

const retries = { baseMs: 1000, maxMs: 300_000 };

export class NodeSlices {
  readonly #options: NodeSlicesOptions;
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(options: NodeSlicesOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
  }

  /** @param driver undefined: of all */
  remove(driver: string | undefined, failures = 0): void {
    const { nodeName, client, clock, logger } = this.#options;
    if (this.#stopped) return;
    const fieldSelector = [
      `spec.nodeName=${nodeName}`,
      ...(driver === undefined ? [] : [`spec.driver=${driver}`]),
    ].join();
    client
      .resource(resourceSlices)
      .deleteCollection({ fieldSelector })
      .catch((error: unknown) => {
        if (this.#stopped) return;
        const retryMs = backoffMs(retries, failures);
        logger.debug({ err: error, driver, retryMs }, "can't remove slices");
        const timer = clock.after(retryMs, () => {
          this.#timers.delete(timer);
          this.remove(driver, failures + 1);
        });
        this.#timers.add(timer);
      });
  }
}
