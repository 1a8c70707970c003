// An APIService as the aggregator reads it: which group version it names, with which priority, and which server answers.
// Worked example: `v1alpha1.wardle.example.com` with `spec.service` is asked at /apis/wardle.example.com/v1alpha1; `v1.`
// with one would be asked at /api.
import type { APIService } from "../../api/types/apiregistration-v1.ts";

export const registrationGroup = "apiregistration.k8s.io";
export const apiServicesResource = {
  group: registrationGroup,
  version: "v1",
  resource: "apiservices",
} as const;

/** Says that the aggregator keeps an APIService: "onstart" or "true" (at all times). */
export const managedLabel = "kube-aggregator.kubernetes.io/automanaged";

/** The service a remote one is reached at. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface Registration {
  /** version.group */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined: this server answers. */
  readonly service: ServicePort | undefined;
  readonly available: boolean;
}

export function registrationOf({
  metadata,
  spec,
  status,
}: APIService): Registration {
  const { service } = spec;
  return {
    name: metadata.name ?? "",
    group: spec.group ?? "",
    version: spec.version ?? "",
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    service: service && {
      namespace: service.namespace ?? "",
      name: service.name ?? "",
      port: service.port ?? 443,
    },
    available:
      status?.conditions?.some(
        ({ type, status }) => type === "Available" && status === "True",
      ) ?? false,
  };
}

/** Where its lists of resources are, and everything below. */
export function pathOf({
  group,
  version,
}: Pick<Registration, "group" | "version">): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}
