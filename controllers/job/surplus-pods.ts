// Which running pods of a Job go when there are too many: of an Indexed Job first those whose index is not wanted or is
// another pod's too, then those that have come least far.
import { isPodReady, podReadyCondition } from "../../api/objects/pod-state.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { completionIndex } from "./completion-indexes.ts";

const phaseRank: Readonly<Record<string, number>> = {
  Pending: 0,
  Unknown: 1,
  Running: 2,
};

/** @param atLeast more go where their index is not wanted */
export function surplusPods(
  { spec }: Job,
  active: readonly Pod[],
  atLeast: number,
): Pod[] {
  const sorted = [...active].sort(byProgress);
  if (spec.completionMode !== "Indexed") return sorted.slice(0, atLeast);
  const going: Pod[] = [];
  const last = new Map<number, Pod>();
  for (const pod of sorted) last.set(completionIndex(pod), pod);
  for (const pod of sorted) {
    const index = completionIndex(pod);
    const isWanted = index >= 0 && index < (spec.completions ?? 0);
    if (!isWanted || last.get(index) !== pod) going.push(pod);
  }
  const left = sorted.filter((pod) => !going.includes(pod));
  return [...going, ...left.slice(0, Math.max(0, atLeast - going.length))];
}

/** Not assigned, not running, not ready, ready for a shorter time, restarted more often, younger: the first to go. */
function byProgress(a: Pod, b: Pod): number {
  const [left, right] = [progressOf(a), progressOf(b)];
  for (const [index, value] of left.entries())
    if (value !== right[index]) return value - right[index]!;
  return 0;
}

function progressOf(pod: Pod): number[] {
  const restarts = (pod.status?.containerStatuses ?? []).map(
    ({ restartCount }) => restartCount,
  );
  const ready = isPodReady(pod);
  return [
    pod.spec.nodeName ? 1 : 0,
    phaseRank[pod.status?.phase ?? "Pending"] ?? 1,
    ready ? 1 : 0,
    ready ? -since(podReadyCondition(pod)?.lastTransitionTime) : 0,
    -Math.max(0, ...restarts),
    -since(pod.metadata.creationTimestamp),
  ];
}

/** Later is greater; a time that is not known is the latest. */
const since = (time: string | undefined): number =>
  Date.parse(time ?? "") || Number.MAX_SAFE_INTEGER;
