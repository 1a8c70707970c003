// Admits pods to the NUMA nodes of the machine: collects the hints of all providers, chooses a placement by the policy
// and lets the providers allocate there. Invariants: one pod is admitted at a time; a pod that was refused holds nothing.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { Clock } from "../../../api/clock.ts";
import { Family } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";
import type {
  TopologyPolicy,
  TopologyScope,
} from "../../config/resource-policies.ts";
import { AdmissionError, admissionRefusal } from "../admission-error.ts";
import type { Alignment } from "../alignment.ts";
import {
  noAffinity,
  type HintProvider,
  type TopologyHint,
} from "./hint-provider.ts";
import { largestNodeId } from "./numa-nodes.ts";
import { NumaDistances, type NumaNode } from "./numa-distances.ts";
import {
  choosePlacement,
  type Placement,
  type TopologyPolicyOptions,
} from "./topology-policy.ts";

interface TopologyManagerOptions {
  readonly policy: TopologyPolicy;
  readonly scope: TopologyScope;
  readonly policyOptions: TopologyPolicyOptions;
  readonly nodes: readonly NumaNode[];
  readonly clock: Clock;
}

export class TopologyManager {
  readonly #options: TopologyManagerOptions;
  readonly #numa: NumaDistances;
  readonly #providers: HintProvider[] = [];
  readonly #durations = new Histogram(
    Array.from({ length: 15 }, (_, power) => 0.05 * 2 ** power),
  );
  #requests = 0;
  #failures = 0;
  #aligned = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** @throws Error when the machine's nodes can't be handled with this policy */
  constructor(options: TopologyManagerOptions) {
    this.#options = options;
    const { policy, policyOptions, nodes } = options;
    this.#numa = new NumaDistances(nodes);
    if (policy === "none") return;
    const { maxAllowableNumaNodes, preferClosestNumaNodes } = policyOptions;
    if (nodes.length > maxAllowableNumaNodes)
      throw new Error(
        `unsupported on machines with more than ${maxAllowableNumaNodes} NUMA Nodes`,
      );
    const outside = nodes.find(({ id }) => id > largestNodeId);
    if (outside)
      throw new Error(`NUMA node ${outside.id} is above ${largestNodeId}`);
    if (preferClosestNumaNodes && nodes.some(({ distances }) => !distances))
      throw new Error(
        "cannot discover NUMA topology: the distances of the nodes can't be read",
      );
  }

  /** Providers are asked in the order in which they were added. */
  add(provider: HintProvider): void {
    this.#providers.push(provider);
  }

  /**
   * Resolves to the reason why the pod may not run; otherwise its containers have their resources. `runs`: it was
   * started before, and keeps what it has when it is refused.
   */
  admit(
    pod: Pod,
    runs = false,
  ): Promise<{ reason: string; message: string } | undefined> {
    const admitted = this.#turn.then(() => this.#admit(pod, runs));
    this.#turn = admitted;
    return admitted;
  }

  /** The pods that hold something. */
  holders(): Set<string> {
    return new Set(
      this.#providers.flatMap((provider) => [...provider.holders()]),
    );
  }

  /** What the pod's containers hold is free again. */
  release(uid: string): void {
    for (const provider of this.#providers) provider.release(uid);
  }

  async #admit(
    pod: Pod,
    runs: boolean,
  ): Promise<{ reason: string; message: string } | undefined> {
    const { policy, scope, clock } = this.#options;
    const startedMs = clock.monotonic();
    this.#requests++;
    try {
      if (policy === "none") await this.#allocateEach(pod, () => noAffinity);
      else if (scope === "pod") await this.#alignPod(pod);
      else
        await this.#allocateEach(pod, (container) =>
          this.#place((provider) => provider.containerHints(pod, container)),
        );
      return undefined;
    } catch (error) {
      if (policy !== "none") this.#failures++;
      if (!runs) this.release(pod.metadata.uid ?? "");
      return admissionRefusal(error);
    } finally {
      this.#durations.observe(clock.monotonic() - startedMs);
    }
  }

  async #alignPod(pod: Pod): Promise<void> {
    const affinity = this.#place((provider) => provider.podHints(pod));
    await this.#allocateEach(pod, () => affinity);
    if (this.#options.policy === "single-numa-node") this.#aligned++;
  }

  async #allocateEach(
    pod: Pod,
    affinityOf: (container: Container) => TopologyHint,
  ): Promise<void> {
    const { policy, scope } = this.#options;
    for (const container of [
      ...(pod.spec.initContainers ?? []),
      ...pod.spec.containers,
    ]) {
      const affinity = affinityOf(container);
      for (const provider of this.#providers)
        await provider.allocate(pod, container, affinity);
      if (policy === "single-numa-node" && scope === "container")
        this.#aligned++;
    }
  }

  /** @throws AdmissionError when the policy does not admit the best placement */
  #place(
    hints: (provider: HintProvider) => ReturnType<HintProvider["podHints"]>,
  ): TopologyHint {
    const { policy, policyOptions } = this.#options;
    const placement: Placement = choosePlacement(
      policy,
      policyOptions,
      this.#numa,
      this.#providers.map(hints),
    );
    if (!placement.admitted)
      throw new AdmissionError(
        "TopologyAffinityError",
        "Resources cannot be allocated with Topology locality",
      );
    return placement.affinity;
  }

  /** Of what the policy single-numa-node placed. */
  alignment(): Alignment {
    const { scope } = this.#options;
    return { scope, boundary: "numa_node", count: this.#aligned };
  }

  /** With the policy none, too: its requests count, and it has no errors. */
  metrics(): Family[] {
    return [
      new Family(
        "kubelet_topology_manager_admission_requests_total",
        "counter",
        "[ALPHA] The number of admission requests where resources have to be aligned.",
      ).add({}, this.#requests),
      new Family(
        "kubelet_topology_manager_admission_errors_total",
        "counter",
        "[ALPHA] The number of admission request failures where resources could not be aligned.",
      ).add({}, this.#failures),
      new Family(
        "kubelet_topology_manager_admission_duration_ms",
        "histogram",
        "[ALPHA] Duration in milliseconds to serve a pod admission request.",
      ).addHistogram({}, this.#durations),
    ];
  }
}
