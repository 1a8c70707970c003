// The status of a PodDisruptionBudget as a function of it, its pods and the sizes of their controllers. Nothing here reads
// or writes.
import { formatTime } from "../../api/clock.ts";
import { setCondition } from "../../api/objects/conditions.ts";
import { scaledValue } from "../../api/objects/int-or-string.ts";
import { isPodActive, isPodReady } from "../../api/objects/pod-state.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import { errorText } from "../workloads/pod-control.ts";
import { unmanagedPods, type Scale } from "./expected-pods.ts";
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from "../../api/types/policy-v1.ts";

/** A pod the eviction API let go counts as disrupted until it is seen ending, at most this long. */
const disruptionTimeoutMs = 120_000;

interface BudgetPlan {
  readonly status: PodDisruptionBudgetStatus;
  /** Until a pod counts as disrupted no longer. */
  readonly waitMs: number | undefined;
  readonly events: readonly PlannedEvent[];
}

/**
 * @param chosen the pods that the budget selects
 * @param scaleOf of all controllers behind the pods; throws where one has no scale
 */
export function planBudget(
  budget: PodDisruptionBudget,
  chosen: readonly Pod[],
  scaleOf: (pods: readonly Pod[]) => Scale,
  nowMs: number,
): BudgetPlan {
  let counts: Counts;
  try {
    counts = countsOf(budget, chosen, scaleOf);
  } catch (error) {
    return {
      status: failedStatus(budget, error, nowMs),
      waitMs: undefined,
      events: [
        {
          type: "Warning",
          reason: "CalculateExpectedPodCountFailed",
          message: `Failed to calculate the number of expected pods: ${errorText(error)}`,
        },
      ],
    };
  }
  const { disruptedPods, waitMs } = stillDisrupted(budget, chosen, nowMs);
  const healthy = chosen.filter(
    (pod) =>
      isPodActive(pod) &&
      isPodReady(pod) &&
      disruptedPods[pod.metadata.name] === undefined,
  ).length;
  const { expected, desired } = counts;
  const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
  const generation = budget.metadata.generation ?? 0;
  return {
    status: {
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      disruptionsAllowed: allowed,
      observedGeneration: generation,
      ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
      conditions: withAllowed(budget, nowMs, {
        status: allowed > 0 ? "True" : "False",
        reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
        message: "",
        observedGeneration: generation,
      }),
    },
    waitMs,
    events: counts.unmanaged ? [unmanagedPods(budget.spec?.selector)] : [],
  };
}

interface Counts {
  readonly expected: number;
  readonly desired: number;
  /** Pods without a controller are left out. */
  readonly unmanaged?: boolean;
}

function countsOf(
  { spec }: PodDisruptionBudget,
  chosen: readonly Pod[],
  scaleOf: (pods: readonly Pod[]) => Scale,
): Counts {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable === undefined) {
    if (minAvailable === undefined) return { expected: 0, desired: 0 };
    if (typeof minAvailable !== "string")
      return { expected: chosen.length, desired: minAvailable };
  }
  const { replicas: expected, unmanaged } = scaleOf(chosen);
  const desired =
    maxUnavailable === undefined
      ? scaledValue(minAvailable, expected, "up")
      : Math.max(0, expected - scaledValue(maxUnavailable, expected, "up"));
  return { expected, desired, unmanaged: unmanaged.length > 0 };
}

function stillDisrupted(
  { status }: PodDisruptionBudget,
  chosen: readonly Pod[],
  nowMs: number,
): { disruptedPods: Record<string, string>; waitMs: number | undefined } {
  const disruptedPods: Record<string, string> = {};
  let waitMs: number | undefined;
  for (const [name, time] of Object.entries(status?.disruptedPods ?? {})) {
    const pod = chosen.find(({ metadata }) => metadata.name === name);
    if (!pod || pod.metadata.deletionTimestamp) continue;
    const leftMs = Date.parse(time) + disruptionTimeoutMs - nowMs;
    if (leftMs <= 0) continue;
    disruptedPods[name] = time;
    waitMs = Math.min(waitMs ?? Infinity, leftMs);
  }
  return { disruptedPods, waitMs };
}

/** Nothing may be disrupted while the pods can't be counted. */
function failedStatus(
  budget: PodDisruptionBudget,
  error: unknown,
  nowMs: number,
): PodDisruptionBudgetStatus {
  return {
    ...budget.status!,
    disruptionsAllowed: 0,
    observedGeneration: budget.metadata.generation ?? 0,
    conditions: withAllowed(budget, nowMs, {
      status: "False",
      reason: "SyncFailed",
      message: errorText(error),
    }),
  };
}

type BudgetCondition = NonNullable<
  PodDisruptionBudgetStatus["conditions"]
>[number];

function withAllowed(
  { status }: PodDisruptionBudget,
  nowMs: number,
  condition: Omit<BudgetCondition, "type" | "lastTransitionTime">,
): BudgetCondition[] {
  const time = formatTime(nowMs);
  return [
    ...setCondition(
      status?.conditions,
      { type: "DisruptionAllowed", lastTransitionTime: time, ...condition },
      time,
    ),
  ];
}
