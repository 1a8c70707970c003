// Watches over the cluster's certificates while the server runs: loads them anew when the first is due, and when the
// host's names or addresses changed. One timer, at most a day away, so that a suspended machine notices in time.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import {
  loadClusterPki,
  type ClusterPki,
  type ClusterPkiOptions,
} from "./cluster-pki.ts";

const DAY_MS = 24 * 3600 * 1000;
const RETRY_MS = 60_000;

export interface PkiKeeperOptions extends Omit<
  ClusterPkiOptions,
  "nowMs" | "hosts"
> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The names and addresses of the moment. */
  hosts(): readonly string[];
  /** Called when anything was renewed; use what it gives from now on (TLS contexts, clients, kubeconfig). */
  onRenewed(pki: ClusterPki): void;
}

export class PkiKeeper {
  readonly #options: PkiKeeperOptions;
  #pki: ClusterPki | undefined;
  #timer: Timer | undefined;

  constructor(options: PkiKeeperOptions) {
    this.#options = options;
  }

  /** Makes or loads everything. */
  start(): ClusterPki {
    this.#pki = this.#load();
    this.#schedule(this.#pki.renewalDueMs - this.#options.clock.now());
    return this.#pki;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** To be called when the host's addresses have changed; also called by the timer. */
  check(): void {
    const { clock, logger, onRenewed } = this.#options;
    try {
      const pki = this.#load();
      const changed = JSON.stringify(pki) !== JSON.stringify(this.#pki);
      this.#pki = pki;
      if (changed) {
        logger.info(
          { renewalDue: new Date(pki.renewalDueMs).toISOString() },
          "renewed the cluster's certificates",
        );
        onRenewed(pki);
      }
      this.#schedule(pki.renewalDueMs - clock.now());
    } catch (error) {
      logger.error(
        { err: error },
        "can't renew the cluster's certificates; trying again",
      );
      this.#schedule(RETRY_MS);
    }
  }

  #load(): ClusterPki {
    const { clock, hosts, ...rest } = this.#options;
    return loadClusterPki({ ...rest, hosts: hosts(), nowMs: clock.now() });
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(
      Math.min(Math.max(delayMs, 1_000), DAY_MS),
      () => this.check(),
    );
  }
}
