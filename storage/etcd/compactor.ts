// Compacts etcd's history together with every other API server, the reference's among them: all of them count up one
// key's version, and only who was first in an interval compacts, up to the revision of its interval before.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { StoreError } from "../store.ts";
import type { EtcdClient } from "./etcd-client.ts";
import type { TxnResponse } from "./messages.ts";

/** Not below any prefix: history is the whole etcd's. */
const KEY = Buffer.from("compact_rev_key");

export class Compactor {
  /** The key's version as it was last seen. */
  #time = "0";
  /** What the next turn compacts; 0: nothing yet. */
  #revision = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly client: EtcdClient,
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly logger: Logger | undefined,
  ) {}

  start(): void {
    if (this.intervalMs <= 0) return;
    this.#timer = this.clock.after(this.intervalMs, () => {
      this.start();
      this.turn().catch((error: StoreError) => {
        if (error.code !== "closed")
          this.logger?.warn({ err: error }, "can't compact etcd");
      });
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async turn(): Promise<void> {
    const answer = await this.client.call<TxnResponse>("txn", {
      compare: [{ result: 0, target: 0, key: KEY, version: this.#time }],
      success: [
        {
          requestPut: { key: KEY, value: Buffer.from(String(this.#revision)) },
        },
      ],
      failure: [{ requestRange: { key: KEY } }],
    });
    const revision = this.#revision;
    this.#revision = Number(answer.header.revision);
    if (!answer.succeeded) {
      this.#time = answer.responses[0]?.responseRange?.kvs[0]?.version ?? "0";
      return;
    }
    this.#time = String(Number(this.#time) + 1);
    if (revision === 0) return;
    try {
      await this.client.call("compact", { revision });
    } catch (error) {
      // Another client compacted the store.
      if ((error as StoreError).code !== "compacted") throw error;
    }
  }
}
