// The status of a Deployment: counts, and the conditions Available, Progressing and ReplicaFailure with the reference's
// reasons and messages.
import { formatTime } from "../../api/clock.ts";
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from "../../api/types/apps-v1.ts";
import {
  findCondition,
  putCondition,
  transitionTime,
  withoutCondition,
} from "../../api/objects/conditions.ts";
import {
  maxUnavailable,
  replicasOf,
  totalAvailable,
  totalReplicas,
} from "./sizes.ts";

const noDeadline = 0x7fffffff;

function hasProgressDeadline(deployment: Deployment): boolean {
  const seconds = deployment.spec.progressDeadlineSeconds;
  return seconds !== undefined && seconds !== noDeadline;
}

const count = (
  sets: readonly ReplicaSet[],
  field: "replicas" | "readyReplicas",
): number => sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);

/** Sets a condition as Deployments do: lastUpdateTime moves with every change of status or reason. */
function withDeploymentCondition(
  conditions: readonly DeploymentCondition[] | undefined,
  condition: Pick<
    DeploymentCondition,
    "type" | "status" | "reason" | "message"
  >,
  nowMs: number,
  always = false,
): DeploymentCondition[] {
  const old = findCondition(conditions, condition.type);
  if (
    !always &&
    old?.status === condition.status &&
    old.reason === condition.reason
  )
    return [...(conditions ?? [])];
  const time = formatTime(nowMs);
  return putCondition(conditions, {
    ...condition,
    lastUpdateTime: time,
    lastTransitionTime: transitionTime(old, condition.status, time),
  });
}

export function deploymentStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const available = totalAvailable(sets);
  const enough =
    available >= replicasOf(deployment) - maxUnavailable(deployment);
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: count(sets, "replicas"),
    updatedReplicas: newSet ? count([newSet], "replicas") : 0,
    readyReplicas: count(sets, "readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalReplicas(sets) - available),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withDeploymentCondition(
      deployment.status?.conditions,
      enough
        ? {
            type: "Available",
            status: "True",
            reason: "MinimumReplicasAvailable",
            message: "Deployment has minimum availability.",
          }
        : {
            type: "Available",
            status: "False",
            reason: "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
          },
      nowMs,
    ),
  };
}

