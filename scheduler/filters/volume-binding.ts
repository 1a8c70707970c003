// Volumes: a pod's claims must exist, be bound where their class does not wait, and be reachable from the node; for a
// class that waits, some volume must suit there (or a provisioner is trusted to make one). The binding itself is the
// controllers' once the pod has its node.
import type { PersistentVolumeClaim } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { claimKeysOf } from "../../api/objects/pod-claims.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../client/resources.ts";
import { splitKey } from "../../api/object.ts";
import {
  bestVolume,
  classOf,
  isReachable,
} from "../../api/objects/volume-match.ts";
import type { FilterPlugin, NodeFilter, Rejection } from "../plugin.ts";

const plugin = "VolumeBinding";
const noProvisioner = "kubernetes.io/no-provisioner";

const rejection = (reason: string): Rejection => ({
  plugin,
  reasons: [reason],
  unresolvable: true,
});
const unreachable = rejection("node(s) had volume node affinity conflict");
const noneThere = rejection(
  "node(s) didn't find available persistent volumes to bind",
);

export function createVolumeBindingFilter(client: Client): FilterPlugin {
  const claims = client.informer(persistentVolumeClaims).lister;
  const volumes = client.informer(persistentVolumes).lister;
  const classes = client.informer(storageClasses).lister;

  function filterOf(
    claim: PersistentVolumeClaim | undefined,
    key: string,
  ): NodeFilter {
    const always = (reason: string): NodeFilter => {
      const rejected = rejection(reason);
      return () => rejected;
    };
    const { name } = splitKey(key);
    if (!claim) return always(`persistentvolumeclaim "${name}" not found`);
    if (claim.metadata.deletionTimestamp)
      return always(`persistentvolumeclaim "${name}" is being deleted`);
    const volumeName = claim.spec?.volumeName;
    if (volumeName && claim.status?.phase === "Bound") {
      const volume = volumes.get(volumeName);
      if (!volume) return always(`persistentvolume "${volumeName}" not found`);
      return ({ node }) =>
        node && isReachable(volume, node) ? undefined : unreachable;
    }
    const storageClass = classes.get(classOf(claim));
    if (storageClass?.volumeBindingMode !== "WaitForFirstConsumer")
      return always("pod has unbound immediate PersistentVolumeClaims");
    const all = volumes.list();
    const provisioned = storageClass.provisioner !== noProvisioner;
    return ({ node }) =>
      node && (provisioned || bestVolume(claim, all, node))
        ? undefined
        : noneThere;
  }

  return {
    name: plugin,
    hints: ["node-added", "node-labels", "volume"],
    compile({ pod }) {
      // Claims of ephemeral volumes come a moment after their pod, by a controller.
      const keys = pod.spec.volumes?.length ? claimKeysOf(pod) : [];
      if (keys.length === 0) return undefined;
      const filters = keys.map((key) => {
        const { name, namespace } = splitKey(key);
        return filterOf(claims.get(name, namespace), key);
      });
      return (node) => {
        for (const filter of filters) {
          const rejected = filter(node);
          if (rejected) return rejected;
        }
        return undefined;
      };
    },
  };
}
