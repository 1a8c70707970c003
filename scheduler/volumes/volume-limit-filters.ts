// How many volumes of a driver a node takes (CSINode), and claims that one pod alone may use.
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { claimKeysOf } from "../../api/objects/volumes/pod-claims.ts";
import { objectKey } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { FilterPlugin } from "../plugin.ts";
import type { StorageState } from "./storage-state.ts";

/** Distinct volumes of a pod by driver: a volume counts once for a node, however many pods share it. */
function volumesByDriver(
  state: StorageState,
  pod: Pod,
): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (driver: string, volume: string): void => {
    const known = found.get(driver);
    if (known) known.add(volume);
    else found.set(driver, new Set([volume]));
  };
  for (const claim of state.claimsOf(pod)) {
    if ("volume" in claim && claim.volume.spec?.csi) {
      const { driver, volumeHandle } = claim.volume.spec.csi;
      add(driver, volumeHandle);
    } else if ("unbound" in claim)
      add(
        claim.unbound.storageClass.provisioner,
        `claim ${objectKey(claim.unbound.claim)}`,
      );
  }
  return found;
}

export function createVolumeLimitFilter(state: StorageState): FilterPlugin {
  const plugin = "NodeVolumeLimits";
  const rejected = { plugin, reasons: ["node(s) exceed max volume count"] };
  return {
    name: plugin,
    hints: ["node-added", "pod-removed", "volume"],
    compile({ pod }) {
      if (!pod.spec.volumes?.length) return undefined;
      const wanted = volumesByDriver(state, pod);
      if (wanted.size === 0) return undefined;
      return ({ name, pods }) => {
        for (const { name: driver, allocatable } of state.csiNode(name)?.spec
          .drivers ?? []) {
          const own = wanted.get(driver);
          if (!own || allocatable?.count === undefined) continue;
          const used = new Set<string>();
          for (const other of pods.values()) {
            if (!other.pod.spec.volumes?.length) continue;
            const theirs = volumesByDriver(state, other.pod).get(driver);
            for (const volume of theirs ?? []) used.add(volume);
          }
          // What is there already costs nothing, however much that is.
          const added = [...own].filter((volume) => !used.has(volume)).length;
          if (added > 0 && used.size + added > allocatable.count)
            return rejected;
        }
        return undefined;
      };
    },
  };
}

export function createVolumeRestrictionsFilter(
  state: StorageState,
): FilterPlugin {
  const plugin = "VolumeRestrictions";
  const rejected = {
    plugin,
    reasons: [
      "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    ],
  };
  return {
    name: plugin,
    hints: ["pod-removed", "volume"],
    compile({ pod, key: own }, cluster) {
      const exclusive = new Set(
        state.claimsOf(pod).flatMap((found) => {
          const claim =
            "volume" in found
              ? found.claim
              : "unbound" in found
                ? found.unbound.claim
                : undefined;
          return claim?.spec?.accessModes?.includes("ReadWriteOncePod")
            ? [objectKey(claim)]
            : [];
        }),
      );
      if (exclusive.size === 0) return undefined;
      const uses = (node: {
        pods: ReadonlyMap<string, { key: string; pod: Pod }>;
      }) =>
        [...node.pods.values()].some(
          (other) =>
            other.key !== own &&
            other.pod.spec.volumes?.length &&
            !isPodTerminal(other.pod) &&
            claimKeysOf(other.pod).some((key) => exclusive.has(key)),
        );
      const using = cluster
        .nodes()
        .filter(uses)
        .map(({ name }) => name);
      // The node itself is looked at as it is given: pods may be taken away from it for a trial.
      return (node) =>
        uses(node) || using.some((name) => name !== node.name)
          ? rejected
          : undefined;
    },
  };
}
