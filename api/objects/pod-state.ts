// What a pod's status says: active, ready, available.
import type { Pod, PodCondition } from "../types/core-v1.ts";
import { findCondition } from "./conditions.ts";

export function isPodTerminal(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed";
}

/** Neither ended nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

export function podReadyCondition(pod: Pod): PodCondition | undefined {
  return findCondition(pod.status?.conditions, "Ready");
}

export function isPodReady(pod: Pod): boolean {
  return podReadyCondition(pod)?.status === "True";
}

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
  return sinceMs + minReadySeconds * 1000 <= nowMs;
}
