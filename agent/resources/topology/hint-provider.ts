// What the topology manager asks of a manager of resources that lie on NUMA nodes (CPUs, memory, devices): where a
// container's, or a whole pod's, resources could come from, and then to allocate them at the place that was chosen.
// Invariants: hints are made without side effects; between hints and allocation of one pod no other pod is admitted;
// allocate() of a container that has its resources already leaves them as they are, and hints for it name only where
// they are.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { NodeMask } from "./numa-nodes.ts";

export interface TopologyHint {
  /** The NUMA nodes that the resource would come from; undefined: any will do. */
  readonly nodes: NodeMask | undefined;
  /** No smaller set of nodes could ever serve it. */
  readonly preferred: boolean;
}

/**
 * By resource (`cpu`, `memory`, `vendor.com/device`). No resources, or undefined for one: no preference. An empty list:
 * there is no place for it.
 */
export type TopologyHints = ReadonlyMap<
  string,
  readonly TopologyHint[] | undefined
>;

export interface HintProvider {
  containerHints(pod: Pod, container: Container): TopologyHints;
  /** For all of the pod's containers together. */
  podHints(pod: Pod): TopologyHints;
  /**
   * Takes the container's resources, as far as possible from the nodes of `affinity`.
   * @throws AdmissionError with the reason for the pod, or any other error (UnexpectedAdmissionError)
   */
  allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint,
  ): void | Promise<void>;
  /** Gives back what the pod's containers have; nothing of it runs any more, or it was refused. Idempotent. */
  release(uid: string): void;
  /** The pods for which it holds something, those of an earlier life of the agent too. */
  holders(): Iterable<string>;
}

/** The affinity of a container about which nothing was decided. */
export const noAffinity: TopologyHint = { nodes: undefined, preferred: false };
