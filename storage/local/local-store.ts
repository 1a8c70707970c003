// What the memory and the file store have in common: the state, revisions, conflict detection, group commit, expiry,
// listeners. A Medium below only makes batches durable.
//
// Example: writes a and b arrive in one turn → revisions 5 and 6, one commit [5, 6]. While it is under way, c (7) and
// d (8) arrive and wait; when [5, 6] is durable its events go out, its promises resolve, and [7, 8] is committed.
//
// Invariants: at most one commit is in flight; `#heads` is the state as the newest assigned revision sees it, `#state` the
// durable one, which changes only when a commit has become durable, so that it may be read at any time and never holds
// anything newer than `revision`. When a commit fails, every write that waits behind it fails too: it may have been
// checked against a state that never was. When the store itself fails (a bug), every write fails and it is unhealthy.
import { systemClock, type Clock, type Timer } from "../../api/clock.ts";
import {
  StoreError,
  type Store,
  type StoredValue,
  type StoreEvent,
  type StoreListener,
  type WriteOp,
  type WriteResult,
} from "../store.ts";
import { EventHistory, type ListenerFailure } from "./event-history.ts";
import { LiveValues } from "./live-values.ts";
import { LiveVersion } from "./live-version.ts";
import { ExpiryQueue } from "./expiry-queue.ts";

export interface MediumWrite {
  readonly key: string;
  readonly revision: number;
  /** Epoch milliseconds; 0: never. */
  readonly expiresAtMs: number;
  /** Undefined: the key goes. */
  readonly value: Uint8Array | undefined;
}

/** What makes the writes of a local store durable. */
export interface Medium {
  /**
   * Opens and repairs; puts every live value into `state`, which the store keeps up to date from then on. Resolves to
   * the newest revision ever committed (0 when new).
   */
  open(state: LiveValues): Promise<number>;
  /** All or nothing; resolves when durable. Rejects with a StoreError and changes nothing. One at a time. */
  commit(writes: readonly MediumWrite[]): Promise<void>;
  /** Between two commits, when the state holds all that was committed: time to begin work in the background. */
  maintain?(): void;
  /** What it takes on the disk. */
  readonly bytes?: number | undefined;
  close(): Promise<void>;
}

interface Head {
  readonly revision: number;
  /** False after a delete that is not committed yet. */
  readonly exists: boolean;
}

/** A write that was asked for and is not answered yet. */
interface Ask {
  readonly op: WriteOp;
  resolve(result: WriteResult): void;
  reject(error: Error): void;
}

interface PendingWrite extends MediumWrite {
  readonly ask: Ask;
}

interface LocalStoreOptions {
  readonly clock?: Clock | undefined;
  /** Called for each listener that threw, after it lost its subscription. */
  readonly onListenerFailure?: ListenerFailure | undefined;
}

/** Expired keys are removed in groups: none waits longer than this. */
const EXPIRY_SLACK_MS = 500;
/** A commit's values; the rest of the queue goes with the next. Bounds what is encoded and checksummed in one turn. */
const MAX_COMMIT_BYTES = 1024 * 1024;
/** A commit that takes longer than this makes the store unhealthy. */
export const MAX_COMMIT_MS = 10_000;

export class LocalStore implements Store {
  readonly shared = false;
  readonly #medium: Medium;
  readonly #clock: Clock;
  readonly #state = new LiveValues();
  /** Keys with writes that are not committed yet, as the last of those leaves them. */
  readonly #heads = new Map<string, Head>();
  readonly #history: EventHistory;
  readonly #expiries = new ExpiryQueue();
  #queue: PendingWrite[] = [];
  /** These writes conflict with one that is not durable yet; they are decided again after the next commit. */
  #undecided: Ask[] = [];
  #running: Promise<void> | undefined;
  #commitStartedMs: number | undefined;
  #revision = 0;
  #assigned = 0;
  #expiryTimer: { timer: Timer; atMs: number } | undefined;
  #phase: "new" | "open" | "closed" = "new";
  /** Why the last commit failed. */
  #trouble: StoreError | undefined;
  /** Set for good when the commit path itself failed. */
  #broken: StoreError | undefined;

