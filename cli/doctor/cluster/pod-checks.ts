// Pods that do not come up or do not go, and namespaces that do not go. A pod of the system fails the cluster; a pod of a
// user is a warning.
import { findCondition } from "../../../api/objects/conditions.ts";
import { isPodReady, isPodTerminal } from "../../../api/objects/pod-state.ts";
import type {
  ContainerStatus,
  Namespace,
  Pod,
} from "../../../api/types/core-v1.ts";
import { failed, warning, type Finding } from "../finding.ts";
import { age, several, short } from "./several.ts";

/** What starts takes no longer on a node that is well. */
const startingMs = 120_000;
/** A container may be long in coming up; one that is not ready after it has a reason. */
const unreadyMs = 300_000;
/** Beyond its grace, which is part of the time of its deletion. */
const endingMs = 60_000;

/** Passing states: what comes after them is what counts. */
const passing = new Set(["ContainerCreating", "PodInitializing", ""]);

const statuses = ({ status }: Pod): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

const sinceMs = (time: string | undefined, nowMs: number): number =>
  nowMs - Date.parse(time ?? "");

/** Undefined: nothing is wrong with it, or not yet. */
function problemOf(pod: Pod, nowMs: number): string | undefined {
  const { deletionTimestamp, finalizers, creationTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) {
    const overdueMs = sinceMs(deletionTimestamp, nowMs);
    if (overdueMs < endingMs) return undefined;
    return finalizers?.length
      ? `ends since ${age(overdueMs)}: held by the finalizers ${finalizers.join(", ")}`
      : `ends since ${age(overdueMs)}: its node has not said that it is gone`;
  }
  if (isPodTerminal(pod)) return undefined;
  const waiting = statuses(pod).find(
    ({ state }) => state?.waiting && !passing.has(state.waiting.reason ?? ""),
  );
  if (waiting) {
    const { reason, message } = waiting.state!.waiting!;
    return `container ${waiting.name}: ${reason}: ${message ?? ""}`;
  }
  const oldMs = sinceMs(pod.status?.startTime ?? creationTimestamp, nowMs);
  const scheduled = findCondition(pod.status?.conditions, "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "SchedulingGated")
    return undefined;
  if (scheduled?.status === "False" && oldMs > startingMs)
    return `no node takes it: ${scheduled.message ?? ""}`;
  if (pod.status?.phase === "Pending" && oldMs > startingMs)
    return `does not start since ${age(oldMs)}`;
  const ready = findCondition(pod.status?.conditions, "Ready");
  if (
    !isPodReady(pod) &&
    pod.status?.phase === "Running" &&
    sinceMs(ready?.lastTransitionTime, nowMs) > unreadyMs
  )
    return `not ready since ${age(sinceMs(ready?.lastTransitionTime, nowMs))}: ${ready?.message ?? ""}`;
  return undefined;
}

const isSystem = ({ metadata, spec }: Pod): boolean =>
  metadata.namespace === "kube-system" ||
  spec.priorityClassName?.startsWith("system-") === true;

export function podFindings(pods: readonly Pod[], nowMs: number): Finding[] {
  const findings = pods.flatMap((pod): Finding[] => {
    const problem = problemOf(pod, nowMs);
    if (problem === undefined) return [];
    const { name, namespace } = pod.metadata;
    return [
      (isSystem(pod) ? failed : warning)(
        `pod ${namespace}/${name}`,
        short(problem),
        `kubectl -n ${namespace} describe pod ${name}`,
      ),
    ];
  });
  return several(
    "pods",
    findings,
    `${pods.length}, none is stuck`,
    "kubectl get pods -A",
  );
}

export function namespaceFindings(
  namespaces: readonly Namespace[],
  nowMs: number,
): Finding[] {
  const findings = namespaces.flatMap(({ metadata, status }): Finding[] => {
    const { name, deletionTimestamp } = metadata;
    if (deletionTimestamp === undefined) return [];
    const goingMs = sinceMs(deletionTimestamp, nowMs);
    if (goingMs < endingMs) return [];
    const why = (status?.conditions ?? [])
      .filter((condition) => condition.status === "True")
      .map(({ message }) => message ?? "");
    return [
      warning(
        `namespace ${name}`,
        short(`goes since ${age(goingMs)}: ${why.join("; ")}`),
        `kubectl get namespace ${name} -o yaml`,
      ),
    ];
  });
  return several(
    "namespaces",
    findings,
    `${namespaces.length}, none is stuck`,
    "kubectl get namespaces",
  );
}
