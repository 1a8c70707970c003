// The status of a ReplicaSet or ReplicationController, computed from its pods.
import { formatTime } from "../../api/clock.ts";
import { selectorFromMap } from "../../api/selectors.ts";
import type { Pod, PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { ReplicaSetStatus } from "../../api/types/apps-v1.ts";
import {
  findCondition,
  setCondition,
  withoutCondition,
} from "../../api/objects/conditions.ts";
import { isPodAvailable, isPodReady } from "../../api/objects/pod-state.ts";
import { errorText } from "../workloads/pod-control.ts";

interface ReplicaStatusInput {
  /** Active, claimed pods. */
  pods: readonly Pod[];
  replicas: number;
  minReadySeconds: number;
  template: PodTemplateSpec | undefined;
  generation: number | undefined;
  old: ReplicaSetStatus | undefined;
  /** Why the last attempt to reach the wanted number failed. */
  failure: unknown;
  nowMs: number;
}

export function replicaStatus(input: ReplicaStatusInput): ReplicaSetStatus {
  const { pods, failure, nowMs } = input;
  const templateLabels = selectorFromMap(input.template?.metadata?.labels);
  const ready = pods.filter(isPodReady);
  let conditions = input.old?.conditions ?? [];
  const failed = findCondition(conditions, "ReplicaFailure");
  if (failure !== undefined && !failed)
    conditions = [
      ...setCondition(
        conditions,
        {
          type: "ReplicaFailure",
          status: "True",
          reason:
            pods.length < input.replicas ? "FailedCreate" : "FailedDelete",
          message: errorText(failure),
        },
        formatTime(nowMs),
      ),
    ];
  else if (failure === undefined && failed)
    conditions = [...withoutCondition(conditions, "ReplicaFailure")];
  return {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) =>
      templateLabels.matches(pod.metadata.labels),
    ).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) =>
      isPodAvailable(pod, input.minReadySeconds, nowMs),
    ).length,
    ...(input.generation === undefined
      ? {}
      : { observedGeneration: input.generation }),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}
