// What the memory and the file store have in common: revisions, conflict detection, group commit, expiry, listeners.
// A Medium below only makes batches durable and gives values back.
//
// Example: writes a and b arrive in one turn → revisions 5 and 6, one commit [5, 6]. While it is under way, c (7) and
// d (8) arrive and wait; when [5, 6] is durable its events go out, its promises resolve, and [7, 8] is committed.
//
// Invariants: at most one commit is in flight; `#heads` is the state as the newest assigned revision sees it,
// `#committed` the durable one; reads run only between commits, so a value never is newer than `revision`.
// When a commit fails, every write that waits behind it fails too: it may have been judged by a state that never was.
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
import { EventHistory } from "./event-history.ts";
import { ExpiryQueue } from "./expiry-queue.ts";

export interface MediumEntry {
  readonly key: string;
  readonly revision: number;
  /** Epoch milliseconds; 0: never. */
  readonly expiresAtMs: number;
}

export interface MediumWrite extends MediumEntry {
  /** Undefined: the key goes. */
  readonly value: Uint8Array | undefined;
}

/** Where a local store keeps its values. */
export interface Medium {
  /** Opens and repairs; the newest revision ever committed (0 when new), and every live entry in any order. */
  open(): Promise<{ revision: number; entries: Iterable<MediumEntry> }>;
  /** The committed value. Only called between commits. */
  read(key: string): Uint8Array | undefined;
  /** All or nothing; resolves when durable. Rejects with a StoreError and changes nothing. */
  commit(writes: readonly MediumWrite[]): Promise<void>;
  close(): Promise<void>;
}

interface Head {
  readonly revision: number;
  /** False after a delete that is not committed yet. */
  readonly exists: boolean;
}

interface PendingWrite extends MediumWrite {
  readonly attachment: unknown;
  resolve(result: WriteResult): void;
  reject(error: Error): void;
}

/** Expired keys are removed in groups: none waits longer than this. */
const EXPIRY_SLACK_MS = 500;

export class LocalStore implements Store {
  readonly shared = false;
  readonly #medium: Medium;
  readonly #clock: Clock;
  readonly #committed = new Map<string, MediumEntry>();
  /** Keys with writes that are not committed yet, as the last of those leaves them. */
  readonly #heads = new Map<string, Head>();
  readonly #history = new EventHistory();
  readonly #expiries = new ExpiryQueue();
  #queue: PendingWrite[] = [];
  /** Reads that wait for the commit in flight. */
  #readers: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #inCommit = false;
  #revision = 0;
  #assigned = 0;
  #expiryTimer: { timer: Timer; atMs: number } | undefined;
  #state: "new" | "open" | "closed" = "new";
  #trouble: StoreError | undefined;

  constructor(medium: Medium, clock: Clock = systemClock) {
    this.#medium = medium;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    if (this.#state === "open") return;
    const { revision, entries } = await this.#medium.open();
    this.#committed.clear();
    for (const entry of entries) {
      this.#committed.set(entry.key, entry);
      if (entry.expiresAtMs > 0) this.#expiries.add(entry);
    }
    this.#revision = Math.max(revision, 1);
    this.#assigned = this.#revision;
    this.#history.reset(this.#revision);
    this.#state = "open";
    this.#scheduleExpiry();
  }

