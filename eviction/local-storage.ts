// Limits of a pod's disk use, which the kernel does not keep: emptyDir sizeLimit, and ephemeral-storage limits of
// containers and of the pod. Texts are the reference's.
import { podQuantities } from "../api/objects/pod-resources.ts";
import {
  canonicalQuantity,
  parseQuantity,
  quantityValue,
} from "../api/quantity.ts";
import type { Pod, Volume } from "../api/types/core-v1.ts";
import { containerStorage, podStorage, type PodUsage } from "./pod-usage.ts";

function bytes(quantity: string | number | undefined): number {
  return quantity === undefined
    ? 0
    : quantityValue(parseQuantity(String(quantity)));
}

/** An emptyDir in memory is bounded by its file system. */
function limitedEmptyDirs(pod: Pod): Volume[] {
  return (pod.spec.volumes ?? []).filter(
    ({ emptyDir }) =>
      emptyDir && emptyDir.medium !== "Memory" && bytes(emptyDir.sizeLimit) > 0,
  );
}

const storageLimit = (container: {
  resources?: { limits?: Record<string, string> };
}): number => bytes(container.resources?.limits?.["ephemeral-storage"]);

/** Whether there is anything to watch: most pods cost nothing. */
export function hasStorageLimits(pod: Pod): boolean {
  return (
    limitedEmptyDirs(pod).length > 0 ||
    [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].some(
      // All of them together may be limited to nothing.
      ({ resources }) => resources?.limits?.["ephemeral-storage"] !== undefined,
    )
  );
}

export interface StorageExcess {
  readonly message: string;
  /** The limit's name in metrics. */
  readonly limit: string;
}

/**
 * Why the pod has to end; undefined while it keeps within its limits. With images on a file system of their own the
 * writable layers count for no container's limit, as at the reference.
 */
export function storageExcess(
  pod: Pod,
  usage: PodUsage,
  imagesApart: boolean,
): StorageExcess | undefined {
  for (const { name, emptyDir } of limitedEmptyDirs(pod))
    if ((usage.emptyDirs.get(name)?.bytes ?? 0) > bytes(emptyDir!.sizeLimit))
      return {
        message: `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit "${canonicalQuantity(emptyDir!.sizeLimit!)}". `,
        limit: "emptydirfs.limit",
      };
  const total = podQuantities(pod.spec, "limits")["ephemeral-storage"];
  if (total !== undefined && podStorage(usage) > bytes(total))
    return {
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalQuantity(total)}. `,
      limit: "ephemeralpodfs.limit",
    };
  for (const container of pod.spec.containers) {
    const limit = storageLimit(container);
    const found = usage.containers.find(({ name }) => name === container.name);
    const share = imagesApart ? "logs and volumes" : "all";
    const used = found ? containerStorage(found, "bytes", share) : 0;
    if (limit > 0 && used > limit)
      return {
        message: `Container ${container.name} exceeded its local ephemeral storage limit "${canonicalQuantity(container.resources!.limits!["ephemeral-storage"]!)}". `,
        limit: "ephemeralcontainerfs.limit",
      };
  }
  return undefined;
}
