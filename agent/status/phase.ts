// A pod's phase from its containers' statuses, as the reference derives it.
import type { ContainerStatus, Pod } from "../../api/types/core-v1.ts";
import { isSidecar } from "../pods/shape/pod-shape.ts";

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed";

/** `final`: the pod is ended for good, so that what is stopped stays stopped and sidecars count. */
export function podPhase(
  pod: Pod,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
  final: boolean,
): Phase {
  const policy = pod.spec.restartPolicy ?? "Always";
  let pendingInit = 0;
  let runningInit = 0;
  let pendingSidecars = 0;
  let failedInit = 0;
  let sidecarsRunning = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const status = initStatuses.find(({ name }) => name === container.name);
    if (isSidecar(container)) {
      if (status?.state?.running) {
        sidecarsRunning++;
        if (!status.started) pendingSidecars++;
      } else if (!status?.state?.terminated && !status?.lastState?.terminated)
        pendingSidecars++;
      continue;
    }
    if (status?.state?.running) runningInit++;
    if (status?.state?.terminated) {
      if (status.state.terminated.exitCode !== 0) failedInit++;
    } else if (
      status?.state?.waiting &&
      status.lastState?.terminated &&
      status.lastState.terminated.exitCode !== 0
    )
      failedInit++;
    else pendingInit++;
  }
  let running = 0;
  let waiting = 0;
  let stopped = 0;
  let succeeded = 0;
  /** An app container runs or has ended; `started`: or has ended before, and waits to be started again. */
  let shown = false;
  let started = false;
  for (const container of pod.spec.containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status?.state?.running) running++;
    else if (status?.state?.terminated) {
      stopped++;
      if (status.state.terminated.exitCode === 0) succeeded++;
    } else if (status?.lastState?.terminated) stopped++;
    else waiting++;
    if (status?.state?.running || status?.state?.terminated) shown = true;
    if (shown || status?.lastState?.terminated) started = true;
  }
  if (failedInit > 0 && policy === "Never") return "Failed";
  if (!started && pendingInit + pendingSidecars + failedInit > 0)
    return final && failedInit > 0 ? "Failed" : "Pending";
  // In a new sandbox a pod that ran before is initialized once more. Of an init container that does not run that is not
  // known: its remains may have been removed.
  if (!final && (runningInit > 0 || (pendingSidecars > 0 && !shown)))
    return "Pending";
  if (waiting > 0) return final && stopped > 0 ? "Failed" : "Pending";
  if (running > 0) return "Running";
  if (stopped === 0) return "Pending";
  if (final) return stopped === succeeded ? "Succeeded" : "Failed";
  if (sidecarsRunning > 0 || policy === "Always")
    return policy !== "Always" && sidecarsRunning === 0 ? "Failed" : "Running";
  if (stopped === succeeded) return "Succeeded";
  return policy === "Never" ? "Failed" : "Running";
}
