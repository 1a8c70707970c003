// What hands out CPUs, memory of NUMA nodes and devices to containers: one admission for all of them, in which the
// topology manager brings them together. A further manager is a HintProvider that is added before the agent starts.
// Invariants: a pod is asked about once for each life of the agent, before its first container starts; what it holds is
// given back when nothing of it runs any more.
import type { Pod } from "../../api/types/core-v1.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { HintProvider } from "./topology/hint-provider.ts";
import type { TopologyManager } from "./topology/topology-manager.ts";

interface ResourceManagersOptions {
  readonly topology: TopologyManager;
}

export class ResourceManagers {
  readonly #options: ResourceManagersOptions;
  /** Pods that hold what they asked for. */
  readonly #admitted = new Set<string>();
  #providers = 0;

  constructor(options: ResourceManagersOptions) {
    this.#options = options;
  }

  /** In the order in which they are to allocate. */
  add(provider: HintProvider): void {
    this.#providers++;
    this.#options.topology.add(provider);
  }

  /** Resolves to the reason why the pod may not run; otherwise its containers have their resources until release(). */
  async admit(
    pod: Pod,
  ): Promise<{ reason: string; message: string } | undefined> {
    const uid = pod.metadata.uid ?? "";
    if (this.#providers === 0 || this.#admitted.has(uid)) return undefined;
    const refusal = await this.#options.topology.admit(pod);
    if (!refusal) this.#admitted.add(uid);
    return refusal;
  }

  /** Nothing of the pod runs any more. Idempotent. */
  release(uid: string): void {
    this.#admitted.delete(uid);
    this.#options.topology.release(uid);
  }

  /** Releases what pods hold that ended while no agent ran. Only called when all sources of pods are complete. */
  releaseOthers(isKnown: (uid: string) => boolean): void {
    for (const uid of this.#options.topology.holders())
      if (!isKnown(uid)) this.release(uid);
  }

  metrics(): Family[] {
    return this.#options.topology.metrics();
  }
}
