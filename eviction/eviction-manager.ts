// Ends pods when the node runs short: at each look under pressure at most one, the first by rank, so that the next look
// sees what it gave back. Pods above their own disk limits end whether the node is short or not. The pod's object stays,
// Failed with reason Evicted and a DisruptionTarget condition. Disk space is first sought among unused images.
import type { Logger } from "pino";
import type { Pod } from "../api/types/core-v1.ts";
import { parseQuantity, quantityValue } from "../api/quantity.ts";
import { formatBinary } from "./format.ts";
import { hasStorageLimits, storageExcess } from "./local-storage.ts";
import {
  noUsage,
  type ContainerUsage,
  type EvictablePod,
  type PodUsage,
} from "./pod-usage.ts";
import { rankForEviction, type Starved } from "./ranking.ts";
import {
  crossed,
  thresholdValue,
  type SignalName,
  type Signals,
} from "./signals.ts";

interface EvictionManagerOptions {
  thresholds: Readonly<Record<string, string>>;
  /** Those that run, or will; not those that are ending. */
  pods: () => readonly EvictablePod[];
  /** What these pods use; with `disk` their volumes and logs too, which takes reading directories. */
  usage: (
    pods: readonly Pod[],
    disk: boolean,
  ) => Promise<ReadonlyMap<string, PodUsage>>;
  /** Unused images and the like. */
  reclaimDisk: () => Promise<void>;
  readSignals: () => Promise<Signals>;
  evict: (pod: Pod, message: string) => void;
  logger: Logger;
}

/** Memory goes first: without it nothing else gets done. */
const order: readonly SignalName[] = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "pid.available",
];

export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  #working = false;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
  }

  /** One look; another one while it works is left out. Never rejects. */
  async look(signals: Signals): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      await this.#look(signals);
    } catch (error) {
      this.#options.logger.warn({ err: error }, "eviction failed");
    } finally {
      this.#working = false;
    }
  }

  async #look(signals: Signals): Promise<void> {
    const { thresholds, reclaimDisk, readSignals } = this.#options;
    if (await this.#evictOverLimit()) return;
    let now = signals;
    let found = crossed(now, thresholds);
    if (found.length > 0 && found.every(isDisk)) {
      await reclaimDisk();
      now = await readSignals();
      found = crossed(now, thresholds);
    }
    const signal = order.find((name) => found.includes(name));
    if (signal) await this.#evictFor(signal, now);
  }

  /** Whether a pod was ended for its own limits. */
  async #evictOverLimit(): Promise<boolean> {
    const { pods, usage, evict } = this.#options;
    const limited = pods().filter(
      ({ pod, critical }) => !critical && hasStorageLimits(pod),
    );
    if (limited.length === 0) return false;
    const used = await usage(
      limited.map(({ pod }) => pod),
      true,
    );
    let any = false;
    for (const { pod } of limited) {
      const message = storageExcess(
        pod,
        used.get(pod.metadata.uid ?? "") ?? noUsage,
      );
      if (message === undefined) continue;
      evict(pod, message);
      any = true;
    }
    return any;
  }

  async #evictFor(signal: SignalName, signals: Signals): Promise<void> {
    const { pods, usage, evict, thresholds, logger } = this.#options;
    const starved = starvedOf(signal);
    const candidates = pods();
    const used = await usage(
      candidates.map(({ pod }) => pod),
      starved === "ephemeral-storage",
    );
    const victim = rankForEviction(candidates, used, starved)[0];
    if (!victim) {
      logger.warn({ signal }, "under pressure, but no pod may be ended");
      return;
    }
    const { available, capacity } = signals.get(signal)!;
    const inBytes = signal.endsWith(".available") && starved !== "pids";
    const shown = (amount: number): string =>
      inBytes ? formatBinary(amount) : String(Math.round(amount));
    const { pod } = victim;
    const containers =
      starved === "pids"
        ? ""
        : containersAbove(
            pod,
            (used.get(pod.metadata.uid ?? "") ?? noUsage).containers,
            starved,
          );
    evict(
      pod,
      `The node was low on resource: ${resourceOf(signal)}. Threshold quantity: ${shown(
        thresholdValue(thresholds[signal]!, capacity),
      )}, available: ${shown(available)}. ${containers}`,
    );
  }
}

function isDisk(signal: SignalName): boolean {
  return starvedOf(signal) === "ephemeral-storage";
}

function starvedOf(signal: SignalName): Starved {
  if (signal.startsWith("memory.")) return "memory";
  return signal.startsWith("pid.") ? "pids" : "ephemeral-storage";
}

function resourceOf(signal: SignalName): string {
  return signal.endsWith(".inodesFree") ? "inodes" : starvedOf(signal);
}

function containersAbove(
  pod: Pod,
  used: readonly ContainerUsage[],
  starved: Starved,
): string {
  return pod.spec.containers
    .map((container) => {
      const usage = used.find(({ name }) => name === container.name);
      const amount =
        (starved === "memory" ? usage?.memoryBytes : usage?.storageBytes) ?? 0;
      const request = quantityValue(
        parseQuantity(container.resources?.requests?.[starved] ?? "0"),
      );
      return amount > request
        ? `Container ${container.name} was using ${formatBinary(amount)}, request is ${formatBinary(request)}, has larger consumption of ${starved}. `
        : "";
    })
    .join("");
}
