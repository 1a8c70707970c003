// What one request asks of the limits: a seat in flight, or, under priority and fairness, seats of its level.

export type Entering = "runs" | "waits" | "refused";

/** What one request asks of the limits. */
export interface Claim {
  /** For `answer` headers; undefined: none. */
  readonly flow?: { readonly headers: Readonly<Record<string, string>> };
  readonly maxWaitMs: number;
  /** "waits": `admitted` is called in its turn, unless it stopped waiting. */
  enter(admitted: () => void): Entering;
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
