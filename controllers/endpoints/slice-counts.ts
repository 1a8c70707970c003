// What the controllers of EndpointSlices count of each object they make slices for, with the reference's names: the one of
// services and the one that mirrors Endpoints. What an object wants is remembered as three numbers until it is gone.
import {
  Counters,
  exponentialBounds,
  gauge,
  Histograms,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { SlicePlan, WantedGroup } from "./slice-plan.ts";

interface Sizes {
  readonly endpoints: number;
  readonly slices: number;
  readonly desired: number;
}

/** Of what a sync does to endpoints. */
export const perSync = exponentialBounds(2, 2, 15);

export class SliceCounts {
  readonly #sizes = new Map<string, Sizes>();
  readonly #changes;
  readonly #added;
  readonly #removed;

  /** @param subsystem what the families' names begin with */
  constructor(private readonly subsystem: string) {
    this.#changes = new Counters({
      name: `${subsystem}_changes`,
      help: "Slices that were written, by operation.",
      labels: ["operation"],
    });
    this.#added = new Histograms(
      {
        name: `${subsystem}_endpoints_added_per_sync`,
        help: "Endpoints that came in a sync.",
      },
      perSync,
    );
    this.#removed = new Histograms(
      {
        name: `${subsystem}_endpoints_removed_per_sync`,
        help: "Endpoints that went in a sync.",
      },
      perSync,
    );
  }

  /** @param wanted by address type and ports @param existing slices before the sync */
  planned(
    key: string,
    wanted: readonly WantedGroup[],
    plan: SlicePlan,
    { existing, maxPerSlice }: { existing: number; maxPerSlice: number },
  ): void {
    this.#added.observe(plan.added);
    this.#removed.observe(plan.removed);
    const sum = (of: (group: WantedGroup) => number): number =>
      wanted.reduce((total, group) => total + of(group), 0);
    this.#sizes.set(key, {
      endpoints: sum(({ endpoints }) => endpoints.length),
      slices: existing + plan.create.length - plan.delete.length,
      desired: sum(({ endpoints }) =>
        Math.max(1, Math.ceil(endpoints.length / maxPerSlice)),
      ),
    });
  }

  written(operation: "create" | "update" | "delete"): void {
    this.#changes.count(operation);
  }

  forget(key: string): void {
    this.#sizes.delete(key);
  }

  families(): Family[] {
    let endpoints = 0;
    let slices = 0;
    let desired = 0;
    for (const sizes of this.#sizes.values()) {
      endpoints += sizes.endpoints;
      slices += sizes.slices;
      desired += sizes.desired;
    }
    return [
      this.#changes.family(),
      this.#added.family(),
      this.#removed.family(),
      gauge(
        `${this.subsystem}_endpoints_desired`,
        "Endpoints that there should be.",
        endpoints,
      ),
      gauge(
        `${this.subsystem}_num_endpoint_slices`,
        "Slices that there are.",
        slices,
      ),
      gauge(
        `${this.subsystem}_desired_endpoint_slices`,
        "Slices that there would be if they were packed best.",
        desired,
      ),
    ];
  }
}
