// Claims of generic ephemeral volumes: each is made after its pod, which owns it, so that the garbage collector removes
// it with the pod. A claim of that name with another owner is never used.
import { Counters } from "../../api/metrics/counted.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import {
  claimIndex,
  isOwnedByPod,
} from "../../api/objects/volumes/pod-claims.ts";
import type {
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../api/types/core-v1.ts";
import { persistentVolumeClaims, pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";

export function createEphemeralVolumeController(
  context: ControllerContext,
): Controller {
  const { client, options } = context;
  const podInformer = client.informer(pods, { indexes: { claim: claimIndex } });
  const claims = client.informer(persistentVolumeClaims);
  const recorder = context.recorder("ephemeral_volume");
  const tries = new Counters({
    name: "ephemeral_volume_controller_create_total",
    help: "Claims of ephemeral volumes that were tried to be made.",
  });
  const failures = new Counters({
    name: "ephemeral_volume_controller_create_failures_total",
    help: "Claims of ephemeral volumes that could not be made.",
  });
  context.metrics?.add("ephemeral-volume", () => [
    tries.family(),
    failures.family(),
  ]);
  const create = async (pod: Pod, volume: Volume): Promise<void> => {
    const wanted = claimOf(pod, volume);
    const known = claims.lister.get(
      wanted.metadata.name,
      pod.metadata.namespace,
    );
    if (known && isOwnedByPod(known, pod)) return;
    if (known)
      throw new Error(
        `PVC ${objectKey(known)} was not created for pod ${objectKey(pod)} (pod is not owner)`,
      );
    tries.count();
    try {
      await client.resource(persistentVolumeClaims).create(wanted);
    } catch (error) {
      failures.count();
      throw new Error(
        `create PVC ${wanted.metadata.name}: ${(error as Error).message}`,
        { cause: error },
      );
    }
  };
  const reconciler: Reconciler = new Reconciler({
    name: "ephemeral-volume-controller",
    context,
    concurrency: options.concurrentEphemeralvolumeSyncs,
    async reconcile(key) {
      const { name, namespace } = splitKey(key);
      const pod = podInformer.lister.get(name, namespace);
      if (!pod || pod.metadata.deletionTimestamp) return;
      for (const volume of pod.spec.volumes ?? []) {
        if (!volume.ephemeral) continue;
        try {
          await create(pod, volume);
        } catch (error) {
          const text = error instanceof Error ? error.message : String(error);
          recorder.event(
            pod,
            "Warning",
            "FailedBinding",
            `ephemeral volume ${volume.name}: ${text}`,
          );
          throw error;
        }
      }
    },
  });
  const consider = (pod: Pod): void => {
    if (pod.spec.volumes?.some(({ ephemeral }) => ephemeral))
      reconciler.queue.add(objectKey(pod));
  };
  return reconciler.watch(podInformer, { onAdd: consider }).watch(claims, {
    // A pod may still need one of its own, this one having been another's.
    onDelete: (claim) =>
      podInformer.lister.byIndex("claim", objectKey(claim)).forEach(consider),
  });
}

function claimOf(
  { metadata }: Pod,
  { name, ephemeral }: Volume,
): PersistentVolumeClaim {
  const { metadata: given, spec } = ephemeral!.volumeClaimTemplate!;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: `${metadata.name}-${name}`,
      ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
      ...(given?.labels ? { labels: given.labels } : {}),
      ...(given?.annotations ? { annotations: given.annotations } : {}),
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "Pod",
          name: metadata.name,
          uid: metadata.uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec,
  };
}
