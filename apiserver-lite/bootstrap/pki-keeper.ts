// Watches over the cluster's certificates while the server runs: loads them again when the first is due, when the clock
// was set back to before they are valid, and when the host has new names or addresses. One timer looks at the names and
// addresses each 10 s (Node reports no change; looking costs microseconds, or milliseconds with hundreds of interfaces),
// and at the files only when one is new or the first certificate is due.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import {
  loadClusterPki,
  type ClusterPki,
  type ClusterPkiOptions,
} from "./cluster-pki.ts";

const LOOK_MS = 10_000;
const RETRY_MS = 60_000;

interface PkiKeeperOptions extends Omit<ClusterPkiOptions, "nowMs" | "hosts"> {
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
  /** Those the certificates were last loaded for. */
  #hosts: ReadonlySet<string> = new Set();

  constructor(options: PkiKeeperOptions) {
    this.#options = options;
  }

  /** Makes or loads everything. */
  start(): ClusterPki {
    this.#pki = this.#load();
    this.#schedule(LOOK_MS);
    return this.#pki;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** By the timer, and when the machine's names may have changed: reads the files only when there is a reason. */
  look(): void {
    const { clock, hosts } = this.#options;
    const nowMs = clock.now();
    const { renewalDueMs = 0, validFromMs = 0 } = this.#pki ?? {};
    const due = renewalDueMs <= nowMs || nowMs < validFromMs;
    let added = true;
    try {
      added = hosts().some((host) => !this.#hosts.has(host));
    } catch {
      // check() reports the error.
    }
    if (due || added) this.check();
    else this.#schedule(LOOK_MS);
  }

  /** Loads, and renews what has to be. */
  check(): void {
    const { logger, onRenewed } = this.#options;
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
      this.#schedule(LOOK_MS);
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
    const names = hosts();
    const pki = loadClusterPki({ ...rest, hosts: names, nowMs: clock.now() });
    this.#hosts = new Set(names);
    return pki;
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => this.look());
  }
}
