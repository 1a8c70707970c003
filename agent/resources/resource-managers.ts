// What hands out CPUs, memory of NUMA nodes and devices to containers: one admission for all of them, in which the
// topology manager brings them together. A further manager is a HintProvider that is added before the agent starts.
// Invariants: a pod is asked about once for each life of the agent, before its first container starts; what it holds is
// given back when nothing of it runs any more.
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { Family } from "../../api/metrics/family.ts";
import type { LinuxResources } from "../../cri/runtime.ts";
import type { Alignment } from "./alignment.ts";
import type { HintProvider } from "./topology/hint-provider.ts";
import type { TopologyManager } from "./topology/topology-manager.ts";

/** Where a container's processes may run and their memory may lie. */
export type Pinning = Pick<LinuxResources, "cpusetCpus" | "cpusetMems">;

/** Memory or huge pages of NUMA nodes. */
export interface MemoryShare {
  readonly numaAffinity: readonly number[];
  /** memory, hugepages-2Mi … */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** CPUs and memory that managers hand out. */
export interface ResourceShares {
  readonly cpus: readonly number[];
  readonly memory: readonly MemoryShare[];
}

/** A manager of this machine's own resources. */
export interface ResourceManager extends HintProvider {
  /** Takes up what an earlier agent handed out. @throws Error that refuses the start of the agent */
  start(): Promise<void>;
  stop(): void;
  /** Of a container that is about to be made. */
  pinning(pod: Pod, container: Container): Pinning;
  /** What is the container's alone. */
  sharesOf(uid: string, container: string): Partial<ResourceShares>;
  /** What can be handed out, when nothing is. */
  allocatable(): Partial<ResourceShares>;
  metrics(): Family[];
  /** Absent: nothing of it lies together by its own policy. */
  alignment?(): Alignment;
}

/** In place of a manager whose policy is none. */
export interface UnmanagedResource {
  /** @throws Error that refuses the start: a file of another policy was left */
  check(): Promise<unknown>;
  /** What a manager would count. */
  metrics(): Family[];
}

interface ResourceManagersOptions {
  readonly topology: TopologyManager;
  /** In the order in which they allocate. */
  readonly managers: readonly ResourceManager[];
  /** Managers whose policy is none. */
  readonly unmanaged: readonly UnmanagedResource[];
}

export class ResourceManagers {
  readonly #options: ResourceManagersOptions;
  /** Pods that hold what they asked for. */
  readonly #admitted = new Set<string>();
  #providers = 0;

  constructor(options: ResourceManagersOptions) {
    this.#options = options;
    for (const manager of options.managers) this.add(manager);
  }

  /** In the order in which they are to allocate. */
  add(provider: HintProvider): void {
    this.#providers++;
    this.#options.topology.add(provider);
  }

  async start(): Promise<void> {
    const { managers, unmanaged } = this.#options;
    for (const resource of unmanaged) await resource.check();
    for (const manager of managers) await manager.start();
  }

  stop(): void {
    for (const manager of this.#options.managers) manager.stop();
  }

  /**
   * Resolves to the reason why the pod may not run; otherwise its containers have their resources until release().
   * `runs`: it was started before, and keeps what it has even when it can't have all.
   */
  async admit(
    pod: Pod,
    runs = false,
  ): Promise<{ reason: string; message: string } | undefined> {
    const uid = pod.metadata.uid ?? "";
    if (this.#providers === 0 || this.#admitted.has(uid)) return undefined;
    const refusal = await this.#options.topology.admit(pod, runs);
    if (!refusal || runs) this.#admitted.add(uid);
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

  pinning(pod: Pod, container: Container): Pinning {
    const all: Pinning = {};
    for (const manager of this.#options.managers)
      Object.assign(all, manager.pinning(pod, container));
    return all;
  }

  sharesOf(uid: string, container: string): ResourceShares {
    return this.#sum((manager) => manager.sharesOf(uid, container));
  }

  allocatable(): ResourceShares {
    return this.#sum((manager) => manager.allocatable());
  }

  #sum(
    of: (manager: ResourceManager) => Partial<ResourceShares>,
  ): ResourceShares {
    const all = this.#options.managers.map(of);
    return {
      cpus: all.flatMap(({ cpus = [] }) => cpus),
      memory: all.flatMap(({ memory = [] }) => memory),
    };
  }

  metrics(): Family[] {
    const { managers, unmanaged, topology } = this.#options;
    const aligned = new Family(
      "kubelet_container_aligned_compute_resources_count",
      "counter",
      "[ALPHA] Cumulative number of aligned compute resources allocated to containers by alignment type.",
    );
    for (const part of [topology, ...managers]) {
      const { count = 0, ...labels } = part.alignment?.() ?? {};
      if (count > 0) aligned.add(labels, count);
    }
    return [
      ...[...managers, ...unmanaged].flatMap((one) => one.metrics()),
      ...topology.metrics(),
      aligned,
    ];
  }
}
