// Which claims a pod uses, by key: those it names, and those made for its ephemeral volumes.
import type {
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../types/core-v1.ts";

/** The name of a volume's claim; undefined: it has none. */
export const claimNameOf = (
  { metadata }: Pick<Pod, "metadata">,
  volume: Volume,
): string | undefined =>
  volume.persistentVolumeClaim?.claimName ??
  (volume.ephemeral ? `${metadata.name}-${volume.name}` : undefined);

export function claimKeysOf(pod: Pod): string[] {
  const { namespace } = pod.metadata;
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const claim = claimNameOf(pod, volume);
    return claim === undefined ? [] : [`${namespace}/${claim}`];
  });
}

/** Index function: a pod under the keys of its claims. */
export const claimIndex = (pod: Pod): readonly string[] => claimKeysOf(pod);

/** Was the claim made for an ephemeral volume of this very pod? */
export function isOwnedByPod(
  { metadata }: PersistentVolumeClaim,
  pod: Pod,
): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ uid, controller }) => controller && uid === pod.metadata.uid,
    ) ?? false
  );
}
