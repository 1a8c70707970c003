// How many pods a PodDisruptionBudget expects, by the sizes of the controllers behind its pods, and what is said of pods
// that have none.
import { controllerOf } from "../../api/objects/owner-references.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { LabelSelector, OwnerReference } from "../../api/types/meta-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";

export type Scaled = KubeObject & { spec: { replicas?: number } };

export interface Scale {
  /** The wanted replicas of all controllers behind the pods. */
  readonly replicas: number;
  /** Pods without a controller, which these replicas leave out. */
  readonly unmanaged: readonly Pod[];
}

/** Throws for a pod whose controller has no scale. */
export function scaleBehind(
  pods: readonly Pod[],
  findScaled: (
    owner: OwnerReference,
    namespace: string | undefined,
  ) => Scaled | undefined,
): Scale {
  const replicas = new Map<string, number>();
  const unmanaged: Pod[] = [];
  for (const pod of pods) {
    const { name, namespace } = pod.metadata;
    let owner = controllerOf(pod);
    if (!owner) {
      unmanaged.push(pod);
      continue;
    }
    let top: Scaled | undefined;
    // A Deployment above its ReplicaSet.
    while (owner) {
      const found = findScaled(owner, namespace);
      if (!found) break;
      top = found;
      owner = controllerOf(top);
    }
    if (!top)
      throw new Error(`found no controllers for pod ${JSON.stringify(name)}`);
    replicas.set(top.metadata.uid ?? "", top.spec.replicas ?? 1);
  }
  return {
    replicas: [...replicas.values()].reduce((sum, count) => sum + count, 0),
    unmanaged,
  };
}

export const unmanagedPods = (
  selector: LabelSelector | undefined,
): PlannedEvent => ({
  type: "Warning",
  reason: "UnmanagedPods",
  message: `Pods selected by this PodDisruptionBudget (selector: ${selectorText(selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`,
});

/** As Go prints it. */
function selectorText(selector: LabelSelector | undefined): string {
  if (!selector) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`)
    .join("");
  const requirements = matchExpressions
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
    )
    .join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${requirements}},}`;
}
