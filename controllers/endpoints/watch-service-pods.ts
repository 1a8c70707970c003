// Which services a pod's change concerns: those whose selector matches its labels, before or after.
import { objectKey } from "../../api/object.ts";
import type { Pod, Service } from "../../api/types/core-v1.ts";
import type { Informer } from "../../client/informer.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { mayServe } from "./service-pods.ts";
import { isPodReady } from "../../api/objects/pod-state.ts";
import type { Reconciler } from "../reconciler.ts";

export function watchServicePods(
  reconciler: Reconciler,
  services: Informer<Service>,
  pods: Informer<Pod>,
  /** How long pods' changes are gathered; services' are not. */
  batchMs: number,
): Reconciler {
  const { queue } = reconciler;
  const enqueueFor = (pod: Pod): void => {
    const labels = pod.metadata.labels ?? {};
    for (const service of services.lister.list(pod.metadata.namespace))
      if (selects(service, labels)) queue.addAfter(objectKey(service), batchMs);
  };
  return reconciler
    .watchAll(services, (service) => queue.add(objectKey(service)))
    .watch(pods, {
      onAdd: (pod) => {
        if (mayServe(pod)) enqueueFor(pod);
      },
      onUpdate: (old, pod) => {
        const relabelled = !sameJson(old.metadata.labels, pod.metadata.labels);
        if (!relabelled && concerns(old) === concerns(pod)) return;
        if (relabelled) enqueueFor(old);
        enqueueFor(pod);
      },
      onDelete: enqueueFor,
    });
}

/** What of a pod shows in endpoints, as a text to be compared. */
function concerns(pod: Pod): string {
  return [
    mayServe(pod),
    isPodReady(pod),
    pod.metadata.deletionTimestamp !== undefined,
    pod.spec.nodeName,
    pod.status?.podIP,
    pod.status?.podIPs?.map(({ ip }) => ip).join(","),
  ].join("|");
}

function selects(
  service: Service,
  labels: Readonly<Record<string, string>>,
): boolean {
  const { selector } = service.spec;
  if (!selector) return false;
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
}
