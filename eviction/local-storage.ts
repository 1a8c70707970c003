// Limits of a pod's disk use, which the kernel does not keep: emptyDir sizeLimit, and ephemeral-storage limits of
// containers and of the pod. Texts are the reference's.
import { podLimits } from "../api/objects/pod-resources.ts";
import { parseQuantity, quantityValue } from "../api/quantity.ts";
import type { Pod, Volume } from "../api/types/core-v1.ts";
import { formatBinary } from "./format.ts";
import { podStorage, type PodUsage } from "./pod-usage.ts";

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
      (container) => storageLimit(container) > 0,
    )
  );
}

/** Why the pod has to end; undefined while it keeps within its limits. */
export function storageExcess(pod: Pod, usage: PodUsage): string | undefined {
  for (const { name, emptyDir } of limitedEmptyDirs(pod))
    if ((usage.emptyDirBytes.get(name) ?? 0) > bytes(emptyDir!.sizeLimit))
      return `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(String(emptyDir!.sizeLimit))}. `;
  const total = podLimits(pod.spec).get("ephemeral-storage");
  if (total !== undefined && podStorage(usage) > total)
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${formatBinary(total)}. `;
  for (const container of pod.spec.containers) {
    const limit = storageLimit(container);
    const used =
      usage.containers.find(({ name }) => name === container.name)
        ?.storageBytes ?? 0;
    if (limit > 0 && used > limit)
      return `Container ${container.name} exceeded its local ephemeral storage limit ${JSON.stringify(String(container.resources!.limits!["ephemeral-storage"]))}. `;
  }
  return undefined;
}
