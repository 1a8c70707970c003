// What one request asks of the limits: a seat in flight, or, under priority and fairness, seats of its level.

export type Entering = "runs" | "waits" | "refused";

/** Where a request belongs under priority and fairness: UIDs, "" for what has none. */
interface ClaimedFlow {
  readonly schemaUid: string;
  readonly level: { readonly uid: string };
}

/** Called when a request that waits has its seat. */
export interface Waiter {
  admitted(): void;
}

/** What one request asks of the limits. */
export interface Claim {
  /** Undefined: priority and fairness is off. */
  readonly flow?: ClaimedFlow;
  readonly maxWaitMs: number;
  /** "waits": the waiter is called in its turn, unless it stopped waiting. */
  enter(waiter: Waiter): Entering;
  /** It leaves the queue. Does nothing when it is in none. */
  stopWaiting(): void;
  /** What runs is over. Does nothing when nothing ran. */
  leave(): void;
  /** Without it a refusal is answered at once. */
  whenRefused?(answer: () => void): void;
  /** A watch has ended. */
  over?(): void;
  /** It is refused; after how many seconds to come back. */
  refuse(): number;
}