  constructor(medium: Medium, options: LocalStoreOptions = {}) {
    this.#medium = medium;
    this.#clock = options.clock ?? systemClock;
    this.#history = new EventHistory(options.onListenerFailure);
  }

  async start(): Promise<void> {
    if (this.#phase === "open") return;
    this.#state.clear();
    const revision = await this.#medium.open(this.#state);
    // The wall clock counts only here, for the time the store was closed; while it is open no jump of it expires a key.
    const offsetMs = this.#clock.monotonic() - this.#clock.now();
    for (const { key, revision: at, expiresAtMs } of this.#state.values())
      if (expiresAtMs > 0)
        this.#expiries.add({
          key,
          revision: at,
          dueMs: expiresAtMs + offsetMs,
        });
    this.#revision = Math.max(revision, 1);
    this.#assigned = this.#revision;
    this.#history.reset(this.#revision);
    this.#phase = "open";
    this.#scheduleExpiry();
  }

  async stop(): Promise<void> {
    if (this.#phase !== "open") return;
    this.#phase = "closed";
    this.#expiryTimer?.timer.cancel();
    this.#expiryTimer = undefined;
    while (this.#running) await this.#running;
    this.#history.clear();
    await this.#medium.close();
    this.#state.clear();
  }

  get revision(): number {
    return this.#revision;
  }

  currentRevision(): number {
    return this.#revision;
  }

  list(prefix: string): Promise<{ revision: number; values: StoredValue[] }> {
    if (this.#phase !== "open") return Promise.reject(closedError());
    const values = this.#state.withPrefix(prefix);
    return Promise.resolve({ revision: this.#revision, values });
  }

  get(key: string): Promise<StoredValue | undefined> {
    if (this.#phase !== "open") return Promise.reject(closedError());
    return Promise.resolve(this.#state.get(key));
  }

  write(op: WriteOp): Promise<WriteResult> {
    return new Promise((resolve, reject) =>
      this.#decide({ op, resolve, reject }),
    );
  }

  subscribe(
    afterRevision: number,
    listener: StoreListener,
    onLost: (error: Error) => void,
  ): () => void {
    return this.#history.subscribe(afterRevision, listener, onLost);
  }

  get fatal(): Error | undefined {
    return this.#broken ?? this.#stuck();
  }

  get databaseBytes(): number | undefined {
    return this.#medium.bytes;
  }

  get listenerFailures(): number {
    return this.#history.failures;
  }

  healthy(): Promise<void> {
    const problem =
      this.#phase !== "open" ? closedError() : (this.fatal ?? this.#trouble);
    return problem ? Promise.reject(problem) : Promise.resolve();
  }

  #stuck(): StoreError | undefined {
    if (this.#commitStartedMs === undefined) return undefined;
    const forMs = this.#clock.monotonic() - this.#commitStartedMs;
    return forMs > MAX_COMMIT_MS
      ? new StoreError(
          "unavailable",
          `a commit has been under way for ${Math.round(forMs / 1000)} s`,
        )
      : undefined;
  }

  /** Queues the write, answers a conflict, or puts it off until what it conflicts with is durable. */
  #decide(ask: Ask): void {
    const { op } = ask;
    if (this.#phase !== "open") return ask.reject(closedError());
    if (this.#broken) return ask.reject(this.#broken);
    const head = this.#heads.get(op.key);
    const current = head
      ? head.exists
        ? head.revision
        : 0
      : (this.#state.get(op.key)?.revision ?? 0);
    if (op.expectedRevision === undefined || op.expectedRevision === current)
      this.#enqueue(ask, current);
    else if (head) this.#undecided.push(ask);
    else ask.resolve({ ok: false, current: this.#state.get(op.key) });
  }

  #enqueue(ask: Ask, current: number): void {
    const { op } = ask;
    const revision = this.#assigned + 1;
    let value: Uint8Array | undefined;
    try {
      value = op.encode(revision);
    } catch (error) {
      return ask.reject(error as Error);
    }
    if (!value && current === 0)
      return ask.resolve({ ok: false, current: undefined });
    this.#assigned = revision;
    this.#heads.set(op.key, { revision, exists: value !== undefined });
    const expiresAtMs =
      value && op.ttlSeconds ? this.#clock.now() + op.ttlSeconds * 1000 : 0;
    this.#queue.push({ key: op.key, revision, value, expiresAtMs, ask });
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        // What this turn's promises lead to shares the commit.
        await new Promise<void>((resolve) => process.nextTick(resolve));
        await this.#commit(this.#takeBatch());
        for (const ask of this.#undecided.splice(0)) this.#decide(ask);
      }
    } catch (error) {
      this.#break(error);
    } finally {
      this.#running = undefined;
    }
    this.#scheduleExpiry();
  }

  #takeBatch(): PendingWrite[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length) {
      bytes += this.#queue[count]!.value?.length ?? 0;
      if (count > 0 && bytes > MAX_COMMIT_BYTES) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #commit(batch: readonly PendingWrite[]): Promise<void> {
    this.#commitStartedMs = this.#clock.monotonic();
    try {
      await this.#medium.commit(batch);
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble =
        error instanceof StoreError
          ? error
          : new StoreError("unavailable", String(error), { cause: error });
      return this.#abandon(batch, this.#trouble);
    } finally {
      this.#commitStartedMs = undefined;
    }
    try {
      this.#publish(batch);
    } finally {
      // They are durable, whatever happened here.
      for (const { ask, revision } of batch)
        ask.resolve({ ok: true, revision });
    }
    this.#medium.maintain?.();
  }

  #publish(batch: readonly PendingWrite[]): void {
    const events: StoreEvent[] = [];
    for (const { key, revision, value, expiresAtMs, ask } of batch) {
      if (value) {
        this.#state.set(
          key,
          new LiveVersion(key, value, revision, expiresAtMs),
        );
        if (ask.op.ttlSeconds)
          this.#expiries.add({
            key,
            revision,
            dueMs: this.#clock.monotonic() + ask.op.ttlSeconds * 1000,
          });
      } else {
        this.#state.delete(key);
      }
      if (this.#heads.get(key)?.revision === revision) this.#heads.delete(key);
      const { attachment } = ask.op;
      const type = value ? "put" : "delete";
      events.push({ type, key, value, revision, attachment });
    }
    this.#revision = batch.at(-1)!.revision;
    this.#history.publish(events);
  }

  #abandon(batch: readonly PendingWrite[], error: StoreError): void {
    const lost = [...batch, ...this.#queue.splice(0)];
    this.#heads.clear();
    for (const { ask } of lost) ask.reject(error);
  }

  /** The commit path failed in a way it never should: no write can be trusted any more. */
  #break(cause: unknown): void {
    this.#broken = new StoreError(
      "unavailable",
      `the store failed: ${String(cause)}`,
      { cause },
    );
    this.#abandon([], this.#broken);
    for (const ask of this.#undecided.splice(0)) ask.reject(this.#broken);
  }

  #scheduleExpiry(): void {
    const atMs = this.#expiries.nextDueMs;
    if (atMs === undefined || this.#phase !== "open") return;
    if (this.#expiryTimer && this.#expiryTimer.atMs <= atMs) return;
    this.#expiryTimer?.timer.cancel();
    const delayMs =
      Math.max(0, atMs - this.#clock.monotonic()) + EXPIRY_SLACK_MS;
    this.#expiryTimer = {
      atMs,
      timer: this.#clock.after(delayMs, () => this.#expire()),
    };
  }

  #expire(): void {
    this.#expiryTimer = undefined;
    if (this.#phase !== "open") return;
    const nowMs = this.#clock.monotonic();
    for (
      let due = this.#expiries.takeDue(nowMs);
      due;
      due = this.#expiries.takeDue(nowMs)
    ) {
      const { key, revision } = due;
      if (this.#state.get(key)?.revision !== revision) continue;
      const removal = {
        key,
        expectedRevision: revision,
        encode: () => undefined,
      };
      this.write(removal).catch(() => {
        // Disk full or closing: tried again a little later.
        if (this.#phase === "open")
          this.#expiries.add({
            key,
            revision,
            dueMs: this.#clock.monotonic() + 10_000,
          });
        this.#scheduleExpiry();
      });
    }
    this.#scheduleExpiry();
  }
}

function closedError(): StoreError {
  return new StoreError("closed", "the store is closed");
}
