// What the controller of EndpointSlices counts, with the reference's names. What a service wants is remembered as three
// numbers until the service is gone.
import {
  Counters,
  exponentialBounds,
  gauge,
  Histograms,
  usualSeconds,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { Service } from "../../api/types/core-v1.ts";
import type { SlicePlan, WantedGroup } from "./slice-plan.ts";

interface Sizes {
  readonly endpoints: number;
  readonly slices: number;
  readonly desired: number;
  readonly distribution: string | undefined;
}

const perSync = exponentialBounds(2, 2, 15);

function distributionOf({ spec }: Service): string | undefined {
  const { trafficDistribution } = spec;
  return trafficDistribution === undefined ||
    trafficDistribution === "PreferClose"
    ? trafficDistribution
    : "ImplementationSpecific";
}

export class SliceMetrics {
  readonly #sizes = new Map<string, Sizes>();
  readonly #syncs = new Counters({
    name: "endpoint_slice_controller_syncs",
    help: "Syncs of services, by result.",
    labels: ["result"],
  });
  readonly #changes = new Counters({
    name: "endpoint_slice_controller_changes",
    help: "Slices that were written, by operation.",
    labels: ["operation"],
  });
  readonly #added = new Histograms(
    {
      name: "endpoint_slice_controller_endpoints_added_per_sync",
      help: "Endpoints that came in a sync.",
    },
    perSync,
  );
  readonly #removed = new Histograms(
    {
      name: "endpoint_slice_controller_endpoints_removed_per_sync",
      help: "Endpoints that went in a sync.",
    },
    perSync,
  );
  readonly #changed = new Histograms(
    {
      name: "endpoint_slice_controller_endpointslices_changed_per_sync",
      help: "Slices that were written in a sync.",
      labels: ["topology", "traffic_distribution"],
    },

    usualSeconds,
  );

  /** @param wanted by address type and ports @param existing slices before the sync */
  planned(
    key: string,
    service: Service,
    wanted: readonly WantedGroup[],
    plan: SlicePlan,
    { existing, maxPerSlice }: { existing: number; maxPerSlice: number },
  ): void {
    this.#added.observe(plan.added);
    this.#removed.observe(plan.removed);
    this.#sizes.set(key, {
      endpoints: wanted.reduce(
        (sum, { endpoints }) => sum + endpoints.length,
        0,
      ),
      slices: existing + plan.create.length - plan.delete.length,
      desired: wanted.reduce(
        (sum, { endpoints }) =>
          sum + Math.max(1, Math.ceil(endpoints.length / maxPerSlice)),
        0,
      ),
      distribution: distributionOf(service),
    });
  }

  written(operation: "create" | "update" | "delete"): void {
    this.#changes.count(operation);
  }

  /** @param hinted the service's endpoints have hints of zones */
  changed(service: Service, slices: number, hinted: boolean): void {
    this.#changed.observe(
      slices,
      hinted ? "Auto" : "Disabled",
      distributionOf(service) ?? "",
    );
  }

  async sync(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#syncs.count("error");
      throw error;
    }
    this.#syncs.count("success");
  }

  forget(key: string): void {
    this.#sizes.delete(key);
  }

  families(): Family[] {
    let endpoints = 0;
    let slices = 0;
    let desired = 0;
    const distributions = new Map<string, number>();
    for (const sizes of this.#sizes.values()) {
      endpoints += sizes.endpoints;
      slices += sizes.slices;
      desired += sizes.desired;
      const { distribution } = sizes;
      if (distribution !== undefined)
        distributions.set(
          distribution,
          (distributions.get(distribution) ?? 0) + 1,
        );
    }
    const services = new Family(
      "endpoint_slice_controller_services_count_by_traffic_distribution",
      "gauge",
      "Services that say how their traffic is to be distributed, by how.",
    );
    for (const [traffic_distribution, count] of distributions)
      services.add({ traffic_distribution }, count);
    return [
      this.#syncs.family(),
      this.#changes.family(),
      this.#added.family(),
      this.#removed.family(),
      this.#changed.family(),
      gauge(
        "endpoint_slice_controller_endpoints_desired",
        "Endpoints that there should be.",
        endpoints,
      ),
      gauge(
        "endpoint_slice_controller_num_endpoint_slices",
        "Slices that there are.",
        slices,
      ),
      gauge(
        "endpoint_slice_controller_desired_endpoint_slices",
        "Slices that there would be if they were packed best.",
        desired,
      ),
      services,
    ];
  }
}
