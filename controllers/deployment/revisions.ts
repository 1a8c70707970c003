// Which ReplicaSet carries which revision of a Deployment: template equality, revision annotations and their history.
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  maxSurge,
  replicasOf,
} from "./sizes.ts";

export const hashLabel = "pod-template-hash";
export const revisionAnnotation = "deployment.kubernetes.io/revision";
const revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history";
const maxHistoryLength = 2000;

/** A Deployment's own annotations that are not carried over to its ReplicaSets. */
const notCopied = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  "deprecated.deployment.rollback.to",
]);

export function sameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return sameJson(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplateSpec): unknown {
  const { creationTimestamp: _, ...metadata } = (template.metadata ??
    {}) as Record<string, unknown> & { labels?: Record<string, string> };
  const { [hashLabel]: __, ...labels } = metadata.labels ?? {};
  return { ...template, metadata: { ...metadata, labels } };
}

export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  return (
    Date.parse(a.metadata.creationTimestamp ?? "") -
      Date.parse(b.metadata.creationTimestamp ?? "") ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

/** The oldest ReplicaSet with the Deployment's present template. */
export function findNewSet(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
): ReplicaSet | undefined {
  return [...sets]
    .sort(byCreation)
    .find(
      (set) =>
        set.spec.template &&
        sameTemplate(set.spec.template, deployment.spec.template),
    );
}

/** Revisions have 64 bits: adopted ReplicaSets bring any number along. 0: none, or none that can be counted on. */
export function revisionOf(object: {
  metadata: { annotations?: Record<string, string> };
}): bigint {
  const text = object.metadata.annotations?.[revisionAnnotation] ?? "";
  if (!/^[+-]?\d{1,19}$/.test(text)) return 0n;
  const revision = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, revision) === revision ? revision : 0n;
}

/** The annotations the new ReplicaSet should have; the same object when nothing changes. */
export function newSetAnnotations(
  deployment: Deployment,
  current: Record<string, string> | undefined,
  revision: bigint,
  exists: boolean,
): Record<string, string> {
  const next: Record<string, string> = { ...current };
  for (const [key, value] of Object.entries(
    deployment.metadata.annotations ?? {},
  ))
    if (!notCopied.has(key)) next[key] = value;
  const old = current?.[revisionAnnotation];
  if (revisionOf({ metadata: { annotations: current ?? {} } }) < revision) {
    next[revisionAnnotation] = String(revision);
    if (exists && old)
      next[revisionHistoryAnnotation] = appended(
        current?.[revisionHistoryAnnotation],
        old,
      );
  }
  // An existing one is annotated with sizes when it is scaled.
  if (!exists) Object.assign(next, sizeAnnotations(deployment));
  return current && sameJson(current, next) ? current : next;
}

/** Revisions a rollback brought back, oldest first; the oldest leave when the text grows too long. */
function appended(history: string | undefined, revision: string): string {
  const revisions = history ? history.split(",") : [];
  if (revisions.at(-1) === revision) return history!;
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(",").length > maxHistoryLength)
    revisions.shift();
  return revisions.join(",");
}

/** What a ReplicaSet is annotated with when it is sized. */
export function sizeAnnotations(
  deployment: Deployment,
): Record<string, string> {
  const replicas = replicasOf(deployment);
  return {
    [desiredReplicasAnnotation]: String(replicas),
    [maxReplicasAnnotation]: String(replicas + maxSurge(deployment)),
  };
}
