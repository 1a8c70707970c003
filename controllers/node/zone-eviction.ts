// How fast pods are evicted from nodes that are not ready: at a limited rate a zone, slower (or not at all) in a zone most
// of which is down, and from nowhere when no node at all is ready, as then the fault is ours.
import type { Clock } from "../../api/clock.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { ControllerOptions } from "../options.ts";
import { readyStatus } from "./node-conditions.ts";

const zoneLabel = "topology.kubernetes.io/zone";
const regionLabel = "topology.kubernetes.io/region";

type EvictionRates = Pick<
  ControllerOptions,
  | "nodeEvictionRate"
  | "secondaryNodeEvictionRate"
  | "largeClusterSizeThreshold"
  | "unhealthyZoneThreshold"
>;

/** Nodes a second that may be given their NoExecute taint in this node's zone now. */
export function evictionRate(
  node: Node,
  all: readonly Node[],
  rates: EvictionRates,
): number {
  if (!all.some(isReady)) return 0;
  const zone = zoneOf(node);
  const inZone = all.filter((other) => zoneOf(other) === zone);
  const down = inZone.filter((other) => !isReady(other)).length;
  const isUnhealthy =
    down > 2 && down / inZone.length >= rates.unhealthyZoneThreshold;
  if (!isUnhealthy) return rates.nodeEvictionRate;
  return inZone.length > rates.largeClusterSizeThreshold
    ? rates.secondaryNodeEvictionRate
    : 0;
}

export class ZoneEvictions {
  /** `zone/rate` → its turns. */
  readonly #limits = new Map<string, TokenBucket>();

  constructor(
    private readonly clock: Clock,
    private readonly rates: EvictionRates,
  ) {}

  /** Takes a turn of the zone's rate. */
  tryTake(node: Node, all: readonly Node[]): boolean {
    const rate = evictionRate(node, all, this.rates);
    if (rate === 0) return false;
    const key = `${zoneOf(node)}/${rate}`;
    let limit = this.#limits.get(key);
    if (!limit) {
      limit = new TokenBucket(this.clock, rate, 1);
      this.#limits.set(key, limit);
    }
    return limit.tryTake();
  }
}

const isReady = (node: Node): boolean => readyStatus(node) === "True";

function zoneOf({ metadata }: Node): string {
  const { labels } = metadata;
  return `${labels?.[regionLabel] ?? ""}/${labels?.[zoneLabel] ?? ""}`;
}
