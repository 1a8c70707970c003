// What the network policies show under /metrics. Without names at the reference, which leaves policies to others.
import type { Clock } from "../../api/clock.ts";
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";

const bounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);
/** Changes that wait for one transaction; further ones are not measured. */
const maxWaiting = 10_000;

export class PolicyMetrics {
  readonly #syncs = new Histogram(bounds);
  readonly #programming = new Histogram(bounds);
  /** When changes were seen that the next transaction will have, and those of the one under way. */
  #next: number[] = [];
  #underWay: number[] = [];
  #failures = 0;
  #rewrites = 0;

  constructor(
    private readonly clock: Clock,
    private readonly counts: () => { policies: number; isolated: number },
  ) {}

  changed(): void {
    if (this.#next.length < maxWaiting) this.#next.push(this.clock.monotonic());
  }

  /** Another program deleted rules. */
  rewritten(): void {
    this.#rewrites++;
  }

  /** A transaction begins that has all changes so far. */
  began(): void {
    this.#underWay = [...this.#underWay, ...this.#next.splice(0)].slice(
      0,
      maxWaiting,
    );
  }

  ended(durationMs: number, failed: boolean): void {
    this.#syncs.observe(durationMs / 1000);
    if (failed) {
      this.#failures++;
      return;
    }
    const nowMs = this.clock.monotonic();
    for (const seenMs of this.#underWay.splice(0))
      this.#programming.observe((nowMs - seenMs) / 1000);
  }

  families(): Family[] {
    const { policies, isolated } = this.counts();
    const name = (rest: string): string => `orbit_network_policy_${rest}`;
    return [
      new Family(
        name("sync_duration_seconds"),
        "histogram",
        "How long transactions of rules took.",
      ).addHistogram({}, this.#syncs),
      new Family(
        name("programming_duration_seconds"),
        "histogram",
        "From a change seen of a policy, pod or namespace to its rules in the kernel.",
      ).addHistogram({}, this.#programming),
      new Family(
        name("sync_failures_total"),
        "counter",
        "Transactions that failed and left the old rules.",
      ).add({}, this.#failures),
      new Family(
        name("rewrites_total"),
        "counter",
        "How often rules that another program deleted were written again.",
      ).add({}, this.#rewrites),
      new Family(name("policies"), "gauge", "Policies known.").add(
        {},
        policies,
      ),
      new Family(
        name("isolated_pods"),
        "gauge",
        "Pods of this node that a policy isolates.",
      ).add({}, isolated),
    ];
  }
}
