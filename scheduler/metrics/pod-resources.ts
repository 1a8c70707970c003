// What pods ask for and may use, one sample a pod and resource, for /metrics/resources of the scheduler's port. Pods that
// have ended on their node ask for nothing.
import { Family } from "../../api/metrics/family.ts";
import {
  podLimits,
  podRequests,
  type Resources,
} from "../../api/objects/pod-resources.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import type { Pod } from "../../api/types/core-v1.ts";

/** Where the scheduler's port shows them. */
export const resourcesPath = "/metrics/resources";

function unitOf(resource: string): string {
  if (resource === "cpu") return "cores";
  if (/^(memory|storage|ephemeral-storage|hugepages-.*)$/.test(resource))
    return "bytes";
  return resource.startsWith("attachable-volumes-") ? "integer" : "";
}

export function podResourceFamilies(pods: Iterable<Readonly<Pod>>): Family[] {
  const requests = new Family(
    "kube_pod_resource_request",
    "gauge",
    "Resources that pods ask for, by pod and resource, with the resource's unit.",
  );
  const limits = new Family(
    "kube_pod_resource_limit",
    "gauge",
    "Resources that pods may use at most, by pod and resource, with the resource's unit.",
  );
  for (const pod of pods) {
    const { nodeName, schedulerName, priority } = pod.spec;
    if (nodeName && isPodTerminal(pod)) continue;
    const labels = {
      namespace: pod.metadata.namespace ?? "",
      pod: pod.metadata.name,
      node: nodeName ?? "",
      scheduler: schedulerName ?? "",
      priority: priority === undefined ? "" : String(priority),
    };
    const add = (family: Family, amounts: Resources): void => {
      for (const [resource, amount] of amounts)
        if (amount !== 0)
          family.add(
            { ...labels, resource, unit: unitOf(resource) },
            resource === "cpu" ? amount / 1000 : amount,
          );
    };
    add(requests, podRequests(pod.spec));
    add(limits, podLimits(pod.spec));
  }
  return [requests, limits];
}
