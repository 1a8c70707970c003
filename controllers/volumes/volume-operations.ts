// How long volumes took from the first try to make or remove them until they were bound or gone, and tries that failed; by
// the provisioner's name, with the reference's names.
import { LRUCache } from "lru-cache";
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Clock } from "../../api/clock.ts";

type Operation = "provision" | "delete";

interface Begun {
  readonly plugin: string;
  readonly operation: Operation;
  readonly atMs: number;
}

/** Operations under way that are remembered. */
const most = 4096;

export class VolumeOperations {
  readonly #clock: Clock;
  readonly #begun = new LRUCache<string, Begun>({ max: most });
  readonly #seconds = new Histograms(
    {
      name: "volume_operation_total_seconds",
      help: "How long volumes took from the first try to make or remove them.",
      labels: ["plugin_name", "operation_name"],
    },
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  );
  readonly #errors = new Counters({
    name: "volume_operation_total_errors",
    help: "Tries to make or remove volumes that failed.",
    labels: ["plugin_name", "operation_name"],
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A further try counts from the first. @param key of the claim, or the volume's name */
  begin(key: string, plugin: string, operation: Operation): void {
    if (this.#begun.has(key)) return;
    const atMs = this.#clock.monotonic();
    this.#begun.set(key, { plugin: plugin || "N/A", operation, atMs });
  }

  fail(key: string): void {
    const begun = this.#begun.get(key);
    if (begun) this.#errors.count(begun.plugin, begun.operation);
  }

  /** Nothing for what was not begun here. */
  end(key: string): void {
    const begun = this.#begun.get(key);
    if (!begun) return;
    this.#begun.delete(key);
    const seconds = (this.#clock.monotonic() - begun.atMs) / 1000;
    this.#seconds.observe(seconds, begun.plugin, begun.operation);
  }

  /** It is not wanted any more. */
  forget(key: string): void {
    this.#begun.delete(key);
  }

  families(): Family[] {
    return [this.#seconds.family(), this.#errors.family()];
  }
}
