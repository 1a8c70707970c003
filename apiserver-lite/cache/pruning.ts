// Forgets history by age, once a minute, and knows which revisions are too old to be read exactly: also collections that
// never change forget, as the reference's storage is compacted.
import type { Clock, Timer } from "../../api/clock.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type { DerivedBytes } from "./derived-bytes.ts";
import type { ResourceCache } from "./resource-cache.ts";

const pruneIntervalMs = 60_000;

interface PruningOptions {
  readonly clock: Clock;
  readonly historyMs: number;
  readonly slices: TimeSlices | undefined;
  readonly derived: DerivedBytes;
  readonly revision: () => number;
  readonly resources: () => Iterable<ResourceCache>;
}

export class Pruning {
  /** The revision at each pruning of the last `historyMs`, oldest first. */
  readonly #pruned: { atMs: number; revision: number }[] = [];
  #compacted = 0;
  #timer: Timer | undefined;

  constructor(private readonly options: PruningOptions) {}

  get compacted(): number {
    return this.#compacted;
  }

  start(): void {
    const { clock, derived, revision, historyMs } = this.options;
    this.#timer = clock.after(pruneIntervalMs, () => {
      const nowMs = clock.monotonic();
      void this.#pruneAll(nowMs);
      derived.age();
      this.#pruned.push({ atMs: nowMs, revision: revision() });
      while (this.#pruned[0] && this.#pruned[0].atMs <= nowMs - historyMs)
        this.#compacted = this.#pruned.shift()!.revision;
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async #pruneAll(nowMs: number): Promise<void> {
    const { slices, resources } = this.options;
    for (const cache of [...resources()])
      while (cache.prune(nowMs)) if (slices?.over) await slices.next();
  }
}
