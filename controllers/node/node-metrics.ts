// What the node controllers count by zone, with the reference's names; a zone is named by region and zone as the reference
// joins them. What nodes there are and which are ready is asked at a scrape.
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { readyStatus } from "./node-conditions.ts";
import { zoneKey } from "./node-zone.ts";

export class NodeMetrics {
  readonly #evictions = new Counters({
    name: "node_collector_evictions_total",
    help: "Nodes whose pods were evicted, by zone.",
    labels: ["zone"],
  });
  readonly #updates = new Histograms(
    {
      name: "node_collector_update_node_health_duration_seconds",
      help: "How long looking at one node's health and writing it took.",
    },
    exponentialBounds(0.001, 4, 8),
  );

  constructor(private readonly nodes: () => readonly Node[]) {}

  evicted(node: Node): void {
    this.#evictions.count(zoneKey(node));
  }

  updated(seconds: number): void {
    this.#updates.observe(seconds);
  }

  families(): Family[] {
    const zones = new Map<string, { nodes: number; bad: number }>();
    for (const node of this.nodes()) {
      const key = zoneKey(node);
      let zone = zones.get(key);
      if (!zone) zones.set(key, (zone = { nodes: 0, bad: 0 }));
      zone.nodes++;
      if (readyStatus(node) !== "True") zone.bad++;
    }
    const size = new Family(
      "node_collector_zone_size",
      "gauge",
      "Nodes by zone.",
    );
    const health = new Family(
      "node_collector_zone_health",
      "gauge",
      "Percentage of nodes that are ready, by zone.",
    );
    const bad = new Family(
      "node_collector_unhealthy_nodes_in_zone",
      "gauge",
      "Nodes that are not ready, by zone.",
    );
    for (const [zone, { nodes, bad: unhealthy }] of zones) {
      // A zone is there from its first node on.
      this.#evictions.add(0, zone);
      size.add({ zone }, nodes);
      health.add({ zone }, (100 * (nodes - unhealthy)) / nodes);
      bad.add({ zone }, unhealthy);
    }
    return [
      this.#evictions.family(),
      this.#updates.family(),
      size,
      health,
      bad,
    ];
  }
}
