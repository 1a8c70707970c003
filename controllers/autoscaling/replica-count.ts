// How many replicas one metric asks for: the ratio of what pods use to what they should, over those pods whose figures
// count. Pods that end count for nothing; of pods that begin or that have no figures the careful assumption is made, so
// that a gap in the figures never scales further than the truth could. Amounts are thousandths of the metric's unit.
// Worked example: 4 ready pods at 150 of 100 ask for ceil(4 × 1.5) = 6; with two more that begin, which then count with
// 0, the ratio is 1.0 and nothing changes.
import { quantityMilliValue } from "../../api/quantity.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";

/** What a pod uses. */
export interface PodMetric {
  readonly value: number;
  /** When it was measured. */
  readonly atMs: number;
  /** Over which time. */
  readonly windowMs: number;
}

export type PodMetrics = ReadonlyMap<string, PodMetric>;

export interface CountingOptions {
  /** Least distance of the ratio from 1 that scales. */
  readonly tolerance: number;
  /** Time after a pod's start in which its CPU figures may be left out. */
  readonly cpuInitializationPeriodMs: number;
  /** Time in which changes of readiness count as the start's. */
  readonly initialReadinessDelayMs: number;
  readonly nowMs: number;
}

interface Count {
  readonly replicas: number;
  /** Average of the pods that count, in thousandths. */
  readonly average: number;
  /** Percent of the requests; undefined for plain amounts. */
  readonly utilization?: number;
}

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

/** What is compared with the target. */
interface Measure {
  /** Ratio to the target, and what is reported. Throws Error. */
  ratio(metrics: PodMetrics): { ratio: number } & Omit<Count, "replicas">;
  /** What a pod without figures is taken to use where the others use less than the target. */
  assumed(pod: string): number;
}

interface Counted {
  readonly pods: readonly Pod[];
  readonly metrics: PodMetrics;
  /** Name of the resource; "": a metric of another kind. */
  readonly resource: string;
  readonly currentReplicas: number;
}

/** Throws Error. @param targetPercent of the requests @param container "": all of the pod */
export function countByUtilization(
  counted: Counted,
  targetPercent: number,
  container: string,
  options: CountingOptions,
): Count {
  // Only known when the groups are: a pod without requests is no problem where no figures are.
  let requests: ReadonlyMap<string, number> | undefined;
  const requestOf = (): ReadonlyMap<string, number> =>
    (requests ??= podRequests(counted.pods, container, counted.resource));
  return count(
    counted,
    {
      ratio(metrics) {
        let used = 0;
        let requested = 0;
        let entries = 0;
        for (const [name, { value }] of metrics) {
          const request = requestOf().get(name);
          if (request === undefined) continue;
          used += value;
          requested += request;
          entries++;
        }
        if (requested === 0)
          throw new Error("no metrics returned matched known pods");
        const utilization = Math.trunc((used * 100) / requested);
        return {
          ratio: utilization / targetPercent,
          utilization,
          average: Math.trunc(used / entries),
        };
      },
      assumed: (pod) =>
        Math.trunc(
          ((requestOf().get(pod) ?? 0) * Math.max(100, targetPercent)) / 100,
        ),
    },
    options,
  );
}

/** Throws Error. @param target of each pod */
export function countByAverage(
  counted: Counted,
  target: number,
  options: CountingOptions,
): Count {
  return count(
    counted,
    {
      ratio(metrics) {
        let used = 0;
        for (const { value } of metrics.values()) used += value;
        const average = Math.trunc(used / metrics.size);
        return { ratio: average / target, average };
      },
      assumed: () => target,
    },
    options,
  );
}

