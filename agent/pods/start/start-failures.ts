// How long a pod waits before it tries again to start a container that could not be started: doubling from 2 s to 15 s
// with each failure in a row, from the beginning after a start that worked. Each container counts for itself.
import { backoffMs } from "../../../api/queueing/backoff.ts";

const retries = { baseMs: 2000, maxMs: 15_000 };

export class StartFailures {
  readonly #inARow = new Map<string, number>();

  /** @returns milliseconds to wait */
  failed(container: string): number {
    const before = this.#inARow.get(container) ?? 0;
    this.#inARow.set(container, before + 1);
    return backoffMs(retries, before);
  }

  succeeded(container: string): void {
    this.#inARow.delete(container);
  }
}
