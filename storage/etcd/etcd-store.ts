// The store on an etcd cluster, shared with other API servers. Revisions are etcd's own; one watch over the prefix feeds
// the listeners, and a write is answered after the watch has brought its event.
//
// A consistent read asks etcd for its newest revision and waits until the watch has come there. When writes outside the
// prefix leave the watch behind, a key of our own is touched: its event comes after all before it, on every etcd (the
// watch's progress requests overtake events before 3.4.25 and 3.5.8).
//
// The watch reconnects with back-off and goes on after the last revision it saw; when etcd has compacted that away the
// store notifies the subscribers that they have lost events.
import type { GrpcTracing } from "../../grpc/channel.ts";
import { Backoff } from "../../api/queueing/backoff.ts";
import { trimEnd, trimStart } from "../../api/patterns/trim.ts";
import type { Logger } from "pino";
import { systemClock, type Clock, type Timer } from "../../api/clock.ts";
import type { GrpcTls } from "../../grpc/channel.ts";
import { EventHistory } from "../local/event-history.ts";
import {
  StoreError,
  type NewEntry,
  type Store,
  type StoredValue,
  type StoreEvent,
  type StoreListener,
  type WriteOp,
  type WriteResult,
} from "../store.ts";
import { Compactor } from "./compactor.ts";
import { EtcdClient } from "./etcd-client.ts";
import { LeasePool } from "./lease-pool.ts";
import type {
  KeyValue,
  RangeResponse,
  StatusResponse,
  TxnResponse,
  WatchResponse,
} from "./messages.ts";

export interface EtcdStoreOptions {
  readonly servers: readonly string[];
  readonly tls?: GrpcTls;
  /** Takes the place of `root` in etcd's keys. Default: the same as root. */
  readonly prefix?: string;
  /** What every key begins with. Default: /registry */
  readonly root?: string;
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Of one call. Default 10 s. */
  readonly timeoutMs?: number;
  /** How long a call waits for an etcd that can be reached. Default 34 s, the reference's time for a write. */
  readonly patienceMs?: number;
  /** How long `start` waits for etcd. Default 1 min. */
  readonly initializationTimeoutMs?: number;
  /** How often the size of the database is asked for; 0: never. Default 30 s. */
  readonly databaseSizeIntervalMs?: number;
  /** History older than this is compacted away; 0: never by us. Default 5 min. */
  readonly compactionIntervalMs?: number;
  /** How long keys that expire share a lease. Default 60. */
  readonly leaseReuseSeconds?: number;
}

const PAGE_SIZE = 500;
const EVENT_WAIT_MS = 5_000;
/** An event that is on its way comes within this. */
const GRACE_MS = 20;
/** The key lies below the prefix and belongs to no resource, so no reader of resources sees it. */
const PROGRESS_KEY = "/orbit.progress";
/** Of one transaction: etcd's own limits are 128 operations and 1.5 MiB. */
const MAX_NEW_KEYS = 100;
const MAX_NEW_BYTES = 1024 * 1024;

interface InFlight {
  readonly value: Uint8Array | undefined;
  readonly attachment: unknown;
}

class EtcdStore implements Store {
  readonly shared = true;
  readonly #client: EtcdClient;
  readonly #leases: LeasePool;
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;
  readonly #prefix: string;
  readonly #root: string;
  readonly #compactor: Compactor;
  readonly #initializationTimeoutMs: number;
  readonly #sizeIntervalMs: number;
  readonly #history = new EventHistory();
  /** Own writes whose event has not come yet, by key. */
  readonly #inFlight = new Map<string, Set<InFlight>>();
  readonly #waiters = new Set<{ revision: number; resolve: () => void }>();
  readonly #timers = new Set<Timer>();
  #watch: { cancel(): void } | undefined;
  readonly #retries = new Backoff({ baseMs: 50, maxMs: 1_000 });
  /** The question for the newest revision that is not on its way yet, and the one that is. */
  #nextAnswer: Promise<number> | undefined;
  #answer: Promise<unknown> = Promise.resolve();
  /** Of the newest event given to listeners. */
  #delivered = 0;
  /** The newest ever heard of. */
  #revision = 0;
  databaseBytes: number | undefined;
  #state: "new" | "open" | "closed" = "new";

