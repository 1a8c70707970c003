// How often a container, or a whole pod, got resources that lie together because a policy demands it. For metrics.
import type { TopologyScope } from "../config/resource-policies.ts";

export interface Alignment {
  readonly scope: TopologyScope;
  readonly boundary: "numa_node" | "physical_cpu";
  readonly count: number;
}
