// What the controller of EndpointSlices counts of services, with the reference's names.
import {
  Counters,
  Histograms,
  usualSeconds,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { SliceCounts } from "./slice-counts.ts";
import type { SlicePlan, WantedGroup } from "./slice-plan.ts";

function distributionOf({ spec }: Service): string | undefined {
  const { trafficDistribution } = spec;
  return trafficDistribution === undefined ||
    trafficDistribution === "PreferClose"
    ? trafficDistribution
    : "ImplementationSpecific";
}

const subsystem = "endpoint_slice_controller";

export class SliceMetrics {
  readonly #counts = new SliceCounts(subsystem);
  /** By service, where it says one. */
  readonly #distributions = new Map<string, string>();
  readonly #syncs = new Counters({
    name: `${subsystem}_syncs`,
    help: "Syncs of services, by result.",
    labels: ["result"],
  });
  readonly #changed = new Histograms(
    {
      name: `${subsystem}_endpointslices_changed_per_sync`,
      help: "Slices that were written in a sync.",
      labels: ["topology", "traffic_distribution"],
    },
    usualSeconds,
  );

  /** As of SliceCounts. */
  planned(
    key: string,
    service: Service,
    wanted: readonly WantedGroup[],
    plan: SlicePlan,
    sizes: { existing: number; maxPerSlice: number },
  ): void {
    this.#counts.planned(key, wanted, plan, sizes);
    const distribution = distributionOf(service);
    if (distribution === undefined) this.#distributions.delete(key);
    else this.#distributions.set(key, distribution);
  }

  written(operation: "create" | "update" | "delete"): void {
    this.#counts.written(operation);
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
    this.#counts.forget(key);
    this.#distributions.delete(key);
  }

  families(): Family[] {
    const counts = new Map<string, number>();
    for (const distribution of this.#distributions.values())
      counts.set(distribution, (counts.get(distribution) ?? 0) + 1);
    const services = new Family(
      `${subsystem}_services_count_by_traffic_distribution`,
      "gauge",
      "Services that say how their traffic is to be distributed, by how.",
    );
    for (const [traffic_distribution, count] of counts)
      services.add({ traffic_distribution }, count);
    return [
      this.#syncs.family(),
      ...this.#counts.families(),
      this.#changed.family(),
      services,
    ];
  }
}
