// What the pods of a Job add up to: how many have succeeded and failed, which of them are not counted yet, and what the
// failed ones mean by the Job's podFailurePolicy.
//
// A pod is counted once: it carries the tracking finalizer until its uid is in status.uncountedTerminatedPods, so one with
// the finalizer whose uid is not there is new.
import { isPodActive, isPodTerminal } from "../../api/objects/pod-state.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { completionIndex, parseIndexes } from "./completion-indexes.ts";
import { failureVerdict } from "./failure-policy.ts";
import { failuresBefore, podsToReplace } from "./index-failures.ts";
import { trackingFinalizer } from "./job-pod.ts";

export interface Tally {
  readonly active: readonly Pod[];
  /** Those that are deleted and have not ended. */
  readonly terminating: readonly Pod[];
  succeeded: number;
  failed: number;
  readonly succeededIndexes: Set<number>;
  readonly failedIndexes: Set<number>;
  /** Ended pods that still carry the finalizer. */
  readonly uncounted: { succeeded: Pod[]; failed: Pod[]; ignored: Pod[] };
  /** Ended pods that the status names already and that still carry the finalizer: the controller was cut off there. */
  readonly named: Pod[];
  /** Of rules of podFailurePolicy that matched pods which are not counted yet. */
  readonly policyActions: string[];
  /** Why podFailurePolicy ends the Job. */
  policyFailure: string | undefined;
  /** When pods failed, epoch ms. */
  failureTimesMs: number[];
  /** When a pod succeeded last, epoch ms; 0: none is there that has. */
  lastSuccessMs: number;
  /** By index, failed pods that say to the next one how often the index has failed: they are not counted before. */
  replaced: ReadonlyMap<number, Pod>;
}

export const isIndexed = ({ spec }: Job): boolean =>
  spec.completionMode === "Indexed";

export function tallyOf(job: Job, owned: readonly Pod[]): Tally {
  const { uncountedTerminatedPods: pending } = job.status ?? {};
  const tally: Tally = {
    active: owned.filter(isPodActive),
    terminating: owned.filter(
      (pod) => pod.metadata.deletionTimestamp && !isPodTerminal(pod),
    ),
    succeeded: (job.status?.succeeded ?? 0) + (pending?.succeeded?.length ?? 0),
    failed: (job.status?.failed ?? 0) + (pending?.failed?.length ?? 0),
    succeededIndexes: parseIndexes(job.status?.completedIndexes),
    failedIndexes: parseIndexes(job.status?.failedIndexes),
    uncounted: { succeeded: [], failed: [], ignored: [] },
    named: [],
    policyActions: [],
    policyFailure: undefined,
    failureTimesMs: [],
    lastSuccessMs: 0,
    replaced: new Map(),
  };
  const counted = new Set([
    ...(pending?.succeeded ?? []),
    ...(pending?.failed ?? []),
  ]);
  const failed: Pod[] = [];
  for (const pod of owned) {
    if (!hasEnded(job, pod)) continue;
    const tracked = pod.metadata.finalizers?.includes(trackingFinalizer);
    const isNew = tracked === true && !counted.has(pod.metadata.uid ?? "");
    if (tracked && !isNew) tally.named.push(pod);
    if (pod.status?.phase === "Succeeded") addSuccess(tally, job, pod, isNew);
    else {
      addFailure(tally, job, pod, isNew);
      if (!tracked) continue;
      failed.push(pod);
      addFailedIndex(tally, job, pod);
    }
  }
  if (isIndexed(job)) {
    tally.succeeded = tally.succeededIndexes.size;
    const running = new Set(tally.active.map(completionIndex));
    const isDone = (index: number): boolean =>
      running.has(index) ||
      tally.succeededIndexes.has(index) ||
      tally.failedIndexes.has(index);
    tally.replaced = podsToReplace(job, failed, isDone, endMs);
  }
  return tally;
}

/** One that is deleted counts as ended, unless only those that have do; without a node it never will. */
function hasEnded({ spec }: Job, pod: Pod): boolean {
  return (
    isPodTerminal(pod) ||
    (pod.metadata.deletionTimestamp !== undefined &&
      (spec.podReplacementPolicy !== "Failed" || !pod.spec.nodeName))
  );
}

function addSuccess(tally: Tally, job: Job, pod: Pod, isNew: boolean): void {
  if (isIndexed(job)) {
    const index = completionIndex(pod);
    if (index >= 0 && index < (job.spec.completions ?? 0))
      tally.succeededIndexes.add(index);
  } else if (isNew) tally.succeeded++;
  tally.lastSuccessMs = Math.max(tally.lastSuccessMs, endMs(pod));
  if (isNew) tally.uncounted.succeeded.push(pod);
}

function addFailure(tally: Tally, job: Job, pod: Pod, isNew: boolean): void {
  tally.failureTimesMs.push(endMs(pod));
  const verdict = failureVerdict(job, pod);
  if (isNew && verdict.matched) tally.policyActions.push(verdict.action);
  if (verdict.action === "FailJob") tally.policyFailure ??= verdict.message;
  if (verdict.action === "Ignore") {
    if (isNew) tally.uncounted.ignored.push(pod);
    return;
  }
  if (!isNew) return;
  if (!hasWantedIndex(job, pod)) {
    tally.uncounted.ignored.push(pod);
    return;
  }
  tally.failed++;
  tally.uncounted.failed.push(pod);
}

/** Of an Indexed Job that has become smaller some pods belong to nothing any more. */
export function hasWantedIndex(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true;
  const index = completionIndex(pod);
  return index >= 0 && index < (job.spec.completions ?? 0);
}

/** The index has failed for good by a rule, or once more than it may. */
function addFailedIndex(tally: Tally, job: Job, pod: Pod): void {
  const { backoffLimitPerIndex } = job.spec;
  const index = completionIndex(pod);
  if (backoffLimitPerIndex === undefined || !hasWantedIndex(job, pod)) return;
  const { action } = failureVerdict(job, pod);
  const isOver =
    action !== "Ignore" && failuresBefore(pod) >= backoffLimitPerIndex;
  if (action === "FailIndex" || isOver) tally.failedIndexes.add(index);
}

/** When a pod's last container ended, epoch ms; where not all say so, when the pod was known not to be ready any more. */
export function endMs({ metadata, status }: Pod): number {
  const times = (status?.containerStatuses ?? []).map(({ state }) =>
    timeMs(state?.terminated?.finishedAt),
  );
  if (times.length > 0 && !times.includes(0)) return Math.max(...times);
  const ready = findCondition(status?.conditions, "Ready");
  const unreadyMs =
    ready?.status === "False" ? timeMs(ready.lastTransitionTime) : 0;
  if (unreadyMs !== 0) return unreadyMs;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  return deletionTimestamp
    ? timeMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000
    : timeMs(metadata.creationTimestamp);
}

const timeMs = (time: string | undefined): number =>
  Date.parse(time ?? "") || 0;