/** All replicas updated and available, no old ones left, and the controller has seen the newest spec. */
export function isComplete(
  deployment: Deployment,
  status: DeploymentStatus,
): boolean {
  const replicas = replicasOf(deployment);
  return (
    status.updatedReplicas === replicas &&
    status.replicas === replicas &&
    status.availableReplicas === replicas &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function isProgressing(
  deployment: Deployment,
  status: DeploymentStatus,
): boolean {
  const old = deployment.status ?? {};
  const outdated = (of: DeploymentStatus): number =>
    (of.replicas ?? 0) - (of.updatedReplicas ?? 0);
  return (
    (status.updatedReplicas ?? 0) > (old.updatedReplicas ?? 0) ||
    outdated(status) < outdated(old) ||
    (status.readyReplicas ?? 0) > (old.readyReplicas ?? 0) ||
    (status.availableReplicas ?? 0) > (old.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: Deployment, nowMs: number): boolean {
  const condition = findCondition(deployment.status?.conditions, "Progressing");
  if (!condition || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  return nowMs > deadlineMs(deployment, condition);
}

function deadlineMs(
  deployment: Deployment,
  condition: DeploymentCondition,
): number {
  const since = condition.lastUpdateTime ?? condition.lastTransitionTime ?? "";
  return (
    Date.parse(since) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000
  );
}

/** The status after a rollout step: the plain one with Progressing and ReplicaFailure brought up to date. */
export function rolloutStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const status = deploymentStatus(deployment, sets, newSet, nowMs);
  let conditions: readonly DeploymentCondition[] = status.conditions ?? [];
  const current = findCondition(deployment.status?.conditions, "Progressing");
  if (!hasProgressDeadline(deployment))
    conditions = withoutCondition(conditions, "Progressing");
  const done =
    status.replicas === status.updatedReplicas &&
    current?.reason === "NewReplicaSetAvailable";
  if (hasProgressDeadline(deployment) && !done) {
    const what = newSet
      ? `ReplicaSet "${newSet.metadata.name}"`
      : `Deployment "${deployment.metadata.name}"`;
    const set = (
      state: string,
      reason: string,
      message: string,
      always = false,
    ): void => {
      conditions = withDeploymentCondition(
        conditions,
        { type: "Progressing", status: state, reason, message },
        nowMs,
        always,
      );
    };
    if (isComplete(deployment, status))
      set(
        "True",
        "NewReplicaSetAvailable",
        `${what} has successfully progressed.`,
      );
    else if (isProgressing(deployment, status))
      // The deadline counts from the last progress, so the time is renewed each time.
      set("True", "ReplicaSetUpdated", `${what} is progressing.`, true);
    else if (hasTimedOut(deployment, nowMs))
      set(
        "False",
        "ProgressDeadlineExceeded",
        `${what} has timed out progressing.`,
      );
  }
  const failure = replicaFailure(sets, newSet);
  conditions = failure
    ? withDeploymentCondition(conditions, failure, nowMs)
    : withoutCondition(conditions, "ReplicaFailure");
  return { ...status, conditions: [...conditions] };
}

function replicaFailure(
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
):
  | Pick<DeploymentCondition, "type" | "status" | "reason" | "message">
  | undefined {
  const ordered = newSet ? [newSet, ...sets] : sets;
  for (const set of ordered) {
    const condition = findCondition(set.status?.conditions, "ReplicaFailure");
    if (condition) {
      const { status, reason, message } = condition;
      return {
        type: "ReplicaFailure",
        status,
        ...(reason ? { reason } : {}),
        ...(message ? { message } : {}),
      };
    }
  }
  return undefined;
}

/** Milliseconds after which a rollout without news has to be looked at for its deadline; undefined: never. */
export function deadlineCheckMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  if (!hasProgressDeadline(deployment)) return undefined;
  const condition = findCondition(status.conditions, "Progressing");
  if (
    !condition ||
    condition.reason === "ProgressDeadlineExceeded" ||
    isComplete(deployment, status)
  )
    return undefined;
  return Math.max(1000, deadlineMs(deployment, condition) - nowMs + 1000);
}

/** The status with a found or made ReplicaSet noted in Progressing; the same status when there is nothing to note. */
export function withNewSetNoted(
  deployment: Deployment,
  newSet: ReplicaSet,
  created: boolean,
  nowMs: number,
): DeploymentStatus | undefined {
  const { status } = deployment;
  if (!hasProgressDeadline(deployment)) return status;
  if (!created && findCondition(status?.conditions, "Progressing"))
    return status;
  return withProgressing(
    status,
    {
      status: "True",
      reason: created ? "NewReplicaSetCreated" : "FoundNewReplicaSet",
      message: `${created ? "Created" : "Found"} new replica set "${newSet.metadata.name}"`,
    },
    nowMs,
  );
}

/** The same status when pausing has been noted: pausing stops the progress clock, resuming starts it from zero. */
export function withPauseNoted(
  deployment: Deployment,
  nowMs: number,
): DeploymentStatus | undefined {
  const { status } = deployment;
  if (!hasProgressDeadline(deployment)) return status;
  const condition = findCondition(status?.conditions, "Progressing");
  if (condition?.reason === "ProgressDeadlineExceeded") return status;
  const paused = deployment.spec.paused === true;
  if (paused === (condition?.reason === "DeploymentPaused")) return status;
  return withProgressing(
    status,
    {
      status: "Unknown",
      reason: paused ? "DeploymentPaused" : "DeploymentResumed",
      message: paused ? "Deployment is paused" : "Deployment is resumed",
    },
    nowMs,
  );
}

export function withCreationFailed(
  deployment: Deployment,
  message: string,
  nowMs: number,
): DeploymentStatus | undefined {
  return hasProgressDeadline(deployment)
    ? withProgressing(
        deployment.status,
        { status: "False", reason: "FailedCreateReplicaSet", message },
        nowMs,
      )
    : deployment.status;
}

function withProgressing(
  status: DeploymentStatus | undefined,
  condition: Pick<DeploymentCondition, "status" | "reason" | "message">,
  nowMs: number,
): DeploymentStatus {
  return {
    ...status,
    conditions: withDeploymentCondition(
      status?.conditions,
      { type: "Progressing", ...condition },
      nowMs,
    ),
  };
}
