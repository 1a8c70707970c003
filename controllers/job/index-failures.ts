// Failures of one index of an Indexed Job with backoffLimitPerIndex. How often an index has failed is written on its
// newest pod: a failed pod keeps its finalizer, and so stays, until the pod that takes its place carries the number on.
import { completionIndex, wholeNumber } from "./completion-indexes.ts";
import { failureVerdict } from "./failure-policy.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";

const failuresAnnotation = "batch.kubernetes.io/job-index-failure-count";
const ignoredAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count";

/** How often the index had failed before this pod. */
export const failuresBefore = ({ metadata }: Pod): number =>
  wholeNumber(metadata.annotations?.[failuresAnnotation]) ?? 0;

const ignoredBefore = ({ metadata }: Pod): number =>
  wholeNumber(metadata.annotations?.[ignoredAnnotation]) ?? 0;

/** With this pod's own, counted or not. */
export const allFailures = (pod: Pod): number =>
  failuresBefore(pod) + ignoredBefore(pod) + 1;

/** What a new pod says. @param replaced the failed pod whose place it takes */
export function failureAnnotations(
  job: Job,
  replaced: Pod | undefined,
): Record<string, string> {
  if (job.spec.backoffLimitPerIndex === undefined) return {};
  if (!replaced) return { [failuresAnnotation]: "0" };
  const isIgnored = failureVerdict(job, replaced).action === "Ignore";
  const failures = failuresBefore(replaced) + (isIgnored ? 0 : 1);
  const ignored = ignoredBefore(replaced) + (isIgnored ? 1 : 0);
  return {
    [failuresAnnotation]: String(failures),
    ...(ignored > 0 ? { [ignoredAnnotation]: String(ignored) } : {}),
  };
}

/**
 * Of each index that is to be tried again the failed pod that says how often it has failed.
 * @param failed pods that are not released yet
 * @param isDone whether the index needs no other pod, or has one
 */
export function podsToReplace(
  { spec }: Job,
  failed: readonly Pod[],
  isDone: (index: number) => boolean,
  endMs: (pod: Pod) => number,
): Map<number, Pod> {
  const found = new Map<number, Pod>();
  if (spec.backoffLimitPerIndex === undefined) return found;
  for (const pod of failed) {
    const index = completionIndex(pod);
    if (index < 0 || index >= (spec.completions ?? 0) || isDone(index))
      continue;
    const last = found.get(index);
    if (
      !last ||
      (allFailures(last) <= allFailures(pod) && endMs(pod) >= endMs(last))
    )
      found.set(index, pod);
  }
  return found;
}
