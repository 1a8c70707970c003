// What the API says about storage, as the scheduler reads it, and which volumes decisions have taken that the API does not
// show as taken yet.
import {
  claimKeysOf,
  isOwnedByPod,
} from "../../api/objects/volumes/pod-claims.ts";
import { splitKey } from "../../api/object.ts";
import { classOf } from "../../api/objects/volumes/volume-match.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../client/resources.ts";
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
} from "../../api/types/storage-v1.ts";
import {
  planClaims,
  sizeAsked,
  type ClaimPlan,
  type UnboundClaim,
} from "./claim-plan.ts";
import type { NodeInfo } from "../node-info.ts";

export const unboundImmediate =
  "pod has unbound immediate PersistentVolumeClaims";

/** A claim of a pod: bound to a volume, waiting for a node, or the reason why no node will do. */
type ClaimState =
  | { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }
  | { readonly unbound: UnboundClaim }
  | { readonly problem: string };

export class StorageState {
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly #classes: Informer<StorageClass>;
  readonly #drivers: Informer<CSIDriver>;
  readonly #csiNodes: Informer<CSINode>;
  readonly #capacities: Informer<CSIStorageCapacity>;
  /** Names of volumes that a decision binds just now. */
  readonly #taken = new Set<string>();

  constructor(client: Client) {
    this.claims = client.informer(persistentVolumeClaims);
    this.volumes = client.informer(persistentVolumes);
    this.#classes = client.informer(storageClasses);
    this.#drivers = client.informer(csiDrivers);
    this.#csiNodes = client.informer(csiNodes);
    this.#capacities = client.informer(csiStorageCapacities);
  }

  csiNode(name: string): CSINode | undefined {
    return this.#csiNodes.lister.get(name);
  }

  take(names: readonly string[]): () => void {
    for (const name of names) this.#taken.add(name);
    return () => {
      for (const name of names) this.#taken.delete(name);
    };
  }

  claimsOf(pod: Pod): ClaimState[] {
    if (!pod.spec.volumes?.length) return [];
    const ephemeral = new Set(
      pod.spec.volumes
        .filter((volume) => volume.ephemeral)
        .map(({ name }) => `${pod.metadata.name}-${name}`),
    );
    return claimKeysOf(pod).map((key) => {
      const { name, namespace } = splitKey(key);
      const claim = this.claims.lister.get(name, namespace);
      if (!ephemeral.has(name)) return this.#stateOf(claim, name);
      if (!claim)
        return {
          problem: `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`,
        };
      if (!isOwnedByPod(claim, pod))
        return {
          problem: `PVC ${key} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`,
        };
      return this.#stateOf(claim, name);
    });
  }

  #stateOf(claim: PersistentVolumeClaim | undefined, name: string): ClaimState {
    if (!claim) return { problem: `persistentvolumeclaim "${name}" not found` };
    if (claim.metadata.deletionTimestamp)
      return { problem: `persistentvolumeclaim "${name}" is being deleted` };
    if (claim.status?.phase === "Lost")
      return {
        problem: `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ""}"`,
      };
    const volumeName = claim.spec?.volumeName;
    if (volumeName && claim.status?.phase === "Bound") {
      const volume = this.volumes.lister.get(volumeName);
      return volume
        ? { volume, claim }
        : { problem: `persistentvolume "${volumeName}" not found` };
    }
    const storageClass = this.#classes.lister.get(classOf(claim));
    if (
      volumeName ||
      storageClass?.volumeBindingMode !== "WaitForFirstConsumer"
    )
      return { problem: unboundImmediate };
    return { unbound: { claim, storageClass } };
  }

  /** For all nodes of one decision: the volumes are listed once. */
  planner(
    unbound: readonly UnboundClaim[],
  ): (node: NodeInfo) => ClaimPlan | string {
    const ordered = [...unbound].sort(
      (a, b) => sizeAsked(a.claim) - sizeAsked(b.claim),
    );
    const volumes = this.volumes.lister
      .list()
      .filter(({ metadata }) => !this.#taken.has(metadata.name));
    const facts = {
      volumes,
      driver: (name: string) => this.#drivers.lister.get(name),
      capacities: () => this.#capacities.lister.list(),
    };
    return ({ node }) =>
      node ? planClaims(ordered, node, facts) : "node not found";
  }
}
