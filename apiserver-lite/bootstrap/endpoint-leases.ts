// The API servers on one store, the reference's among them, announce themselves to each other: each keeps a key
// with its address that expires, and the `kubernetes` service's endpoints are made of all of these.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Store } from "../../storage/store.ts";
import {
  decodeStored,
  encodeStored,
  type StoredEncoding,
} from "../../api/codec/stored-form.ts";

interface EndpointLeasesOptions {
  readonly store: Pick<Store, "get" | "list" | "write">;
  readonly encoding: StoredEncoding;
  /** Of this server. */
  readonly address: string;
  /** Brings the endpoints up to date. */
  readonly publish: (addresses: readonly string[]) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DIRECTORY = "/registry/masterleases/";
const LEASE_SECONDS = 15;
const INTERVAL_MS = 10_000;

interface LeaseValue {
  metadata?: { generation?: number };
  subsets?: { addresses?: { ip?: string }[] }[];
}

export class EndpointLeases {
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: EndpointLeasesOptions) {}

  async start(): Promise<void> {
    await this.#reconcile();
    this.#schedule();
  }

  /** The others go on without this server. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const { store, logger } = this.options;
    try {
      await store.write({
        key: this.#key,
        expectedRevision: undefined,
        encode: () => undefined,
      });
      await this.options.publish(await this.#addresses());
    } catch (error) {
      logger.warn({ err: error }, "can't take this server from the endpoints");
    }
  }

  get #key(): string {
    return DIRECTORY + this.options.address;
  }

  #schedule(): void {
    this.#timer = this.options.clock.after(INTERVAL_MS, () => {
      this.#reconcile()
        .catch((error: unknown) =>
          this.options.logger.warn(
            { err: error },
            "can't keep the kubernetes service's endpoints",
          ),
        )
        .finally(() => {
          if (!this.#stopped) this.#schedule();
        });
    });
  }

  async #reconcile(): Promise<void> {
    await this.#renew();
    const addresses = await this.#addresses();
    if (!this.#stopped) await this.options.publish(addresses);
  }

  /** The generation counts the renewals. */
  async #renew(): Promise<void> {
    const { store, address, encoding } = this.options;
    const present = await store.get(this.#key);
    const generation = present
      ? (valueOf(present.value).metadata?.generation ?? 0)
      : 0;
    const value = encodeStored(
      {
        kind: "Endpoints",
        apiVersion: "v1",
        metadata: {
          generation: generation + 1,
          creationTimestamp: null,
        } as never,
        subsets: [{ addresses: [{ ip: address }] }],
      },
      encoding,
    );
    await store.write({
      key: this.#key,
      expectedRevision: undefined,
      encode: () => value,
      ttlSeconds: LEASE_SECONDS,
    });
  }

  async #addresses(): Promise<string[]> {
    const { values } = await this.options.store.list(DIRECTORY);
    return values
      .map(({ value }) => valueOf(value).subsets?.[0]?.addresses?.[0]?.ip ?? "")
      .filter(Boolean)
      .sort();
  }
}

function valueOf(value: Uint8Array): LeaseValue {
  try {
    return decodeStored(value) as LeaseValue;
  } catch {
    return {};
  }
}