  async stop(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "closed";
    this.#expiryTimer?.timer.cancel();
    this.#expiryTimer = undefined;
    while (this.#running) await this.#running;
    this.#history.clear();
    await this.#medium.close();
  }

  get revision(): number {
    return this.#revision;
  }

  currentRevision(): number {
    return this.#revision;
  }

  async list(
    prefix: string,
  ): Promise<{ revision: number; values: StoredValue[] }> {
    await this.#betweenCommits();
    const keys = [...this.#committed.keys()]
      .filter((key) => key.startsWith(prefix))
      .sort();
    const values: StoredValue[] = [];
    for (const key of keys) {
      const value = this.#readNow(key);
      if (value) values.push(value);
    }
    return { revision: this.#revision, values };
  }

  async get(key: string): Promise<StoredValue | undefined> {
    await this.#betweenCommits();
    return this.#readNow(key);
  }

  async write(op: WriteOp): Promise<WriteResult> {
    for (;;) {
      if (this.#state !== "open") throw closedError();
      const head = this.#heads.get(op.key);
      const current = head
        ? head.exists
          ? head.revision
          : 0
        : (this.#committed.get(op.key)?.revision ?? 0);
      if (op.expectedRevision === undefined || op.expectedRevision === current)
        return this.#enqueue(op, current);
      // A conflict is told only when what it conflicts with is durable.
      if (!head) return { ok: false, current: await this.get(op.key) };
      await this.#settled(op.key, head);
    }
  }

  subscribe(
    afterRevision: number,
    listener: StoreListener,
    onLost: (error: Error) => void,
  ): () => void {
    return this.#history.subscribe(afterRevision, listener, onLost);
  }

  healthy(): Promise<void> {
    if (this.#state !== "open") return Promise.reject(closedError());
    return this.#trouble ? Promise.reject(this.#trouble) : Promise.resolve();
  }

  #readNow(key: string): StoredValue | undefined {
    const entry = this.#committed.get(key);
    if (!entry) return undefined;
    const value = this.#medium.read(key);
    if (!value)
      throw new StoreError("corrupt", `the value of ${key} is missing`);
    return { key, value, revision: entry.revision };
  }

  async #betweenCommits(): Promise<void> {
    if (this.#state !== "open") throw closedError();
    // Callers go on in microtasks; another reader's may have let the next commit begin.
    while (this.#inCommit)
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    // Closed meanwhile: the medium is gone.
    if ((this.#state as string) !== "open") throw closedError();
  }

  /** Waits until the pending write that made `head` has committed or failed. */
  async #settled(key: string, head: Head): Promise<void> {
    while (this.#heads.get(key) === head) {
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
  }

  #enqueue(op: WriteOp, current: number): WriteResult | Promise<WriteResult> {
    const revision = this.#assigned + 1;
    const value = op.encode(revision);
    if (!value && current === 0) return { ok: false, current: undefined };
    this.#assigned = revision;
    this.#heads.set(op.key, { revision, exists: value !== undefined });
    const expiresAtMs =
      value && op.ttlSeconds ? this.#clock.now() + op.ttlSeconds * 1000 : 0;
    return new Promise<WriteResult>((resolve, reject) => {
      const { key, attachment } = op;
      this.#queue.push({
        key,
        revision,
        value,
        expiresAtMs,
        attachment,
        resolve,
        reject,
      });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // What else arrives in this turn's microtasks shares the first commit.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      this.#inCommit = true;
      let failure: StoreError | undefined;
      try {
        await this.#medium.commit(batch);
      } catch (error) {
        failure =
          error instanceof StoreError
            ? error
            : new StoreError("unavailable", String(error), { cause: error });
      }
      this.#inCommit = false;
      this.#trouble = failure;
      if (failure) this.#abandon(batch, failure);
      else this.#publish(batch);
      await this.#letReadersRun();
    }
    this.#running = undefined;
    this.#scheduleExpiry();
  }

  #publish(batch: readonly PendingWrite[]): void {
    const events: StoreEvent[] = [];
    for (const { key, revision, value, expiresAtMs, attachment } of batch) {
      if (value) {
        const entry = { key, revision, expiresAtMs };
        this.#committed.set(key, entry);
        if (expiresAtMs > 0) this.#expiries.add(entry);
      } else {
        this.#committed.delete(key);
      }
      if (this.#heads.get(key)?.revision === revision) this.#heads.delete(key);
      events.push({
        type: value ? "put" : "delete",
        key,
        value,
        revision,
        attachment,
      });
    }
    this.#revision = batch.at(-1)!.revision;
    this.#history.publish(events);
    for (const write of batch)
      write.resolve({ ok: true, revision: write.revision });
  }

  #abandon(batch: readonly PendingWrite[], error: StoreError): void {
    const lost = [...batch, ...this.#queue];
    this.#queue = [];
    this.#heads.clear();
    for (const write of lost) write.reject(error);
  }

  /**
   * One round only: who finds that it must wait longer queues for the next. Reads are synchronous once they may run, so
   * a few turns of the microtask queue are enough for them.
   */
  async #letReadersRun(): Promise<void> {
    if (this.#readers.length === 0) return;
    const readers = this.#readers;
    this.#readers = [];
    for (const reader of readers) reader();
    for (let round = 0; round < 4; round++) await Promise.resolve();
  }

  #scheduleExpiry(): void {
    const atMs = this.#expiries.nextAtMs;
    if (atMs === undefined || this.#state !== "open") return;
    if (this.#expiryTimer && this.#expiryTimer.atMs <= atMs) return;
    this.#expiryTimer?.timer.cancel();
    const delayMs = Math.max(0, atMs - this.#clock.now()) + EXPIRY_SLACK_MS;
    this.#expiryTimer = {
      atMs,
      timer: this.#clock.after(delayMs, () => this.#expire()),
    };
  }

  #expire(): void {
    this.#expiryTimer = undefined;
    if (this.#state !== "open") return;
    const nowMs = this.#clock.now();
    for (
      let due = this.#expiries.takeDue(nowMs);
      due;
      due = this.#expiries.takeDue(nowMs)
    ) {
      const expired = due;
      if (this.#committed.get(expired.key)?.revision !== expired.revision)
        continue;
      const removal = {
        key: expired.key,
        expectedRevision: expired.revision,
        encode: () => undefined,
      };
      this.write(removal).catch(() => {
        // Disk full or closing: tried again a little later.
        if (this.#state === "open")
          this.#expiries.add({
            ...expired,
            expiresAtMs: this.#clock.now() + 10_000,
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
