// What each metric of an autoscaler asks for: a number of replicas with the metric's status, or why there is none. The
// texts are the reference's, which users find in conditions and events.
import { canonicalQuantity, quantityMilliValue } from "../../api/quantity.ts";
import { isPodReady } from "../../api/objects/pod-state.ts";
import type {
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../../api/types/autoscaling-v2.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { MetricValues } from "./metric-values.ts";
import {
  countByAverage,
  countByShare,
  countByUtilization,
  countByValue,
  type CountingOptions,
} from "./replica-count.ts";

interface ProposalContext {
  readonly values: MetricValues;
  readonly namespace: string;
  /** Of the target's scale. */
  readonly selector: string;
  /** Those that the selector matches. */
  readonly pods: readonly Pod[];
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly counting: CountingOptions;
}

interface Proposal {
  readonly replicas: number;
  /** For messages. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** Why a metric asks for nothing. */
export class MetricFailure extends Error {
  constructor(
    /** Of condition ScalingActive and of an event. */
    readonly reason: string,
    /** What that says. */
    readonly detail: string,
    message: string,
  ) {
    super(message);
  }
}

interface Source {
  readonly reason: string;
  /** What could not be had: `failed to get WHAT: detail`. */
  readonly what: string;
  propose(): Promise<Proposal>;
}

/** Rejects with MetricFailure. */
export async function propose(
  spec: MetricSpec,
  context: ProposalContext,
): Promise<Proposal> {
  const source = sourceOf(spec, context);
  try {
    return await source.propose();
  } catch (error) {
    const detail = (error as Error).message;
    throw new MetricFailure(
      source.reason,
      detail,
      source.what === "" ? detail : `failed to get ${source.what}: ${detail}`,
    );
  }
}

function sourceOf(spec: MetricSpec, context: ProposalContext): Source {
  const { resource, containerResource, pods, object, external } = spec;
  if (spec.type === "Resource" && resource)
    return {
      reason: "FailedGetResourceMetric",
      what: `${resource.name} resource metric value`,
      async propose() {
        const { name, target } = resource;
        const found = await byResource(context, name, target, "");
        const status = {
          type: spec.type,
          resource: { name, current: found.current },
        };
        return { ...found, status };
      },
    };
  if (spec.type === "ContainerResource" && containerResource)
    return {
      reason: "FailedGetContainerResourceMetric",
      what: `${containerResource.container} container metric value`,
      async propose() {
        const { name, target, container } = containerResource;
        const found = await byResource(context, name, target, container);
        const status = {
          type: spec.type,
          containerResource: { name, container, current: found.current },
        };
        return { ...found, status };
      },
    };
  if (spec.type === "Pods" && pods)
    return {
      reason: "FailedGetPodsMetric",
      what: "pods metric value",
      propose: () => byPods(context, pods),
    };
  if (spec.type === "Object" && object)
    return {
      reason: "FailedGetObjectMetric",
      what: "object metric value",
      propose: () => byObject(context, object),
    };
  if (spec.type === "External" && external)
    return {
      reason: "FailedGetExternalMetric",
      what: `${external.metric.name} external metric value`,
      propose: () => byExternal(context, external),
    };
  return {
    reason: "InvalidMetricSourceType",
    what: "",
    propose: () =>
      Promise.reject(
        new Error(`unknown metric source type ${JSON.stringify(spec.type)}`),
      ),
  };
}

const quantity = (thousandths: number): string =>
  canonicalQuantity(`${thousandths}m`);

async function byResource(
  context: ProposalContext,
  resource: string,
  { averageValue, averageUtilization }: MetricTarget,
  container: string,
): Promise<{ replicas: number; name: string; current: MetricValueStatus }> {
  const { values, namespace, selector, pods, counting } = context;
  const failed = (what: string) => (error: unknown) => {
    throw new Error(
      `failed to get ${resource} ${what}: ${(error as Error).message}`,
      { cause: error },
    );
  };
  const counted = async (onError: string) => ({
    pods,
    resource,
    currentReplicas: context.specReplicas,
    metrics: await values
      .resource(namespace, selector, resource, container)
      .catch((error: Error) => {
        throw new Error(`${onError}${error.message}`, { cause: error });
      }),
  });
  const unable = `unable to get metrics for resource ${resource}: `;
  if (averageValue !== undefined) {
    const target = quantityMilliValue(averageValue);
    const { replicas, average } = await counted(unable)
      .then((all) => countByAverage(all, target, counting))
      .catch(failed("usage"));
    return {
      replicas,
      name: `${resource} resource`,
      current: { averageValue: quantity(average) },
    };
  }
  if (averageUtilization === undefined)
    throw new Error(
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    );
  const { replicas, average, utilization } = await counted(unable)
    .then((all) =>
      countByUtilization(all, averageUtilization, container, counting),
    )
    .catch(failed("utilization"));
  return {
    replicas,
    name: `${resource}${container === "" ? "" : " container"} resource utilization (percentage of request)`,
    current: {
      averageUtilization: utilization!,
      averageValue: quantity(average),
    },
  };
}

async function byPods(
  context: ProposalContext,
  { metric, target }: NonNullable<MetricSpec["pods"]>,
): Promise<Proposal> {
  const { values, namespace, selector, pods, counting } = context;
  const metrics = await values
    .ofPods(namespace, selector, metric)
    .catch((error: Error) => {
      throw new Error(`unable to get metric ${metric.name}: ${error.message}`, {
        cause: error,
      });
    });
  const { replicas, average } = countByAverage(
    { pods, metrics, resource: "", currentReplicas: context.specReplicas },
    quantityMilliValue(target.averageValue ?? "0"),
    counting,
  );
  return {
    replicas,
    name: `pods metric ${metric.name}`,
    status: {
      type: "Pods",
      pods: { metric, current: { averageValue: quantity(average) } },
    },
  };
}

async function byObject(
  context: ProposalContext,
  { metric, target, describedObject }: NonNullable<MetricSpec["object"]>,
): Promise<Proposal> {
  const { values, namespace } = context;
  const value = (): Promise<number> =>
    values
      .ofObject(namespace, describedObject, metric)
      .catch((error: Error) => {
        throw new Error(
          `unable to get metric ${metric.name}: ${error.message} on ${describedObject.kind} ${namespace}/${describedObject.name}`,
          { cause: error },
        );
      });
  const current = (status: MetricValueStatus): MetricStatus => ({
    type: "Object",
    object: { describedObject, metric, current: status },
  });
  if (target.type === "Value" && target.value !== undefined) {
    const found = await value();
    return {
      replicas: replicasOfValue(context, found, target.value),
      name: `${describedObject.kind} metric ${metric.name}`,
      status: current({ value: quantity(found) }),
    };
  }
  if (target.type === "AverageValue" && target.averageValue !== undefined) {
    const found = await value().catch((error: Error) => {
      throw new Error(
        `failed to get ${metric.name} object metric: ${error.message}`,
        { cause: error },
      );
    });
    const { replicas, average } = shareOf(context, found, target.averageValue);
    return {
      replicas,
      name: describedMetric(metric),
      status: current({ averageValue: quantity(average) }),
    };
  }
  throw new Error(
    "invalid object metric source: neither a value target nor an average value target was set",
  );
}

async function byExternal(
  context: ProposalContext,
  { metric, target }: NonNullable<MetricSpec["external"]>,
): Promise<Proposal> {
  const value = (prefix: string): Promise<number> =>
    context.values.external(context.namespace, metric).catch((error: Error) => {
      throw new Error(
        `${prefix}: unable to get external metric ${context.namespace}/${metric.name}/${selectorText(metric)}: ${error.message}`,
        { cause: error },
      );
    });
  const current = (status: MetricValueStatus): MetricStatus => ({
    type: "External",
    external: { metric, current: status },
  });
  const name = describedMetric(metric);
  if (target.averageValue !== undefined) {
    const found = await value(`failed to get ${metric.name} external metric`);
    const { replicas, average } = shareOf(context, found, target.averageValue);
    return {
      replicas,
      name,
      status: current({ averageValue: quantity(average) }),
    };
  }
  if (target.value !== undefined) {
    const found = await value(`failed to get external metric ${metric.name}`);
    return {
      replicas: replicasOfValue(context, found, target.value),
      name,
      status: current({ value: quantity(found) }),
    };
  }
  throw new Error(
    "invalid external metric source: neither a value target nor an average value target was set",
  );
}

function replicasOfValue(
  { pods, specReplicas, counting }: ProposalContext,
  value: number,
  target: string,
): number {
  const ready = pods.filter(
    (pod) => pod.status?.phase === "Running" && isPodReady(pod),
  );
  return countByValue(
    value,
    quantityMilliValue(target),
    specReplicas,
    pods.length === 0 ? undefined : ready.length,
    counting.tolerance,
  );
}

const shareOf = (
  { statusReplicas, counting }: ProposalContext,
  value: number,
  target: string,
): { replicas: number; average: number } =>
  countByShare(
    value,
    quantityMilliValue(target),
    statusReplicas,
    counting.tolerance,
  );

const describedMetric = (metric: MetricIdentifier): string =>
  `external metric ${metric.name}(${selectorText(metric)})`;

/** As the reference prints a selector. */
function selectorText({ selector }: MetricIdentifier): string {
  if (!selector) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join("");
  const expressions = (selector.matchExpressions ?? [])
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
    )
    .join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}
