// The identity of a StatefulSet's pods: name and ordinal, labels, hostname, and the claims behind its volumes.
import type {
  ControllerRevision,
  StatefulSet,
} from "../../api/types/apps-v1.ts";
import type {
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
} from "../../api/types/core-v1.ts";
import { controllerReference } from "../../api/objects/owner-references.ts";
import { statefulSets } from "../../client/resources.ts";
import { podFromTemplate } from "../workloads/pod-control.ts";
import { revisionHashLabel } from "../workloads/revision-history.ts";

const podNameLabel = "statefulset.kubernetes.io/pod-name";
const podIndexLabel = "apps.kubernetes.io/pod-index";

export const firstOrdinal = (set: StatefulSet): number =>
  set.spec.ordinals?.start ?? 0;

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const start = firstOrdinal(set);
  return ordinal >= start && ordinal < start + (set.spec.replicas ?? 1);
}

export const podName = (set: StatefulSet, ordinal: number): string =>
  `${set.metadata.name}-${ordinal}`;

/** The number behind the set's name; -1 when the pod is not of that form. */
export function ordinalOf(set: StatefulSet, pod: Pod): number {
  const prefix = `${set.metadata.name}-`;
  const rest = pod.metadata.name.slice(prefix.length);
  return pod.metadata.name.startsWith(prefix) && /^\d+$/.test(rest)
    ? Number(rest)
    : -1;
}

const claimName = (template: PersistentVolumeClaim, pod: string): string =>
  `${template.metadata.name}-${pod}`;

/** Whether a claim of this name is one of the set's. */
export const isClaimNameOf = (set: StatefulSet, name: string): boolean =>
  (set.spec.volumeClaimTemplates ?? []).some((template) => {
    const prefix = claimName(template, `${set.metadata.name}-`);
    return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
  });

export function claimsOf(
  set: StatefulSet,
  ordinal: number,
): PersistentVolumeClaim[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      ...template.metadata,
      name: claimName(template, podName(set, ordinal)),
      namespace: set.metadata.namespace!,
      labels: {
        ...template.metadata.labels,
        ...set.spec.selector.matchLabels,
      },
    },
    spec: template.spec,
  }));
}

/** The template a revision keeps. */
function templateOf(
  revision: ControllerRevision,
  fallback: PodTemplateSpec,
): PodTemplateSpec {
  const data = revision.data as
    { spec?: { template?: PodTemplateSpec & { $patch?: string } } } | undefined;
  const template = data?.spec?.template;
  if (!template) return fallback;
  const { $patch: _, metadata, ...rest } = template;
  const { creationTimestamp: __, ...named } = metadata ?? {};
  return { ...rest, metadata: named as PodTemplateSpec["metadata"] };
}

export function newPod(
  set: StatefulSet,
  ordinal: number,
  revision: ControllerRevision,
): Pod {
  const name = podName(set, ordinal);
  const template = templateOf(revision, set.spec.template);
  const pod = podFromTemplate(
    template,
    set,
    controllerReference(statefulSets, set),
  );
  const claims = set.spec.volumeClaimTemplates ?? [];
  const claimed = new Set(claims.map((claim) => claim.metadata.name));
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: {
        ...pod.metadata.labels,
        [podNameLabel]: name,
        [podIndexLabel]: String(ordinal),
        [revisionHashLabel]: revision.metadata.name,
      },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      subdomain: set.spec.serviceName ?? "",
      volumes: [
        ...claims.map((claim) => ({
          name: claim.metadata.name,
          persistentVolumeClaim: { claimName: claimName(claim, name) },
        })),
        ...(pod.spec.volumes ?? []).filter(({ name }) => !claimed.has(name)),
      ],
    },
  };
}

export const revisionNameOf = (pod: Pod): string =>
  pod.metadata.labels?.[revisionHashLabel] ?? "";
