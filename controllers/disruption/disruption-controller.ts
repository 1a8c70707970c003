// The status of PodDisruptionBudgets: how many pods are expected, must be and are healthy, and so how many may be
// disrupted now. Expected are the replicas of the pods' controllers where a percentage or maxUnavailable needs them.
import { objectKey, splitKey } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from "../../api/types/policy-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { isPodActive, isPodReady } from "../../api/objects/pod-state.ts";
import {
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { recordAll } from "../workloads/planned-event.ts";
import { planBudget } from "./budget-status.ts";
import { scaleBehind, type Scaled } from "./expected-pods.ts";

export function createDisruptionController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(podDisruptionBudgets);
  const podInformer = client.informer(pods);
  const scalable = new Map<string, ResourceRef<Scaled>>(
    [deployments, replicaSets, replicationControllers, statefulSets].map(
      (ref) => [ref.kind, ref as unknown as ResourceRef<Scaled>],
    ),
  );
  const findScaled = (
    { kind, name, uid }: OwnerReference,
    namespace: string | undefined,
  ): Scaled | undefined => {
    const ref = scalable.get(kind);
    const found = ref && client.informer(ref).lister.get(name, namespace);
    return found?.metadata.uid === uid ? found : undefined;
  };
  const recorder = context.recorder("controllermanager");
  const reconciler = new Reconciler({
    name: "disruption-controller",
    context,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const budget = informer.lister.get(name, namespace);
    if (!budget) return;
    const selector = selectorFromObject(budget.spec?.selector);
    const chosen = podInformer.lister
      .list(namespace)
      .filter((pod) => selector.matches(pod.metadata.labels));
    if (chosen.length === 0)
      recorder.event(budget, "Normal", "NoPods", "No matching pods found");
    const { status, waitMs, events } = planBudget(
      budget,
      chosen,
      (list) => scaleBehind(list, findScaled),
      clock.now(),
    );
    recordAll(recorder, budget, events);
    await write(budget, status);
    return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
  }

  async function write(
    budget: PodDisruptionBudget,
    status: PodDisruptionBudgetStatus,
  ): Promise<void> {
    if (sameJson(budget.status, status)) return;
    await client
      .resource(podDisruptionBudgets)
      .updateStatus({ ...budget, status });
  }

  const lookAt = (pod: Pod): void => {
    for (const budget of informer.lister.list(pod.metadata.namespace))
      if (
        selectorFromObject(budget.spec?.selector).matches(pod.metadata.labels)
      )
        queue.add(objectKey(budget));
  };
  const lookAtNamespace = (object: KubeObject): void => {
    for (const budget of informer.lister.list(object.metadata.namespace))
      queue.add(objectKey(budget));
  };
  reconciler
    .watchAll(informer, (budget) => queue.add(objectKey(budget)))
    .watch(podInformer, {
      onAdd: lookAt,
      onUpdate: (old, pod) => {
        const relabelled = !sameJson(old.metadata.labels, pod.metadata.labels);
        if (relabelled) lookAt(old);
        if (
          relabelled ||
          isPodReady(old) !== isPodReady(pod) ||
          isPodActive(old) !== isPodActive(pod) ||
          old.status?.phase !== pod.status?.phase
        )
          lookAt(pod);
      },
      onDelete: lookAt,
    });
  for (const ref of scalable.values())
    reconciler.watch(client.informer(ref), {
      onUpdate: (old, object) => {
        if (old.spec.replicas !== object.spec.replicas) lookAtNamespace(object);
      },
    });
  return reconciler;
}
