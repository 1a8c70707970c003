// What would have to be done for a pod's claims on one node (pure): which volumes that exist would be bound, which would
// be provisioned. Claims that are bound already only ask whether their volume can be reached from the node.
import {
  compareQuantities,
  parseQuantity,
  quantityValue,
} from "../../api/quantity.ts";
import {
  localPathDirectory,
  localPathProvisioner,
} from "../../api/objects/volumes/local-path.ts";
import {
  bestVolume,
  isReachable,
} from "../../api/objects/volumes/volume-match.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../api/types/core-v1.ts";
import type {
  CSIDriver,
  CSIStorageCapacity,
  StorageClass,
} from "../../api/types/storage-v1.ts";
import { ownValue } from "../../api/objects/own-value.ts";

export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node";
const noProvisioner = "kubernetes.io/no-provisioner";

export const unavailable = {
  affinity: "node(s) had volume node affinity conflict",
  none: "node(s) didn't find available persistent volumes to bind",
  space: "node(s) did not have enough free storage",
} as const;

/** Claims that wait for a node, the smallest first, so that each gets the volume that fits it best. */
export interface UnboundClaim {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
}

export interface ClaimPlan {
  readonly bind: readonly {
    readonly claim: PersistentVolumeClaim;
    readonly volume: PersistentVolume;
  }[];
  readonly provision: readonly PersistentVolumeClaim[];
}

interface StorageFacts {
  /** Less those that earlier decisions have taken. */
  readonly volumes: readonly PersistentVolume[];
  driver(name: string): CSIDriver | undefined;
  capacities(): readonly CSIStorageCapacity[];
}

/** The plan, or why the node won't do. */
export function planClaims(
  unbound: readonly UnboundClaim[],
  node: Node,
  facts: StorageFacts,
): ClaimPlan | (typeof unavailable)[keyof typeof unavailable] {
  const bind: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
  const provision: PersistentVolumeClaim[] = [];
  const taken = new Set<PersistentVolume>();
  for (const { claim, storageClass } of unbound) {
    const chosen = claim.metadata.annotations?.[selectedNodeAnnotation];
    if (chosen !== undefined) {
      // Its provisioner works for that node until it gives up and takes the annotation away.
      if (chosen !== node.metadata.name) return unavailable.none;
      provision.push(claim);
      continue;
    }
    const volume = bestVolume(
      claim,
      facts.volumes.filter((candidate) => !taken.has(candidate)),
      node,
    );
    if (volume) {
      if (!isReachable(volume, node)) return unavailable.affinity;
      taken.add(volume);
      bind.push({ claim, volume });
      continue;
    }
    const problem = provisioningProblem(claim, storageClass, node, facts);
    if (problem) return problem;
    provision.push(claim);
  }
  return { bind, provision };
}

function provisioningProblem(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node,
  facts: StorageFacts,
): (typeof unavailable)[keyof typeof unavailable] | undefined {
  const { provisioner, allowedTopologies, metadata } = storageClass;
  if (!provisioner || provisioner === noProvisioner) return unavailable.none;
  if (provisioner === localPathProvisioner && !localPathDirectory(node))
    return unavailable.none;
  const allowed =
    !allowedTopologies?.length ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) =>
        values.includes(ownValue(node.metadata.labels, key) ?? ""),
      ),
    );
  if (!allowed) return unavailable.none;
  if (!facts.driver(provisioner)?.spec.storageCapacity) return undefined;
  const size = claim.spec?.resources?.requests?.["storage"] ?? "0";
  const enough = facts
    .capacities()
    .some(
      (capacity) =>
        capacity.storageClassName === metadata.name &&
        fits(capacity, size) &&
        capacity.nodeTopology !== undefined &&
        selectorFromObject(capacity.nodeTopology).matches(node.metadata.labels),
    );
  return enough ? undefined : unavailable.space;
}

function fits(
  { capacity, maximumVolumeSize }: CSIStorageCapacity,
  size: string,
): boolean {
  const limit = maximumVolumeSize ?? capacity;
  return limit !== undefined && compareQuantities(limit, size) >= 0;
}

/** Bytes asked for: claims are planned in this order. */
export function sizeAsked({ spec }: PersistentVolumeClaim): number {
  return quantityValue(
    parseQuantity(spec?.resources?.requests?.["storage"] ?? "0"),
  );
}
