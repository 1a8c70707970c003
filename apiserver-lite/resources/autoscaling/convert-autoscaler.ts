// HorizontalPodAutoscaler: v1 knows one CPU target; everything else of v2 travels in annotations.
import type { AnyObject } from "../../../api/object.ts";
import {
  behaviorFromV1,
  behaviorToV1,
  metricsFromV1,
  metricsToV1,
} from "./autoscaler-metrics.ts";

interface Metric {
  type: string;
  resource?: { name: string; target?: Target; current?: Target };
  [kind: string]: unknown;
}
interface Target {
  type?: string;
  averageUtilization?: number;
  averageValue?: string;
}
type Plain = Record<string, unknown>;

const metricsKey = "autoscaling.alpha.kubernetes.io/metrics";
const currentKey = "autoscaling.alpha.kubernetes.io/current-metrics";
const conditionsKey = "autoscaling.alpha.kubernetes.io/conditions";
const behaviorKey = "autoscaling.alpha.kubernetes.io/behavior";

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCpu(metric: Metric): boolean {
  return metric.type === "Resource" && metric.resource?.name === "cpu";
}

export function hpaFromV1(object: AnyObject): AnyObject {
  const { targetCPUUtilizationPercentage, ...spec } = (object["spec"] ??
    {}) as Plain;
  const { currentCPUUtilizationPercentage, ...status } = (object["status"] ??
    {}) as Plain;
  const annotations = { ...object.metadata.annotations };
  const listed = (key: string): object[] => {
    const value = parse(annotations[key]);
    return Array.isArray(value) ? (value as object[]) : [];
  };
  const metrics = metricsFromV1(listed(metricsKey), "target") as Metric[];
  const current = metricsFromV1(listed(currentKey), "current") as Metric[];
  const conditions = parse(annotations[conditionsKey]);
  const behavior = behaviorFromV1(parse(annotations[behaviorKey]));
  for (const key of [metricsKey, currentKey, conditionsKey, behaviorKey])
    delete annotations[key];
  if (typeof targetCPUUtilizationPercentage === "number") {
    const averageUtilization = targetCPUUtilizationPercentage;
    metrics.push({
      type: "Resource",
      resource: {
        name: "cpu",
        target: { type: "Utilization", averageUtilization },
      },
    });
  }
  if (
    typeof currentCPUUtilizationPercentage === "number" &&
    !current.some(isCpu)
  ) {
    current.push({
      type: "Resource",
      resource: {
        name: "cpu",
        current: { averageUtilization: currentCPUUtilizationPercentage },
      },
    });
  }
  return {
    ...object,
    metadata: withAnnotations(object, annotations),
    spec: {
      ...spec,
      ...(metrics.length > 0 ? { metrics } : {}),
      ...(behavior ? { behavior } : {}),
    },
    status: {
      ...status,
      ...(current.length > 0 ? { currentMetrics: current } : {}),
      ...(conditions ? { conditions } : {}),
    },
  };
}

export function hpaToV1(object: AnyObject): AnyObject {
  const {
    metrics = [],
    behavior,
    ...spec
  } = (object["spec"] ?? {}) as Plain & {
    metrics?: Metric[];
  };
  const {
    currentMetrics = [],
    conditions,
    ...status
  } = (object["status"] ?? {}) as Plain & { currentMetrics?: Metric[] };
  const annotations = { ...object.metadata.annotations };
  const cpu = metrics.find(
    (metric) =>
      isCpu(metric) &&
      metric.resource?.target?.averageUtilization !== undefined,
  );
  const currentCpu = currentMetrics?.find(
    (metric) => isCpu(metric) && metric.resource?.current?.averageUtilization,
  );
  const others = metrics.filter((metric) => metric !== cpu);
  if (others.length > 0)
    annotations[metricsKey] = JSON.stringify(metricsToV1(others, "target"));
  if (currentMetrics.length > 0)
    annotations[currentKey] = JSON.stringify(
      metricsToV1(currentMetrics, "current"),
    );
  if (Array.isArray(conditions) && conditions.length > 0)
    annotations[conditionsKey] = JSON.stringify(conditions);
  if (behavior)
    annotations[behaviorKey] = JSON.stringify(behaviorToV1(behavior as Plain));
  const target = cpu?.resource?.target?.averageUtilization;
  const current = currentCpu?.resource?.current?.averageUtilization;
  return {
    ...object,
    metadata: withAnnotations(object, annotations),
    spec: {
      ...spec,
      ...(target === undefined
        ? {}
        : { targetCPUUtilizationPercentage: target }),
    },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...(current === undefined
        ? {}
        : { currentCPUUtilizationPercentage: current }),
    },
  };
}

function withAnnotations(
  object: AnyObject,
  annotations: Record<string, string>,
): AnyObject["metadata"] {
  const { annotations: _, ...metadata } = object.metadata;
  return Object.keys(annotations).length > 0
    ? { ...metadata, annotations }
    : metadata;
}
