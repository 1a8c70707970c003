// HorizontalPodAutoscalers (stored as v2): bounds, a target, and what is measured.
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
} from "../../../api/types/autoscaling-v2.ts";
import { formatAge } from "../../printing/age.ts";
import { hpaFromV1, hpaToV1 } from "./convert-autoscaler.ts";
import { strategyOf } from "../typed.ts";
import { nonNegative } from "../field-checks.ts";
import { validateScalerSpec } from "./scaler-validation.ts";

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

const emptyStatus = (): NonNullable<HorizontalPodAutoscaler["status"]> => ({
  desiredReplicas: 0,
});

export const horizontalPodAutoscalerStrategy =
  strategyOf<HorizontalPodAutoscaler>({
    conversions: {
      "autoscaling/v1 autoscaling/v2": hpaFromV1,
      "autoscaling/v2 autoscaling/v1": hpaToV1,
    },
    countsGeneration: false,
    prepareForCreate(object) {
      object.status = emptyStatus();
    },
    prepareForUpdate(object, old) {
      object.status = old.status ?? emptyStatus();
    },
    validate(object) {
      const { spec } = object;
      return spec ? validateScalerSpec(spec) : [fieldErrors.required("spec")];
    },
    status: {
      prepareForUpdate(object) {
        object.status ??= emptyStatus();
      },
      validateUpdate(object) {
        const { status } = object;
        return (["currentReplicas", "desiredReplicas"] as const).flatMap(
          (name) => nonNegative(`status.${name}`, status?.[name]),
        );
      },
    },
    printRow: (object, now) => {
      const { metadata, spec, status } = object;
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
  });
