// What the pods of a Job add up to: how many have succeeded and failed, which of them are not counted yet, and what the
// failed ones mean by the Job's podFailurePolicy.
//
// A pod is counted once: it carries the tracking finalizer until its uid is in status.uncountedTerminatedPods, so one with
// the finalizer whose uid is not there is new.
import { isPodActive, isPodTerminal } from "../../api/objects/pod-state.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { completionIndex, parseIndexes } from "./completion-indexes.ts";
import { failureVerdict } from "./failure-policy.ts";
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
  /** Of rules of podFailurePolicy that matched pods which are not counted yet. */
  readonly policyActions: string[];
  /** Why podFailurePolicy ends the Job. */
  policyFailure: string | undefined;
  /** When pods failed, epoch ms. */
  failureTimesMs: number[];
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
    policyActions: [],
    policyFailure: undefined,
    failureTimesMs: [],
  };
  const counted = new Set([
    ...(pending?.succeeded ?? []),
    ...(pending?.failed ?? []),
  ]);
  const failuresByIndex = new Map<number, number>();
  for (const pod of owned) {
    if (!hasEnded(job, pod)) continue;
    const tracked = pod.metadata.finalizers?.includes(trackingFinalizer);
    const isNew = tracked === true && !counted.has(pod.metadata.uid ?? "");
    if (pod.status?.phase === "Succeeded") addSuccess(tally, job, pod, isNew);
    else addFailure(tally, job, pod, isNew, failuresByIndex);
  }
  if (isIndexed(job)) {
    tally.succeeded = tally.succeededIndexes.size;
    const { backoffLimitPerIndex } = job.spec;
    if (backoffLimitPerIndex !== undefined)
      for (const [index, failures] of failuresByIndex)
        if (index >= 0 && failures > backoffLimitPerIndex)
          tally.failedIndexes.add(index);
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
  if (isNew) tally.uncounted.succeeded.push(pod);
}

function addFailure(
  tally: Tally,
  job: Job,
  pod: Pod,
  isNew: boolean,
  failuresByIndex: Map<number, number>,
): void {
  const index = completionIndex(pod);
  tally.failureTimesMs.push(endMs(pod));
  const verdict = failureVerdict(job, pod);
  if (isNew && verdict.matched) tally.policyActions.push(verdict.action);
  if (verdict.action === "FailJob") tally.policyFailure ??= verdict.message;
  if (verdict.action === "FailIndex" && index >= 0)
    tally.failedIndexes.add(index);
  if (verdict.action === "Ignore") {
    if (isNew) tally.uncounted.ignored.push(pod);
    return;
  }
  failuresByIndex.set(index, (failuresByIndex.get(index) ?? 0) + 1);
  if (!isNew) return;
  tally.failed++;
  tally.uncounted.failed.push(pod);
}

/** When a pod's last container ended, epoch ms. */
function endMs({ metadata, status }: Pod): number {
  const times = (status?.containerStatuses ?? []).map(({ state }) =>
    Date.parse(state?.terminated?.finishedAt ?? ""),
  );
  const known = times.filter((time) => !Number.isNaN(time));
  if (known.length > 0) return Math.max(...known);
  const { deletionTimestamp, creationTimestamp } = metadata;
  return Date.parse(deletionTimestamp ?? creationTimestamp ?? "") || 0;
}