  constructor(options: EtcdStoreOptions) {
    const { servers, tls, root = "/registry", leaseReuseSeconds } = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger;
    this.#root = root;
    // The reference takes the prefix with and without slashes around it.
    const prefix = trimStart(trimEnd(options.prefix ?? root, "/"), "/");
    this.#prefix = prefix === "" ? "" : `/${prefix}`;
    this.#initializationTimeoutMs = options.initializationTimeoutMs ?? 60_000;
    this.#sizeIntervalMs = options.databaseSizeIntervalMs ?? 30_000;
    const { timeoutMs = 10_000, patienceMs = 34_000 } = options;
    this.#client = new EtcdClient({
      ...{ servers, timeoutMs, patienceMs, clock: this.#clock },
      ...(tls ? { tls } : {}),
    });
    this.#compactor = new Compactor(
      this.#client,
      this.#clock,
      options.compactionIntervalMs ?? 300_000,
      this.#logger,
    );
    this.#leases = new LeasePool(this.#client, this.#clock, leaseReuseSeconds);
  }

  traceCalls(tracing: GrpcTracing): void {
    this.#client.trace(tracing);
  }

  async start(): Promise<void> {
    await this.#client.start();
    const { header } = await this.#client.call<RangeResponse>(
      "range",
      { key: Buffer.from(`${this.#prefix}/`), countOnly: true },
      { repeatable: true, patienceMs: this.#initializationTimeoutMs },
    );
    this.#revision = this.#delivered = Number(header.revision);
    this.#history.reset(this.#revision);
    this.#state = "open";
    this.#openWatch();
    this.#compactor.start();
    if (this.#sizeIntervalMs > 0) this.#askSize();
  }

  async stop(): Promise<void> {
    if (this.#state !== "open") {
      this.#client.close();
      return;
    }
    // Writes in flight settle first.
    const until = this.#clock.monotonic() + EVENT_WAIT_MS;
    while (this.#inFlight.size > 0 && this.#clock.monotonic() < until)
      await this.#sleep(5);
    this.#state = "closed";
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#compactor.stop();
    this.#watch?.cancel();
    this.#client.close();
    this.#history.clear();
    for (const { resolve } of this.#waiters) resolve();
  }

  get revision(): number {
    return this.#revision;
  }

  /** Everyone who asks before the next question is sent shares its answer. */
  currentRevision(): Promise<number> {
    this.#nextAnswer ??= this.#answer.then(() => {
      this.#nextAnswer = undefined;
      const answer = this.#askRevision();
      this.#answer = answer.catch(() => undefined);
      return answer;
    });
    return this.#nextAnswer;
  }

  async #askRevision(): Promise<number> {
    this.#checkOpen();
    const { header } = await this.#client.call<RangeResponse>(
      "range",
      { key: this.#toEtcd(this.#root + PROGRESS_KEY), countOnly: true },
      { repeatable: true },
    );
    const revision = Number(header.revision);
    if (await this.#deliveredUpTo(revision, GRACE_MS)) return revision;
    const touched = await this.#client.call<TxnResponse>(
      "txn",
      {
        success: [
          {
            requestPut: {
              key: this.#toEtcd(this.#root + PROGRESS_KEY),
              value: Buffer.from("x"),
            },
          },
        ],
      },
      { repeatable: true },
    );
    if (await this.#deliveredUpTo(Number(touched.header.revision)))
      return revision;
    throw new StoreError("unavailable", "etcd's watch does not keep up");
  }

  async list(
    prefix: string,
  ): Promise<{ revision: number; values: StoredValue[] }> {
    this.#checkOpen();
    const rangeEnd = endOfPrefix(this.#toEtcd(prefix));
    let key = this.#toEtcd(prefix);
    let revision = 0;
    const values: StoredValue[] = [];
    for (;;) {
      const page = await this.#client.call<RangeResponse>(
        "range",
        { key, rangeEnd, limit: PAGE_SIZE, revision },
        { repeatable: true },
      );
      revision ||= Number(page.header.revision);
      for (const kv of page.kvs) {
        const value = this.#storedValue(kv);
        if (!this.#isProgress(value.key)) values.push(value);
      }
      if (!page.more) break;
      key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.from([0])]);
    }
    this.#revision = Math.max(this.#revision, revision);
    return { revision, values };
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#checkOpen();
    const { kvs } = await this.#client.call<RangeResponse>(
      "range",
      { key: this.#toEtcd(key) },
      { repeatable: true },
    );
    return kvs[0] && this.#storedValue(kvs[0]);
  }

  async write(op: WriteOp): Promise<WriteResult> {
    this.#checkOpen();
    const value = op.encode(0);
    const key = this.#toEtcd(op.key);
    const own: InFlight = { value, attachment: op.attachment };
    const lease =
      value && op.ttlSeconds
        ? await this.#leases.leaseFor(op.ttlSeconds)
        : undefined;
    this.#remember(op.key, own);
    try {
      const compare =
        op.expectedRevision !== undefined
          ? [{ result: 0, target: 2, key, modRevision: op.expectedRevision }]
          : // An unconditional delete wants something to delete.
            value
            ? []
            : [{ result: 1, target: 0, key, version: 0 }];
      const success = value
        ? { requestPut: { key, value, ...(lease ? { lease } : {}) } }
        : { requestDeleteRange: { key } };
      const answer = await this.#client.call<TxnResponse>("txn", {
        compare,
        success: [success],
        failure: [{ requestRange: { key } }],
      });
      const revision = Number(answer.header.revision);
      if (!answer.succeeded) {
        const current = answer.responses[0]?.responseRange?.kvs[0];
        return { ok: false, current: current && this.#storedValue(current) };
      }
      // Expected not to exist, and deleted: nothing happened.
      if (!value && answer.responses[0]?.responseDeleteRange?.deleted === "0")
        return { ok: false, current: undefined };
      await this.#deliveredUpTo(revision);
      this.#revision = Math.max(this.#revision, revision);
      return { ok: true, revision };
    } finally {
      this.#forget(op.key, own);
    }
  }

  async writeNew(entries: readonly NewEntry[]): Promise<boolean> {
    this.#checkOpen();
    for (const chunk of chunksOf(entries)) {
      const puts = await Promise.all(
        chunk.map(async ({ key, value, ttlSeconds }) => ({
          key: this.#toEtcd(key),
          value,
          ...(ttlSeconds
            ? { lease: await this.#leases.leaseFor(ttlSeconds) }
            : {}),
        })),
      );
      const { succeeded, header } = await this.#client.call<TxnResponse>(
        "txn",
        {
          compare: puts.map(({ key }) => ({
            result: 0,
            target: 2,
            key,
            modRevision: 0,
          })),
          success: puts.map((requestPut) => ({ requestPut })),
        },
      );
      if (!succeeded) return false;
      await this.#deliveredUpTo(Number(header.revision));
    }
    return true;
  }

  subscribe(
    afterRevision: number,
    listener: StoreListener,
    onLost: (error: Error) => void,
  ): () => void {
    // The list may have been newer than what the watch had brought by then.
    const newer: StoreListener = (events, upTo) => {
      const wanted = events.filter((event) => event.revision > afterRevision);
      if (wanted.length > 0 || (upTo ?? 0) > afterRevision)
        listener(wanted, upTo);
    };
    return this.#history.subscribe(
      Math.min(afterRevision, this.#delivered),
      newer,
      onLost,
    );
  }

  async healthy(): Promise<void> {
    this.#checkOpen();
    await this.#client.call<RangeResponse>(
      "range",
      { key: Buffer.from("health"), countOnly: true },
      { repeatable: true, patienceMs: 0 },
    );
  }

  #checkOpen(): void {
    if (this.#state !== "open")
      throw new StoreError("closed", "the store is closed");
  }

  #toEtcd(key: string): Buffer {
    return Buffer.from(this.#prefix + key.slice(this.#root.length));
  }

  #fromEtcd(key: Buffer): string {
    return this.#root + key.toString().slice(this.#prefix.length);
  }

  #storedValue({ key, value, modRevision }: KeyValue): StoredValue {
    return { key: this.#fromEtcd(key), value, revision: Number(modRevision) };
  }

  #openWatch(): void {
    const key = Buffer.from(`${this.#prefix}/`);
    const create = {
      key,
      rangeEnd: endOfPrefix(key),
      startRevision: this.#delivered + 1,
      progressNotify: true,
    };
    try {
      this.#watch = this.#client.watch(
        create,
        (response) => this.#take(response),
        (error) => this.#reopenWatch(error),
      );
    } catch (error) {
      this.#reopenWatch(error as Error);
    }
  }

  #reopenWatch(error: Error): void {
    if (this.#state !== "open") return;
    const retryMs = this.#retries.nextMs();
    this.#logger?.warn(
      { err: error, retryMs },
      "the watch on etcd ended; opening it again",
    );
    this.#after(retryMs, () => this.#openWatch());
  }

  #take(response: WatchResponse): void {
    if (this.#state !== "open") return;
    if (response.canceled) {
      this.#watch?.cancel();
      const compacted = Number(response.compactRevision);
      if (compacted > 0) {
        this.#delivered = Math.max(this.#delivered, compacted - 1);
        this.#history.reset(this.#delivered);
        this.#history.lose(
          new StoreError(
            "compacted",
            `etcd has compacted revision ${compacted}`,
          ),
        );
      }
      this.#reopenWatch(
        new StoreError(
          "unavailable",
          `etcd canceled the watch: ${response.cancelReason}`,
        ),
      );
      return;
    }
    this.#retries.reset();
    if (response.events.length === 0) {
      // A progress notice: nothing of ours happened up to here.
      if (!response.created) this.#progress(Number(response.header.revision));
      return;
    }
    const all = response.events.map(({ type, kv }) => this.#event(type, kv));
    const newest = all.at(-1)!.revision;
    const events = all.filter(({ key }) => !this.#isProgress(key));
    if (events.length === 0) return this.#progress(newest);
    this.#delivered = newest;
    this.#history.publish(events);
    if (events.length < all.length) this.#history.advance(newest);
    this.#advance(newest);
  }

  #progress(revision: number): void {
    if (revision > this.#delivered) this.#history.advance(revision);
    this.#advance(revision);
  }

  #isProgress(key: string): boolean {
    return key === this.#root + PROGRESS_KEY;
  }

  #event(type: number, kv: KeyValue): StoreEvent {
    const key = this.#fromEtcd(kv.key);
    const value = type === 0 ? kv.value : undefined;
    return {
      type: value ? "put" : "delete",
      key,
      value,
      revision: Number(kv.modRevision),
      attachment: this.#attachmentOf(key, value),
    };
  }

  /** The event of an own write is known by its bytes: what was attached describes just these. */
  #attachmentOf(key: string, value: Uint8Array | undefined): unknown {
    for (const own of this.#inFlight.get(key) ?? []) {
      if (
        own.value && value
          ? Buffer.compare(own.value, value) === 0
          : own.value === value
      )
        return own.attachment;
    }
    return undefined;
  }

  #advance(revision: number): void {
    this.#delivered = Math.max(this.#delivered, revision);
    this.#revision = Math.max(this.#revision, revision);
    for (const waiter of this.#waiters) {
      if (waiter.revision <= this.#delivered) waiter.resolve();
    }
  }

  /** The wait is bounded: a write is durable, whatever became of the watch. Resolves to whether the watch came so far. */
  #deliveredUpTo(revision: number, waitMs = EVENT_WAIT_MS): Promise<boolean> {
    if (this.#delivered >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        revision,
        resolve: (): void => {
          this.#waiters.delete(waiter);
          timer.cancel();
          this.#timers.delete(timer);
          resolve(this.#delivered >= revision);
        },
      };
      const timer = this.#after(waitMs, waiter.resolve);
      this.#waiters.add(waiter);
    });
  }

  #remember(key: string, own: InFlight): void {
    const known = this.#inFlight.get(key);
    if (known) known.add(own);
    else this.#inFlight.set(key, new Set([own]));
  }

  #forget(key: string, own: InFlight): void {
    const known = this.#inFlight.get(key);
    known?.delete(own);
    if (known?.size === 0) this.#inFlight.delete(key);
  }

  #askSize(): void {
    this.#client
      .call<StatusResponse>("status", {}, { repeatable: true, patienceMs: 0 })
      .then(
        ({ dbSize }) => (this.databaseBytes = dbSize),
        () => (this.databaseBytes = undefined),
      );
    this.#after(this.#sizeIntervalMs, () => this.#askSize());
  }

  #after(ms: number, callback: () => void): Timer {
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
    return timer;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#after(ms, resolve));
  }
}

function* chunksOf(entries: readonly NewEntry[]): Generator<NewEntry[]> {
  let chunk: NewEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.key.length + entry.value.length;
    if (
      chunk.length >= MAX_NEW_KEYS ||
      (chunk.length > 0 && bytes + size > MAX_NEW_BYTES)
    ) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(entry);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

/** The first key after all those with the prefix. */
function endOfPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let index = end.length - 1; index >= 0; index--) {
    if (end[index]! < 0xff) {
      end[index]!++;
      return end.subarray(0, index + 1);
    }
  }
  return Buffer.from([0]);
}

export function createEtcdStore(options: EtcdStoreOptions): Store {
  return new EtcdStore(options);
}
