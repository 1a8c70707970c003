// Claims of a manifests directory: each has a directory of this node below ROOT/local-path for its own, named by the claim, so
// that it is found again after a restart. What the built-in class does not do is refused by name.
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  ephemeralAnnotation,
  localPathProvisioner,
  provisionedName,
} from "../../../api/objects/volumes/local-path.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../../api/types/core-v1.ts";
import { unsupported, type FieldProblem } from "../field-problem.ts";

const className = "local-path";
/** On claims: what becomes of the directory when the claim's document goes; default Retain. */
export const reclaimPolicy = {
  annotation: "orbit.io/reclaim-policy",
  delete: "Delete",
} as const;
const policies = ["Delete", "Retain"];
/** Of the reference's four, those that a directory of one node serves. */
const accessModes = ["ReadWriteOnce", "ReadWriteOncePod"];

/** Of a claim that the API server would take. */
export function claimRefusals({
  metadata,
  spec = {},
}: PersistentVolumeClaim): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, detail: string): void => {
    problems.push({ field: `spec.${field}`, detail });
  };
  const { storageClassName = className, volumeMode = "Filesystem" } = spec;
  if (storageClassName !== className)
    refuse(
      "storageClassName",
      `Unsupported value: "${storageClassName}": without an API server claims have the class "${className}"`,
    );
  if (volumeMode !== "Filesystem")
    problems.push(unsupported("spec.volumeMode", volumeMode, ["Filesystem"]));
  for (const mode of spec.accessModes ?? [])
    if (!accessModes.includes(mode))
      problems.push(unsupported("spec.accessModes", mode, accessModes));
  const policy = metadata.annotations?.[reclaimPolicy.annotation] ?? "Retain";
  if (!policies.includes(policy))
    problems.push(
      unsupported(
        `metadata.annotations[${reclaimPolicy.annotation}]`,
        policy,
        policies,
      ),
    );
  for (const field of [
    "volumeName",
    "selector",
    "dataSource",
    "dataSourceRef",
    "volumeAttributesClassName",
  ] as const)
    if (spec[field])
      refuse(field, `Forbidden: not supported by the class "${className}"`);
  return problems;
}

/**
 * The claim as it is bound, and its volume.
 * @param root below which the volumes lie
 * @param ownerUid the pod of an ephemeral volume; another owner's of the same name has another volume
 */
export function boundClaim(
  { metadata, spec = {} }: PersistentVolumeClaim,
  root: string,
  ownerUid = "",
): { claim: PersistentVolumeClaim; volume: PersistentVolume } {
  const { name, namespace = "default" } = metadata;
  const uid = claimUid(namespace, name, ownerUid);
  const volumeName = provisionedName(uid);
  const requested = spec.resources?.requests?.["storage"] ?? "0";
  const capacity = { storage: requested };
  const modes = spec.accessModes ?? [];
  return {
    claim: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { ...metadata, namespace, uid },
      spec: { ...spec, storageClassName: className, volumeName },
      status: { phase: "Bound", accessModes: modes, capacity },
    },
    volume: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: {
        name: volumeName,
        annotations: {
          "pv.kubernetes.io/provisioned-by": localPathProvisioner,
          ...(ownerUid ? { [ephemeralAnnotation]: ownerUid } : {}),
        },
      },
      spec: {
        accessModes: modes,
        capacity,
        claimRef: { kind: "PersistentVolumeClaim", namespace, name, uid },
        local: { path: join(root, volumeName) },
        persistentVolumeReclaimPolicy:
          metadata.annotations?.[reclaimPolicy.annotation] ?? "Retain",
        storageClassName: className,
        volumeMode: "Filesystem",
      },
      status: { phase: "Bound" },
    },
  };
}

/** A claim of one name keeps its volume: files have no identity beside the names in them. */
function claimUid(namespace: string, name: string, ownerUid: string): string {
  return createHash("sha256")
    .update([namespace, name, ownerUid].filter(Boolean).join("/"))
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}
