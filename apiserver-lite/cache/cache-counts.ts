// What was read of one stored resource and what came to it. Readers and the watch cache count plain numbers up; a scrape
// makes the families (../metrics/cache-families.ts).
// Invariant: the counts outlive a cache that is replaced by another of the same resource, so that they only grow.
import { Histogram } from "../../api/metrics/histogram.ts";

const waitBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3,
];

/** Events that watchers of one served version were sent. */
interface WatchedVersion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  events: number;
}

export class CacheCounts {
  lists = 0;
  /** Objects that lists looked at. */
  fetched = 0;
  /** Objects that lists were answered with. */
  returned = 0;
  /** Objects, or past events, that watches began with. */
  initial = 0;
  /** Watchers that did not read fast enough. */
  cutWatchers = 0;
  /** Events of the store. */
  events = 0;
  /** How often the resource was read from the store, and how many values that were. */
  loads = 0;
  loaded = 0;
  /** Values of the store that could not be read. */
  unreadable = 0;
  consistentReads = 0;
  failedReads = 0;
  /** Seconds that lists waited for the state that they want. */
  readonly waits = new Histogram(waitBounds);

  readonly watched = new Map<string, WatchedVersion>();

  /** What a watcher of this version counts its events in. */
  watchedAs(info: Omit<WatchedVersion, "events">): WatchedVersion {
    const { group, version, kind } = info;
    const key = `${group}/${version}`;
    let known = this.watched.get(key);
    if (!known)
      this.watched.set(key, (known = { group, version, kind, events: 0 }));
    return known;
  }

  listed(fetched: number, returned: number): void {
    this.lists++;
    this.fetched += fetched;
    this.returned += returned;
  }

  /** A consistent read waits for `ready`. */
  async consistent(ready: Promise<void>): Promise<void> {
    const startMs = performance.now();
    try {
      await ready;
      this.consistentReads++;
    } catch (error) {
      this.failedReads++;
      throw error;
    } finally {
      this.waits.observe((performance.now() - startMs) / 1000);
    }
  }

  /** A consistent read that waits for nothing. */
  wasConsistent(): void {
    this.consistentReads++;
    this.waits.observe(0);
  }
}
