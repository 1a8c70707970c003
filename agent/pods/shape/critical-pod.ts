// Pods that the node does not give up for others: static ones, their mirrors and those of the system's priorities.
import type { Pod } from "../../../api/types/core-v1.ts";
import { isMirrorPod, isStaticPod } from "./labels.ts";

/** From here on a pod's priority is the system's own. */
export const systemPriority = 2_000_000_000;

export function isCriticalPod(pod: Pod): boolean {
  return (
    isStaticPod(pod) ||
    isMirrorPod(pod) ||
    (pod.spec.priority ?? 0) >= systemPriority
  );
}
