// HorizontalPodAutoscalers (stored as v2): bounds, a target, and what is measured.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { pathSegmentProblems } from "../../../api/names.ts";
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
} from "../../../api/types/autoscaling-v2.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { oneOf } from "../field-checks.ts";

const asScaler = (object: Readonly<AnyObject>): HorizontalPodAutoscaler =>
  object as unknown as HorizontalPodAutoscaler;

interface Measure {
  averageUtilization?: number;
  averageValue?: string;
  value?: string;
}

/** The part of a metric (spec or status) that its type names. */
function partOf(metric: MetricSpec | MetricStatus): {
  target?: Measure;
  current?: Measure;
  name?: string;
} {
  const parts: Readonly<Record<string, unknown>> = {
    Resource: metric.resource,
    ContainerResource: metric.containerResource,
    Pods: metric.pods,
    Object: metric.object,
    External: metric.external,
  };
  return (parts[metric.type] ?? {}) as {
    target?: Measure;
    current?: Measure;
    name?: string;
  };
}

/** "cpu: 10%/80%", "<unknown>/5" …: at most two, then " + 1 more...". */
function metricsText(
  specs: readonly MetricSpec[],
  statuses: readonly (MetricStatus | null)[],
): string {
  if (specs.length === 0) return "<none>";
  const texts = specs.map((spec, index) => {
    const status = statuses[index];
    const { target = {}, name } = partOf(spec);
    const { current } = status ? partOf(status) : { current: undefined };
    const isResource =
      spec.type === "Resource" || spec.type === "ContainerResource";
    const prefix = isResource ? `${name ?? ""}: ` : "";
    if (isResource && target.averageUtilization !== undefined) {
      const now =
        current?.averageUtilization === undefined
          ? "<unknown>"
          : `${current.averageUtilization}%`;
      return `${prefix}${now}/${target.averageUtilization}%`;
    }
    const average = target.averageValue !== undefined;
    const now =
      (average ? current?.averageValue : current?.value) ?? "<unknown>";
    return `${prefix}${now}/${target.averageValue ?? target.value ?? "<auto>"}${average && !isResource && spec.type !== "Pods" ? " (avg)" : ""}`;
  });
  const shown = texts.slice(0, 2).join(", ");
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

export const horizontalPodAutoscalerStrategy: ResourceStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    delete asScaler(object).status;
  },
  prepareForUpdate(object, old) {
    const { status } = asScaler(old);
    if (status) asScaler(object).status = status;
    else delete asScaler(object).status;
  },
  validate(object) {
    const { spec } = asScaler(object);
    if (!spec) return [fieldErrors.required("spec")];
    const problems: FieldError[] = [];
    const { minReplicas, maxReplicas, scaleTargetRef, metrics = [] } = spec;
    if (minReplicas !== undefined && minReplicas < 1) {
      problems.push(
        fieldErrors.invalid(
          "spec.minReplicas",
          minReplicas,
          "must be greater than or equal to 1",
        ),
      );
    }
    if (maxReplicas < 1)
      problems.push(
        fieldErrors.invalid(
          "spec.maxReplicas",
          maxReplicas,
          "must be greater than 0",
        ),
      );
    if (minReplicas !== undefined && maxReplicas < minReplicas) {
      problems.push(
        fieldErrors.invalid(
          "spec.maxReplicas",
          maxReplicas,
          "must be greater than or equal to `minReplicas`",
        ),
      );
    }
    for (const name of ["kind", "name"] as const) {
      const value = scaleTargetRef?.[name];
      if (!value)
        problems.push(fieldErrors.required(`spec.scaleTargetRef.${name}`));
      else
        problems.push(
          ...invalidEach(
            `spec.scaleTargetRef.${name}`,
            value,
            pathSegmentProblems(value),
          ),
        );
    }
    for (const [index, metric] of metrics.entries()) {
      const path = `spec.metrics[${index}]`;
      problems.push(
        ...oneOf(
          `${path}.type`,
          metric.type,
          ["ContainerResource", "External", "Object", "Pods", "Resource"],
          true,
        ),
      );
      const part = partOf(metric);
      if (Object.keys(part).length === 0) {
        problems.push(
          fieldErrors.required(
            path,
            "must populate information for the given metric source",
          ),
        );
      } else if (!part.target)
        problems.push(fieldErrors.required(`${path}.target`));
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asScaler(object).spec = asScaler(old).spec;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asScaler(object);
    return [
      metadata.name,
      `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
      metricsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
      spec?.minReplicas === undefined ? "<unset>" : String(spec.minReplicas),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};
