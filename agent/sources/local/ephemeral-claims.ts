// Claims of generic ephemeral volumes on a node without an API server: made with the pod, owned by it, bound to a directory
// of the built-in class, and gone with the pod, which its directory follows (volumes/local-path). A pod that takes the place
// of one of its name gets a new directory. A claim of that name that a manifest has is left alone: the mount names it.
import type { MemoryObjects } from "../../../client/memory-objects.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../../client/resources.ts";
import { applyDefaults } from "../../../api/defaults.ts";
import type {
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../../api/types/core-v1.ts";
import { boundClaim, claimRefusals, reclaimPolicy } from "./claim-rules.ts";

interface EphemeralClaimsOptions {
  readonly objects: MemoryObjects;
  /** Directory below which the volumes lie. */
  readonly volumesRoot: string;
  readonly onProblem: (what: string, message: string) => void;
}

interface Made {
  readonly claim: PersistentVolumeClaim;
  readonly volumeName: string;
}

export class EphemeralClaims {
  readonly #options: EphemeralClaimsOptions;
  /** By the pod's uid; a pod whose claims were looked at is there. */
  readonly #made = new Map<string, readonly Made[]>();

  constructor(options: EphemeralClaimsOptions) {
    this.#options = options;
  }

  /** Before its volumes are mounted; again for nothing. */
  ensure(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    if (this.#made.has(uid)) return;
    const volumes = (pod.spec.volumes ?? []).filter((each) => each.ephemeral);
    if (volumes.length === 0) return;
    this.#made.set(
      uid,
      volumes.flatMap((volume) => this.#make(pod, volume) ?? []),
    );
  }

  forget(uid: string): void {
    const { objects } = this.#options;
    for (const { claim, volumeName } of this.#made.get(uid) ?? []) {
      const { name, namespace } = claim.metadata;
      const found = objects
        .cache(persistentVolumeClaims)
        .lister.get(name, namespace);
      if (found?.metadata.uid === claim.metadata.uid)
        objects.remove(persistentVolumeClaims, name, namespace);
      objects.remove(persistentVolumes, volumeName);
    }
    this.#made.delete(uid);
  }

  #make({ metadata }: Pod, volume: Volume): Made | undefined {
    const { objects, volumesRoot, onProblem } = this.#options;
    const { namespace = "default" } = metadata;
    const name = `${metadata.name}-${volume.name}`;
    const template = structuredClone(volume.ephemeral!.volumeClaimTemplate);
    const asked: PersistentVolumeClaim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        ...template?.metadata,
        ...{ name, namespace },
        annotations: {
          ...template?.metadata?.annotations,
          [reclaimPolicy.annotation]: reclaimPolicy.delete,
        },
        ownerReferences: [
          {
            ...{ apiVersion: "v1", kind: "Pod", name: metadata.name },
            ...{ uid: metadata.uid ?? "", controller: true },
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: template?.spec ?? {},
    };
    applyDefaults(asked, {
      ...{ group: "", version: "v1", kind: "PersistentVolumeClaim" },
    });
    const problems = claimRefusals(asked);
    if (problems.length > 0) {
      onProblem(
        `pod ${namespace}/${metadata.name}`,
        problems
          .map(
            ({ field, detail }) =>
              `volume ${volume.name}: volumeClaimTemplate.${field}: ${detail}`,
          )
          .join("; "),
      );
      return undefined;
    }
    if (objects.cache(persistentVolumeClaims).lister.get(name, namespace))
      return undefined;
    const bound = boundClaim(asked, volumesRoot, metadata.uid);
    objects.put(persistentVolumes, bound.volume);
    objects.put(persistentVolumeClaims, bound.claim);
    return { claim: bound.claim, volumeName: bound.volume.metadata.name };
  }
}
