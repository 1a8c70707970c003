// What the service proxy shows under /metrics, with the reference's names: its transactions, the changes it has seen, and
// how long changes of endpoints took to reach the kernel, from the time that their controller wrote on the EndpointSlice.
// Invariant: a change of endpoints is observed once, by the transaction that was made after it.
import type { Clock } from "../../api/clock.ts";
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Family as AddressFamily } from "./service-ports.ts";

const triggerTime = "endpoints.kubernetes.io/last-change-trigger-time";
/** Changes that wait for one transaction; further ones are not measured. */
const maxWaiting = 10_000;

/** `count` bounds in seconds. */
function steps(first: number, width: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => first + width * n);
}

const syncBounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);
const programmingBounds = [
  ...steps(0.25, 0.25, 2),
  ...steps(1, 1, 59),
  ...steps(60, 5, 12),
  ...steps(120, 30, 7),
];

interface Waiting {
  /** Seen, and not in the rules yet. */
  readonly seen: number[];
  /** When the changes were made that the next transaction will have. */
  readonly next: number[];
  /** Those of the transaction under way, or of one that failed. */
  readonly underWay: number[];
}

export class ProxyMetrics {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #syncs = new Histogram(syncBounds);
  readonly #programming = new Histogram(programmingBounds);
  readonly #waiting: Readonly<Record<AddressFamily, Waiting>> = {
    4: { seen: [], next: [], underWay: [] },
    6: { seen: [], next: [], underWay: [] },
  };
  #failures = 0;
  #lastSyncMs = 0;
  #lastQueuedMs = 0;
  #serviceChanges = 0;
  #endpointChanges = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  serviceChanged(): void {
    this.#serviceChanges++;
  }

  /** @param old undefined: the slice is new; @param now undefined: it is gone */
  endpointsChanged(old?: EndpointSlice, now?: EndpointSlice): void {
    this.#endpointChanges++;
    const time = now?.metadata.annotations?.[triggerTime];
    if (time === undefined || time === old?.metadata.annotations?.[triggerTime])
      return;
    const changedMs = Date.parse(time);
    // What changed before the start says nothing about this program.
    if (Number.isNaN(changedMs) || changedMs < this.#startMs) return;
    const family = now?.addressType === "IPv6" ? 6 : 4;
    const { seen } = this.#waiting[family];
    if (seen.length < maxWaiting) seen.push(changedMs);
  }

  /** What was seen is in the rules for the next transaction. */
  queued(): void {
    this.#lastQueuedMs = this.#clock.now();
    for (const { seen, next } of Object.values(this.#waiting)) {
      next.push(...seen.splice(0));
      next.length = Math.min(next.length, maxWaiting);
    }
  }

  /** A transaction begins that has all changes queued so far. */
  began(family: AddressFamily): void {
    const { next, underWay } = this.#waiting[family];
    underWay.push(...next.splice(0));
    underWay.length = Math.min(underWay.length, maxWaiting);
  }

  ended(family: AddressFamily, durationMs: number, failed: boolean): void {
    this.#syncs.observe(durationMs / 1000);
    if (failed) {
      this.#failures++;
      return;
    }
    const nowMs = this.#clock.now();
    this.#lastSyncMs = nowMs;
    for (const changedMs of this.#waiting[family].underWay.splice(0))
      this.#programming.observe(Math.max(0, nowMs - changedMs) / 1000);
  }

  families(): Family[] {
    const single = (
      name: string,
      type: "counter" | "gauge",
      help: string,
      value: number,
    ): Family => new Family(`kubeproxy_${name}`, type, help).add({}, value);
    return [
      new Family(
        "kubeproxy_sync_proxy_rules_duration_seconds",
        "histogram",
        "How long transactions of rules took.",
      ).addHistogram({}, this.#syncs),
      new Family(
        "kubeproxy_network_programming_duration_seconds",
        "histogram",
        "From the change of an endpoint to its rules in the kernel.",
      ).addHistogram({}, this.#programming),
      single(
        "sync_proxy_rules_last_timestamp_seconds",
        "gauge",
        "When rules were last written.",
        this.#lastSyncMs / 1000,
      ),
      single(
        "sync_proxy_rules_last_queued_timestamp_seconds",
        "gauge",
        "When rules were last asked for.",
        this.#lastQueuedMs / 1000,
      ),
      single(
        "sync_proxy_rules_service_changes_total",
        "counter",
        "Changes of Services seen.",
        this.#serviceChanges,
      ),
      single(
        "sync_proxy_rules_endpoint_changes_total",
        "counter",
        "Changes of EndpointSlices seen.",
        this.#endpointChanges,
      ),
      single(
        "sync_proxy_rules_nftables_sync_failures_total",
        "counter",
        "Transactions of rules that failed.",
        this.#failures,
      ),
    ];
  }
}
