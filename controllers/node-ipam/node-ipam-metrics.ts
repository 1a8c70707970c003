// How many ranges nodes have of each cluster range, with the reference's names (one is misspelt there); read at a scrape.
import { exponentialBounds, Histograms } from "../../api/metrics/counted.ts";
import { Family, type MetricType } from "../../api/metrics/family.ts";
import type { NodeRangePool } from "./node-ranges.ts";

const subsystem = "node_ipam_controller";

export class NodeIpamMetrics {
  readonly #tries = new Histograms(
    {
      name: `${subsystem}_cidrset_allocation_tries_per_request`,
      help: "Ranges that were looked at to find a free one.",
      labels: ["clusterCIDR"],
    },
    exponentialBounds(1, 5, 5),
  );

  constructor(private readonly pools: () => readonly NodeRangePool[]) {}

  tried(clusterCIDR: string, parts: number): void {
    this.#tries.observe(parts, clusterCIDR);
  }

  families(): Family[] {
    const pools = this.pools();
    const of = (
      name: string,
      type: MetricType,
      help: string,
      value: (pool: NodeRangePool) => number,
    ): Family => {
      const family = new Family(`${subsystem}_${name}`, type, help);
      for (const pool of pools)
        family.add({ clusterCIDR: pool.cidr }, value(pool));
      return family;
    };
    return [
      of(
        "cidrset_cidrs_allocations_total",
        "counter",
        "Ranges that were taken.",
        ({ counts }) => counts.allocations,
      ),
      of(
        "cidrset_cidrs_releases_total",
        "counter",
        "Ranges that were given back.",
        ({ counts }) => counts.releases,
      ),
      of(
        "cirdset_max_cidrs",
        "gauge",
        "Ranges that there are.",
        ({ size }) => size,
      ),
      of(
        "cidrset_usage_cidrs",
        "gauge",
        "The part of the ranges that are taken, from 0 to 1.",
        ({ used, size }) => used / size,
      ),
      this.#tries.family(),
    ];
  }
}
