// What the controller that mirrors Endpoints counts, with the reference's names.
import type { Clock } from "../../api/clock.ts";
import { exponentialBounds, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import { perSync, SliceCounts } from "./slice-counts.ts";
import type { SlicePlan, WantedGroup } from "./slice-plan.ts";

const subsystem = "endpoint_slice_mirroring_controller";

export class MirroringMetrics {
  readonly #counts = new SliceCounts(subsystem);
  readonly #updated = new Histograms(
    {
      name: `${subsystem}_endpoints_updated_per_sync`,
      help: "Endpoints that changed in a sync.",
    },
    perSync,
  );
  readonly #skipped = new Histograms(
    {
      name: `${subsystem}_addresses_skipped_per_sync`,
      help: "Addresses that were left out in a sync, as their subset has too many.",
    },
    perSync,
  );
  readonly #took = new Histograms(
    {
      name: `${subsystem}_endpoints_sync_duration`,
      help: "Seconds that a sync took.",
    },
    exponentialBounds(0.001, 2, 15),
  );

  constructor(private readonly clock: Clock) {}

  async timed(work: () => Promise<void>): Promise<void> {
    const beganMs = this.clock.monotonic();
    try {
      await work();
    } finally {
      this.#took.observe((this.clock.monotonic() - beganMs) / 1000);
    }
  }

  /** As of SliceCounts. @param skipped addresses of the Endpoints that are in no slice */
  planned(
    key: string,
    wanted: readonly WantedGroup[],
    plan: SlicePlan,
    sizes: { existing: number; maxPerSlice: number; skipped: number },
  ): void {
    this.#counts.planned(key, wanted, plan, sizes);
    this.#updated.observe(plan.updated);
    this.#skipped.observe(sizes.skipped);
  }

  written(operation: "create" | "update" | "delete"): void {
    this.#counts.written(operation);
  }

  forget(key: string): void {
    this.#counts.forget(key);
  }

  families(): Family[] {
    return [
      ...this.#counts.families(),
      this.#updated.family(),
      this.#skipped.family(),
      this.#took.family(),
    ];
  }
}
