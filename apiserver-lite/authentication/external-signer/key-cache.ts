// The keys that an external signer publishes: fetched at the start, when its hint says so, and when a token names a key
// that is not among them. A set that is wrong in any part is refused as a whole, and the last good one stays.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import {
  namedVerificationKey,
  type VerificationKey,
} from "../../../api/pki/jwt.ts";
import type { PublicKeys } from "../service-account/public-keys.ts";
import type { SignerMetrics } from "./signer-metrics.ts";
import type { FetchedKeys, SignerService } from "./signer-service.ts";

interface PublishedKey extends VerificationKey {
  /** It verifies older tokens only: it is not published, and nothing is signed with it. */
  readonly hidden: boolean;
}

interface KeySet {
  readonly keys: readonly PublishedKey[];
  /** Seconds since 1970, by the signer's own account. */
  readonly dataSeconds: number;
  /** Wall-clock milliseconds. */
  readonly refreshAt: number;
}

interface KeyCacheOptions {
  readonly service: SignerService;
  readonly metrics: SignerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const maxKeyIdLength = 1024;
/** Of a fetch on time, and of the first. */
const syncTimeoutMs = 60_000;
/** A client waits for the answer to its request meanwhile. */
const unknownKeyTimeoutMs = 10_000;
/** After a fetch that failed. */
const retryMs = 10_000;
const maxSeconds = 253_402_300_799;
const minSeconds = -62_135_596_800;

export class KeyCache implements PublicKeys {
  readonly #options: KeyCacheOptions;
  readonly #listeners: (() => void)[] = [];
  #set: KeySet = { keys: [], dataSeconds: 0, refreshAt: 0 };
  #fetching: Promise<void> | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** Rejects when the first fetch fails. */
  async start(): Promise<void> {
    await this.#fetch(syncTimeoutMs);
    this.#schedule(this.#untilRefreshMs());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  named(
    id: string,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]> {
    const found = this.#found(id);
    return found.length > 0 ? found : this.#lookedFor(id);
  }

  published(): readonly VerificationKey[] {
    return this.#set.keys.filter(({ hidden }) => !hidden);
  }

  /** True of a key that nothing may be signed with. */
  isHidden(id: string): boolean {
    return this.#set.keys.some((key) => key.id === id && key.hidden);
  }

  maxAgeSeconds(): number {
    return Math.max(0, Math.floor(this.#untilRefreshMs() / 1000));
  }

  #untilRefreshMs(): number {
    return this.#set.refreshAt - this.#options.clock.now();
  }

  #found(id: string): readonly PublishedKey[] {
    const { keys } = this.#set;
    return id === "" ? keys : keys.filter((key) => key.id === id);
  }

  async #lookedFor(id: string): Promise<readonly VerificationKey[]> {
    try {
      await this.#fetch(unknownKeyTimeoutMs);
    } catch (error) {
      this.#options.logger.error(
        { error: (error as Error).message },
        "the external signer's keys could not be fetched for a token with an unknown key",
      );
      return [];
    }
    return this.#found(id);
  }

  #schedule(delayMs: number): void {
    const { clock, logger } = this.#options;
    if (this.#stopped) return;
    this.#timer = clock.after(Math.max(0, delayMs), () => {
      this.#fetch(syncTimeoutMs).then(
        () => this.#schedule(this.#untilRefreshMs()),
        (error: unknown) => {
          logger.error(
            { error: (error as Error).message },
            "the external signer's keys could not be fetched: the last ones stay",
          );
          this.#schedule(retryMs);
        },
      );
    });
  }

  /** Once for all who wait for it. */
  #fetch(timeoutMs: number): Promise<void> {
    this.#fetching ??= this.#fetchOnce(timeoutMs).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(timeoutMs: number): Promise<void> {
    const { service, metrics, clock } = this.#options;
    let set: KeySet;
    try {
      set = keySetOf(await fetched(service, timeoutMs), clock.now());
    } catch (error) {
      metrics.fetchFailed(error);
      throw new Error(
        `while fetching token verification keys: ${(error as Error).message}`,
        { cause: error },
      );
    }
    metrics.fetched(clock.now(), set.dataSeconds);
    const before = this.#set;
    this.#set = set;
    if (differ(before, set)) for (const listener of this.#listeners) listener();
  }
}

async function fetched(
  service: SignerService,
  timeoutMs: number,
): Promise<FetchedKeys> {
  try {
    return await service.fetchKeys(timeoutMs);
  } catch (error) {
    throw new Error(
      `while getting externally supported jwt signing keys: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Throws an Error with the reference's text for a set that is wrong. */
function keySetOf(
  { keys, dataTimestamp, refreshHintSeconds }: FetchedKeys,
  nowMs: number,
): KeySet {
  if (refreshHintSeconds <= 0)
    throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`);
  if (keys.length === 0) throw new Error("found no keys");
  const problem = timestampProblem(dataTimestamp);
  if (problem) throw new Error(`invalid data timestamp: ${problem}`);
  return {
    keys: keys.map(({ keyId, key, excludeFromOidcDiscovery: hidden }) => {
      if (keyId === "" || keyId.length > maxKeyIdLength)
        throw new Error(
          `found invalid public key id ${JSON.stringify(keyId.slice(0, maxKeyIdLength))}`,
        );
      if (key.length === 0) throw new Error("found empty public key");
      return { ...parsed(keyId, key), hidden };
    }),
    dataSeconds: dataTimestamp!.seconds,
    refreshAt: nowMs + refreshHintSeconds * 1000,
  };
}

function timestampProblem(
  timestamp: FetchedKeys["dataTimestamp"],
): string | undefined {
  if (!timestamp) return "proto: invalid nil Timestamp";
  const { seconds, nanos } = timestamp;
  if (seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos > 1e9)
    return `proto: timestamp (seconds:${seconds} nanos:${nanos}) is out of range`;
  return undefined;
}

function parsed(keyId: string, key: Uint8Array): VerificationKey {
  try {
    return namedVerificationKey(keyId, key);
  } catch (error) {
    throw new Error(
      `while parsing external public keys: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function differ(before: KeySet, after: KeySet): boolean {
  return (
    before.dataSeconds !== after.dataSeconds ||
    before.keys.length !== after.keys.length ||
    before.keys.some(({ id, hidden, key }, at) => {
      const other = after.keys[at]!;
      return (
        other.id !== id || other.hidden !== hidden || !other.key.equals(key)
      );
    })
  );
}
