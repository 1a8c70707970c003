// Why a pod is ended for the node's sake, with the reference's texts and annotations.
import {
  canonicalQuantity,
  parseQuantity,
  quantityValue,
} from "../api/quantity.ts";
import type { Pod } from "../api/types/core-v1.ts";
import { formatBinary } from "./format.ts";
import { containerStorage, type PodUsage } from "./pod-usage.ts";
import type { Starved } from "./ranking.ts";
import { isDiskSignal, type SignalName, type Signals } from "./signals.ts";
import { amountOf, type Threshold } from "./thresholds.ts";

interface EvictionMessage {
  readonly message: string;
  /** Of the Event about it. */
  readonly annotations: Record<string, string>;
}

export function starvedBy(signal: SignalName): Starved {
  if (signal === "pid.available") return "pids";
  if (signal.endsWith(".inodesFree")) return "inodes";
  return isDiskSignal(signal) ? "ephemeral-storage" : "memory";
}

export function evictionMessage(
  pod: Pod,
  usage: PodUsage,
  threshold: Threshold,
  signals: Signals,
): EvictionMessage {
  const starved = starvedBy(threshold.signal);
  const inBytes = starved === "memory" || starved === "ephemeral-storage";
  const { amount } = threshold;
  const found = signals.get(threshold.signal);
  const met = found
    ? `Threshold quantity: ${amount.kind === "absolute" ? amount.text : formatBinary(amountOf(amount, found.capacity))}, available: ${inBytes ? formatBinary(found.available) : canonicalQuantity(Math.round(found.available))}. `
    : "";
  const above = inBytes ? containersAbove(pod, usage, starved) : [];
  return {
    message: `The node was low on resource: ${starved}. ${met}${above
      .map(
        ({ name, used, request }) =>
          `Container ${name} was using ${used}, request is ${request}, has larger consumption of ${starved}. `,
      )
      .join("")}`,
    annotations: {
      offending_containers: above.map(({ name }) => name).join(","),
      offending_containers_usage: above.map(({ used }) => used).join(","),
      starved_resource: starved,
    },
  };
}

function containersAbove(
  pod: Pod,
  usage: PodUsage,
  starved: "memory" | "ephemeral-storage",
): { name: string; used: string; request: string }[] {
  const specs = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return usage.containers.flatMap((container) => {
    const spec = specs.find(({ name }) => name === container.name);
    if (!spec) return [];
    const used =
      starved === "memory"
        ? container.memoryBytes
        : containerStorage(container);
    const request = spec.resources?.requests?.[starved] ?? "0";
    return used > quantityValue(parseQuantity(request))
      ? [
          {
            name: container.name,
            used: formatBinary(used),
            request: canonicalQuantity(request),
          },
        ]
      : [];
  });
}
