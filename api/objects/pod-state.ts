// What a pod's status says: active, ready, available.
import { clockToleranceMs, formatTime } from "../clock.ts";
import type { Pod, PodCondition } from "../types/core-v1.ts";
import { findCondition, isConditionTrue } from "./conditions.ts";

/** All its containers have ended for good. */
export function isPodTerminal({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Neither ended nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

export function podReadyCondition(pod: Pod): PodCondition | undefined {
  return findCondition(pod.status?.conditions, "Ready");
}

export function isPodReady(pod: Pod): boolean {
  return isConditionTrue(pod.status?.conditions, "Ready");
}

/** The condition of a pod that others end: Jobs and people distinguish its end from a failure by it. */
export const disruptionTarget = (
  reason: string,
  message: string,
  nowMs: number,
): PodCondition => ({
  type: "DisruptionTarget",
  status: "True",
  reason,
  message,
  lastTransitionTime: formatTime(nowMs),
});

/** Ready for at least minReadySeconds. */
export function isPodAvailable(
  pod: Pod,
  minReadySeconds: number,
  nowMs: number,
): boolean {
  const ready = podReadyCondition(pod);
  if (ready?.status !== "True") return false;
  if (minReadySeconds === 0) return true;
  const sinceMs = Date.parse(ready.lastTransitionTime ?? "");
  // One that got ready in the future did so before the clock was set back: no wait lasts until that clock comes again.
  if (sinceMs > nowMs + clockToleranceMs) return true;
  return sinceMs + minReadySeconds * 1000 <= nowMs;
}
