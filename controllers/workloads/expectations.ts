// What a controller has written but not yet seen in its informer: until then it must not count, or it would write again.
// Example: three pods created → expectCreations(key, 3); each onAdd → creationObserved(key); satisfied(key) after the
// third. An expectation not met within five minutes is given up, as a write may have been lost.
import type { Clock } from "../../api/clock.ts";

const timeoutMs = 300_000;

interface Expected {
  creations: number;
  readonly deletions: Set<string>;
  readonly sinceMs: number;
}

export class Expectations {
  readonly #expected = new Map<string, Expected>();

  constructor(private readonly clock: Clock) {}

  satisfied(key: string): boolean {
    const expected = this.#expected.get(key);
    if (!expected) return true;
    if (expected.creations <= 0 && expected.deletions.size === 0) return true;
    return this.clock.monotonic() - expected.sinceMs > timeoutMs;
  }

  expectCreations(key: string, count: number): void {
    this.#set(key, count, []);
  }

  /** @param uids the objects being deleted, by uid because one may be seen twice (terminating, then gone) */
  expectDeletions(key: string, uids: readonly string[]): void {
    this.#set(key, 0, uids);
  }

  expect(key: string, creations: number, uids: readonly string[]): void {
    this.#set(key, creations, uids);
  }

  creationObserved(key: string): void {
    const expected = this.#expected.get(key);
    if (expected) expected.creations--;
  }

  deletionObserved(key: string, uid: string): void {
    this.#expected.get(key)?.deletions.delete(uid);
  }

  forget(key: string): void {
    this.#expected.delete(key);
  }

  #set(key: string, creations: number, uids: readonly string[]): void {
    this.#expected.set(key, {
      creations,
      deletions: new Set(uids),
      sinceMs: this.clock.monotonic(),
    });
  }
}
