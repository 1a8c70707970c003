// Which pods end so that a critical one has room on this node. Pure; the choice is the reference's: of the less important
// pods as few as can be, best-effort before burstable before guaranteed ones, and among those of one class the ones whose
// requests are closest to what is missing, the smaller where two are equally close.
//
// Worked example: 300m of cpu are missing; burstable pods request 100m, 250m and 400m. The distance is the share that would
// still be missing, squared: (200/300)², (50/300)², 0. The one of 400m is ended; with another of 350m that one would be.
import type { Pod } from "../../api/types/core-v1.ts";
import {
  podRequests,
  type Resources,
} from "../../api/objects/pod-resources.ts";
import { qosClass } from "../../api/objects/pod-qos.ts";
import { isCriticalPod } from "../pods/shape/critical-pod.ts";

function isPreemptable(by: Pod, pod: Pod): boolean {
  if (isCriticalPod(by) && !isCriticalPod(pod)) return true;
  const [own, its] = [by.spec.priority, pod.spec.priority];
  return own !== undefined && its !== undefined && own > its;
}

/**
 * @param missing amounts by resource
 * @throws Error when all less important pods together don't free that much
 */
export function podsToPreempt(
  by: Pod,
  pods: readonly Pod[],
  missing: ReadonlyMap<string, number>,
): Pod[] {
  const less = pods.filter((pod) => isPreemptable(by, pod));
  const ofClass = (name: string): Pod[] =>
    less.filter((pod) => qosClass(pod) === name);
  const [bestEffort, burstable, guaranteed] = [
    ofClass("BestEffort"),
    ofClass("Burstable"),
    ofClass("Guaranteed"),
  ];
  const unmet = without(missing, less);
  if (unmet.size > 0) throw new Error(notFound(unmet));
  const last = closest(
    guaranteed,
    without(missing, [...bestEffort, ...burstable]),
  );
  const middle = closest(burstable, without(missing, [...bestEffort, ...last]));
  const first = closest(bestEffort, without(missing, [...middle, ...last]));
  return [...first, ...middle, ...last];
}

function notFound(unmet: ReadonlyMap<string, number>): string {
  const list = [...unmet].map(
    ([name, amount]) => `(res: ${name}, q: ${amount}), `,
  );
  return `no set of running pods found to reclaim resources: [${list.join("")}]`;
}

function requestsOf(pod: Pod): Resources {
  return podRequests(pod.spec).set("pods", 1);
}

/** What is still missing when these pods have ended. */
function without(
  missing: ReadonlyMap<string, number>,
  pods: readonly Pod[],
): Map<string, number> {
  const left = new Map(missing);
  for (const pod of pods) {
    const requests = requestsOf(pod);
    for (const [name, amount] of left) {
      const rest = amount - (requests.get(name) ?? 0);
      if (rest > 0) left.set(name, rest);
      else left.delete(name);
    }
  }
  return left;
}

function closest(
  from: readonly Pod[],
  missing: ReadonlyMap<string, number>,
): Pod[] {
  const candidates = [...from];
  const chosen: Pod[] = [];
  let left = new Map(missing);
  while (left.size > 0) {
    let best = candidates[0];
    if (!best) throw new Error(notFound(left));
    for (const pod of candidates.slice(1)) {
      const further = distance(pod, left) - distance(best, left);
      if (further < 0 || (further === 0 && isSmaller(pod, best))) best = pod;
    }
    candidates.splice(candidates.indexOf(best), 1);
    chosen.push(best);
    left = without(left, [best]);
  }
  return chosen;
}

/** Each resource counts by the share of it that would still be missing. */
function distance(pod: Pod, missing: ReadonlyMap<string, number>): number {
  const requests = requestsOf(pod);
  let sum = 0;
  for (const [name, amount] of missing) {
    const rest = amount - (requests.get(name) ?? 0);
    if (rest > 0) sum += (rest / amount) ** 2;
  }
  return sum;
}

function isSmaller(pod: Pod, than: Pod): boolean {
  const [own, its] = [requestsOf(pod), requestsOf(than)];
  for (const name of ["memory", "cpu"]) {
    const difference = (own.get(name) ?? 0) - (its.get(name) ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return true;
}