function count(
  { pods, metrics, resource, currentReplicas }: Counted,
  measure: Measure,
  options: CountingOptions,
): Count {
  if (pods.length === 0)
    throw new Error(
      "no pods returned by selector while calculating replica count",
    );
  const groups = groupPods(pods, metrics, resource, options);
  const counting = new Map(metrics);
  for (const name of [...groups.ignored, ...groups.unready])
    counting.delete(name);
  if (counting.size === 0)
    throw new Error(
      "did not receive metrics for targeted pods (pods might be unready)",
    );
  const { ratio, ...reported } = measure.ratio(counting);
  const isNear = (each: number): boolean =>
    Math.abs(1 - each) <= options.tolerance;
  const unchanged = { replicas: currentReplicas, ...reported };
  const withUnready = groups.unready.length > 0 && ratio > 1;
  if (!withUnready && groups.missing.length === 0)
    return isNear(ratio)
      ? unchanged
      : { replicas: Math.ceil(ratio * groups.ready), ...reported };
  const assume = (names: readonly string[], of: (name: string) => number) => {
    for (const name of names)
      counting.set(name, { value: of(name), atMs: 0, windowMs: 0 });
  };
  if (ratio < 1) assume(groups.missing, (name) => measure.assumed(name));
  else if (ratio > 1) assume(groups.missing, () => 0);
  if (withUnready) assume(groups.unready, () => 0);
  const { ratio: careful } = measure.ratio(counting);
  const turns = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1);
  if (isNear(careful) || turns) return unchanged;
  const replicas = Math.ceil(careful * counting.size);
  return (careful < 1 && replicas > currentReplicas) ||
    (careful > 1 && replicas < currentReplicas)
    ? unchanged
    : { replicas, ...reported };
}

function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  resource: string,
  options: CountingOptions,
): Groups {
  let ready = 0;
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const phase = pod.status?.phase;
    const metric = metrics.get(name);
    if (deletionTimestamp || phase === "Failed") ignored.push(name);
    else if (phase === "Pending") unready.push(name);
    else if (!metric) missing.push(name);
    else if (resource === "cpu" && isStarting(pod, metric, options))
      unready.push(name);
    else ready++;
  }
  return { ready, unready, missing, ignored };
}

/** The CPU that a pod takes to start says nothing about its load. */
function isStarting(
  pod: Pod,
  metric: PodMetric,
  options: CountingOptions,
): boolean {
  const condition = pod.status?.conditions?.find(
    ({ type }) => type === "Ready",
  );
  const startTime = pod.status?.startTime;
  if (!condition || !startTime) return true;
  const startedMs = Date.parse(startTime);
  const changedMs = Date.parse(condition.lastTransitionTime ?? "") || 0;
  const isUnready = condition.status === "False";
  if (startedMs + options.cpuInitializationPeriodMs > options.nowMs)
    return isUnready || metric.atMs < changedMs + metric.windowMs;
  return isUnready && startedMs + options.initialReadinessDelayMs > changedMs;
}

/** By the pod's name. Throws Error where a container has none. */
function podRequests(
  pods: readonly Pod[],
  container: string,
  resource: string,
): ReadonlyMap<string, number> {
  return new Map(
    pods.map((pod) => [
      pod.metadata.name,
      runningContainers(pod)
        .filter(({ name }) => container === "" || name === container)
        .reduce((sum, { name, resources }) => {
          const request = resources?.requests?.[resource];
          if (request === undefined)
            throw new Error(
              `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`,
            );
          return sum + quantityMilliValue(request);
        }, 0),
    ]),
  );
}

const runningContainers = ({ spec }: Pod): readonly Container[] => [
  ...spec.containers,
  ...(spec.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === "Always",
  ),
];

/**
 * Of a value that belongs to no pod of the target: an object's or an external one.
 * @param readyPods undefined where no pod matches the selector
 */
export function countByValue(
  value: number,
  target: number,
  currentReplicas: number,
  readyPods: number | undefined,
  tolerance: number,
): number {
  const ratio = value / target;
  if (currentReplicas === 0) return Math.ceil(ratio);
  if (Math.abs(1 - ratio) <= tolerance) return currentReplicas;
  if (readyPods === undefined)
    throw new Error(
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    );
  return Math.ceil(ratio * readyPods);
}

/** As countByValue with a target for each replica. */
export function countByShare(
  value: number,
  target: number,
  statusReplicas: number,
  tolerance: number,
): { replicas: number; average: number } {
  const ratio = value / (target * statusReplicas);
  return {
    replicas:
      Math.abs(1 - ratio) > tolerance
        ? Math.ceil(value / target)
        : statusReplicas,
    // Without replicas there is no average.
    average: statusReplicas > 0 ? Math.ceil(value / statusReplicas) : value,
  };
}
