// What the proxy counts, in the form its thread sends. Series are bounded: objects beyond the bound are counted together.
import type { RouteOwner } from "../routing/route.ts";

/** Upper bounds of the durations' buckets, in seconds. */
export const durationBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  60,
];
const maxOwners = 10_000;

interface OwnerCounts {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** By status. */
  readonly responses: Record<string, number>;
  bytes: number;
}

/** Counted since the thread's start. */
export interface IngressStatistics {
  /** By owner; "" for requests without a route. */
  readonly owners: Readonly<Record<string, OwnerCounts>>;
  /** Requests of each bucket of `durationBounds`, those above all of them last. */
  readonly durations: readonly number[];
  readonly durationSum: number;
  /** By kind. */
  readonly upstreamFailures: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly requestsUnderWay: number;
  readonly connections: number;
  readonly routes: number;
  readonly backends: number;
  readonly certificates: number;
  readonly accessLogDropped: number;
}

export class StatisticsCounter {
  readonly owners = new Map<string, OwnerCounts>();
  readonly durations = Array<number>(durationBounds.length + 1).fill(0);
  readonly upstreamFailures: Record<string, number> = {};
  durationSum = 0;
  retries = 0;
  underWay = 0;
  changed = false;

  done(
    owner: RouteOwner | undefined,
    status: number,
    seconds: number,
    bytes: number,
  ): void {
    this.changed = true;
    const counts = this.#countsOf(owner);
    counts.responses[status] = (counts.responses[status] ?? 0) + 1;
    counts.bytes += bytes;
    this.durationSum += seconds;
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!)
      bucket++;
    this.durations[bucket]!++;
  }

  failed(failure: string): void {
    this.changed = true;
    this.upstreamFailures[failure] = (this.upstreamFailures[failure] ?? 0) + 1;
  }

  #countsOf(owner: RouteOwner | undefined): OwnerCounts {
    const key = owner ? `${owner.kind}/${owner.namespace}/${owner.name}` : "";
    const known = this.owners.get(key);
    if (known) return known;
    const full = this.owners.size >= maxOwners;
    const counts: OwnerCounts = {
      kind: owner?.kind ?? "",
      namespace: full ? "" : (owner?.namespace ?? ""),
      name: full ? "" : (owner?.name ?? ""),
      responses: {},
      bytes: 0,
    };
    if (full) return this.owners.get("") ?? counts;
    this.owners.set(key, counts);
    return counts;
  }
}
