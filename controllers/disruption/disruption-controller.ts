// The status of PodDisruptionBudgets: how many pods are expected, must be and are healthy, and so how many may be
// disrupted now. Expected are the replicas of the pods' controllers where a percentage or maxUnavailable needs them.
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { formatTime } from "../../api/clock.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from "../../api/types/policy-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import { setCondition } from "../../api/objects/conditions.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
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
import { scaledValue } from "../../api/objects/int-or-string.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";

/** A pod the eviction API let go counts as disrupted until it is seen ending, at most this long. */
const disruptionTimeoutMs = 120_000;

type Scaled = KubeObject & { spec: { replicas?: number } };

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
      .filter(
        (pod) => selector.matches(pod.metadata.labels) && !isPodTerminal(pod),
      );
    if (chosen.length === 0)
      recorder.event(budget, "Normal", "NoPods", "No matching pods found");
    const nowMs = clock.now();
    let requeueAfterMs: number | undefined;
    const disruptedPods: Record<string, string> = {};
    for (const [podName, time] of Object.entries(
      budget.status?.disruptedPods ?? {},
    )) {
      const pod = chosen.find(({ metadata }) => metadata.name === podName);
      if (!pod || pod.metadata.deletionTimestamp) continue;
      const leftMs = Date.parse(time) + disruptionTimeoutMs - nowMs;
      if (leftMs <= 0) continue;
      disruptedPods[podName] = time;
      requeueAfterMs = Math.min(requeueAfterMs ?? Infinity, leftMs);
    }
    let counts: { expected: number; desired: number };
    try {
      counts = countsOf(budget, chosen);
    } catch (error) {
      await write(budget, {
        ...budget.status!,
        disruptionsAllowed: 0,
        observedGeneration: budget.metadata.generation ?? 0,
        conditions: [
          ...setCondition(
            budget.status?.conditions,
            {
              type: "DisruptionAllowed",
              status: "False",
              reason: "SyncFailed",
              message: error instanceof Error ? error.message : String(error),
              lastTransitionTime: formatTime(nowMs),
            },
            formatTime(nowMs),
          ),
        ],
      });
      return;
    }
    const healthy = chosen.filter(
      (pod) =>
        isPodActive(pod) &&
        isPodReady(pod) &&
        disruptedPods[pod.metadata.name] === undefined,
    ).length;
    const { expected, desired } = counts;
    const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
    await write(budget, {
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      disruptionsAllowed: allowed,
      observedGeneration: budget.metadata.generation ?? 0,
      ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
      conditions: [
        ...setCondition(
          budget.status?.conditions,
          {
            type: "DisruptionAllowed",
            status: allowed > 0 ? "True" : "False",
            reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
            message: "",
            observedGeneration: budget.metadata.generation ?? 0,
            lastTransitionTime: formatTime(nowMs),
          },
          formatTime(nowMs),
        ),
      ],
    });
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  }

  function countsOf(
    budget: PodDisruptionBudget,
    chosen: readonly Pod[],
  ): { expected: number; desired: number } {
    const { minAvailable, maxUnavailable } = budget.spec ?? {};
    if (maxUnavailable !== undefined) {
      const expected = expectedOf(chosen);
      const may = scaledValue(maxUnavailable, expected, "up");
      return { expected, desired: Math.max(0, expected - may) };
    }
    if (minAvailable === undefined)
      return { expected: chosen.length, desired: 0 };
    if (typeof minAvailable === "number")
      return { expected: chosen.length, desired: minAvailable };
    const expected = expectedOf(chosen);
    return { expected, desired: scaledValue(minAvailable, expected, "up") };
  }

  /** The wanted replicas of all controllers behind the pods. Throws for a pod whose controller has no scale. */
  function expectedOf(chosen: readonly Pod[]): number {
    const seen = new Map<string, number>();
    for (const pod of chosen) {
      let owner: KubeObject = pod;
      let scaled: Scaled | undefined;
      // A Deployment above its ReplicaSet.
      for (let up = controllerOf(owner); up; up = controllerOf(owner)) {
        const ref = scalable.get(up.kind);
        if (!ref) break;
        const found = client
          .informer(ref)
          .lister.get(up.name, pod.metadata.namespace);
        if (found?.metadata.uid !== up.uid) break;
        scaled = found;
        owner = found;
      }
      if (!scaled) {
        const controller = controllerOf(pod);
        if (!controller)
          throw new Error(
            `found no controller ref for pod ${JSON.stringify(pod.metadata.name)}`,
          );
        throw new Error(
          `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`,
        );
      }
      seen.set(scaled.metadata.uid ?? "", scaled.spec.replicas ?? 1);
    }
    return [...seen.values()].reduce((sum, replicas) => sum + replicas, 0);
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
