// The contract of every storage engine (memory, file, etcd): a durable, ordered map from key to bytes with one
// revision counter for all keys. The API server's watch cache holds the whole state in memory; an engine is read in
// full once at start, then only written and listened to.
//
// Example, prefix "/registry": write(/registry/pods/default/a, expected 0) → revision 5; the listener sees
// { type: "put", key, revision: 5 }; write(same key, expected 0) → conflict with the current revision 5;
// write(same key, expected 5, encode → undefined) → revision 6 and { type: "delete", revision: 6 }.
//
// Invariants: revisions are strictly increasing, also across restarts and crashes, one write each. A write's promise
// resolves only after it is durable, and after its event has been given to every listener. Listeners see events in
// revision order with no gap.

import type { GrpcTracing } from "../grpc/channel.ts";

export interface StoredValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the write that made this version. */
  readonly revision: number;
}

export interface WriteOp {
  readonly key: string;
  /** The write happens only if the key's last revision is this; 0: the key must not exist; undefined: unconditional. */
  readonly expectedRevision: number | undefined;
  /**
   * Gives the new value, or undefined to delete the key. Local engines call it once, synchronously, with the revision
   * the write will have (so that bytes can hold it); an engine that learns the revision later passes 0.
   */
  encode(revision: number): Uint8Array | undefined;
  /** Handed through to the event of this write in this process: spares the cache a parse. */
  readonly attachment?: unknown;
  /** The key expires by itself this long after the write (events). */
  readonly ttlSeconds?: number;
}

export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  /** The expectation did not hold; `current` is undefined when the key does not exist. */
  | { readonly ok: false; readonly current: StoredValue | undefined };

export interface StoreEvent {
  readonly type: "put" | "delete";
  readonly key: string;
  /** The new value; undefined for a delete. */
  readonly value: Uint8Array | undefined;
  readonly revision: number;
  /** What the writer in this process attached; undefined for writes of others. */
  readonly attachment: unknown;
}

/**
 * The engine calls a listener once per commit with all its events in revision order. A listener must not block. When it
 * throws, it is called no more, and its `onLost` is called. `upTo`: nothing else happened up to this revision; engines
 * that share their revisions with other clients call with no events to report it.
 */
export type StoreListener = (
  events: readonly StoreEvent[],
  upTo?: number,
) => void;

export interface NewEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly ttlSeconds?: number;
}

export interface Store {
  /** Other processes write to it and read its values, which therefore have the reference's form. */
  readonly shared: boolean;
  /** Opens the store and repairs what a crash left. Fails with a StoreError when that is not possible. */
  start(): Promise<void>;
  /** Waits for the writes in flight and closes. Writes after it fail with a StoreError "closed". */
  stop(): Promise<void>;
  /** The newest committed revision. At least 1 after start. */
  readonly revision: number;
  /**
   * The newest revision any process committed before the call; every event up to it has been given to the listeners by
   * the time it is known. At once (no promise) where this process is the only writer. Rejects with a StoreError.
   */
  currentRevision(): number | Promise<number>;
  /** Every live value whose key starts with prefix, in key order, at the revision returned beside them. */
  list(prefix: string): Promise<{ revision: number; values: StoredValue[] }>;
  get(key: string): Promise<StoredValue | undefined>;
  /** See the header. Rejects with a StoreError when it can't be made durable (disk full, lost connection). */
  write(op: WriteOp): Promise<WriteResult>;
  /**
   * Many new keys in few steps (restore). False: one of them exists already; some may have been written. Undefined
   * where single writes are as fast.
   */
  writeNew?(entries: readonly NewEntry[]): Promise<boolean>;
  /** Traces the calls of a server that are made from now on; undefined where none is called. */
  traceCalls?(tracing: GrpcTracing): void;
  /** Bytes the database takes, as last asked; undefined where the engine does not ask. */
  readonly databaseBytes?: number | undefined;
  /** Events with revision > afterRevision, then the live ones. Returns a function that stops listening. */
  subscribe(
    afterRevision: number,
    listener: StoreListener,
    onLost: (error: Error) => void,
  ): () => void;
  /** Set when only a new start can help: a commit that does not end, or a commit path that failed. */
  readonly fatal?: Error | undefined;
  /** How often a listener threw, and lost its subscription, since the start. */
  readonly listenerFailures?: number;
  /** Resolves when the store can serve; rejects with the reason when it can't. Bounded by the caller's timeout. */
  healthy(): Promise<void>;
}

export class StoreError extends Error {
  constructor(
    readonly code:
      | "closed"
      | "full"
      | "corrupt"
      | "unavailable"
      /** It could not be reached for as long as a request may wait. */
      | "timeout"
      | "compacted"
      | "locked",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "StoreError";
  }
}
