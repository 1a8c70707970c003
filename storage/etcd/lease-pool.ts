// Leases for keys that expire. Keys written within a window share one, as a lease a key is far dearer than a key: a key
// so lives up to the window longer than asked.
import type { Clock } from "../../api/clock.ts";
import type { EtcdClient } from "./etcd-client.ts";

const DEFAULT_WINDOW_SECONDS = 60;
const MAX_KEYS = 1000;

interface Lease {
  readonly id: Promise<string>;
  readonly reusableUntilMs: number;
  keys: number;
}

export class LeasePool {
  /** By the seconds asked for. */
  readonly #leases = new Map<number, Lease>();

  constructor(
    private readonly client: EtcdClient,
    private readonly clock: Clock,
    /** How long a lease is shared at most. */
    private readonly windowSeconds = DEFAULT_WINDOW_SECONDS,
  ) {}

  /** A lease of at least ttlSeconds. */
  async leaseFor(ttlSeconds: number): Promise<string> {
    const windowSeconds = Math.min(
      this.windowSeconds,
      Math.ceil(ttlSeconds / 10),
    );
    let lease = this.#leases.get(ttlSeconds);
    if (
      !lease ||
      lease.keys >= MAX_KEYS ||
      this.clock.monotonic() >= lease.reusableUntilMs
    ) {
      const id = this.client
        .call<{ ID: string }>(
          "leaseGrant",
          { TTL: ttlSeconds + windowSeconds },
          { repeatable: true },
        )
        .then((granted) => granted.ID);
      lease = {
        id,
        reusableUntilMs: this.clock.monotonic() + windowSeconds * 1000,
        keys: 0,
      };
      this.#leases.set(ttlSeconds, lease);
    }
    const used = lease;
    used.keys++;
    try {
      return await used.id;
    } catch (error) {
      if (this.#leases.get(ttlSeconds) === used)
        this.#leases.delete(ttlSeconds);
      throw error;
    }
  }
}
