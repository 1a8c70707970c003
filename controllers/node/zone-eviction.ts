// How fast pods are evicted from nodes that are not ready: at a limited rate a zone, slower (or not at all) in a zone most
// of which is down, and from nowhere when no node at all is ready, as then the fault is ours. A zone that is down as a
// whole is evicted at the usual rate, as other zones are there to take its pods.
import type { Clock } from "../../api/clock.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { ControllerOptions } from "../options.ts";
import { readyStatus } from "./node-conditions.ts";
import { zoneKey } from "./node-zone.ts";

/** Nodes that come and go by design: they say nothing about their zone. */
const excludedLabel = "node.kubernetes.io/exclude-disruption";

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
  if (isMasterDisruption(all)) return 0;
  const zone = zoneKey(node);
  const inZone = counted(all).filter((other) => zoneKey(other) === zone);
  const down = inZone.filter((other) => !isReady(other)).length;
  const isUnhealthy =
    down > 2 &&
    down < inZone.length &&
    down / inZone.length >= rates.unhealthyZoneThreshold;
  if (!isUnhealthy) return rates.nodeEvictionRate;
  return inZone.length > rates.largeClusterSizeThreshold
    ? rates.secondaryNodeEvictionRate
    : 0;
}

/** No node is ready: the network between them and this machine is broken, say. Nothing is evicted then. */
export function isMasterDisruption(all: readonly Node[]): boolean {
  const nodes = counted(all);
  return nodes.length > 0 && !nodes.some(isReady);
}

/** Rates change with the nodes' state: looked at again this soon. */
const longestWaitMs = 5000;

interface Turns {
  readonly rate: number;
  /** Undefined: there are no turns. */
  readonly bucket: TokenBucket | undefined;
  /** Names of the nodes that wait for theirs. */
  readonly waiting: Set<string>;
}

export class ZoneEvictions {
  readonly #turns = new Map<string, Turns>();

  constructor(
    private readonly clock: Clock,
    private readonly rates: EvictionRates,
  ) {}

  /** Takes a turn of the zone's rate and returns 0, or how long to wait before asking again. */
  takeOrWaitMs(node: Node, all: readonly Node[]): number {
    const rate = evictionRate(node, all, this.rates);
    const { bucket, waiting } = this.#turnsOf(zoneKey(node), rate);
    if (!bucket) return longestWaitMs;
    const { name } = node.metadata;
    const waitMs = bucket.takeOrWaitMs();
    if (waitMs === 0) {
      waiting.delete(name);
      return 0;
    }
    waiting.add(name);
    // One of them asks when there is the next turn, and so on: no turn is missed.
    const before = [...waiting].indexOf(name);
    return Math.min(longestWaitMs, waitMs + (before * 1000) / rate);
  }

  /** The node has its taint, needs none, or is gone. */
  forget(name: string): void {
    for (const { waiting } of this.#turns.values()) waiting.delete(name);
  }

  /** After a time without turns a whole one passes before the first is given: nodes that were cut off come back by and by. */
  #turnsOf(zone: string, rate: number): Turns {
    const known = this.#turns.get(zone);
    if (known?.rate === rate) return known;
    const bucket = rate > 0 ? new TokenBucket(this.clock, rate, 1) : undefined;
    if (known && !known.bucket?.tryTake()) bucket?.tryTake();
    const turns = {
      rate,
      bucket,
      waiting: known?.waiting ?? new Set<string>(),
    };
    this.#turns.set(zone, turns);
    return turns;
  }
}

const isReady = (node: Node): boolean => readyStatus(node) === "True";

const counted = (all: readonly Node[]): readonly Node[] =>
  all.filter(({ metadata }) => metadata.labels?.[excludedLabel] === undefined);
