// Binds the claims of a pod whose node is chosen, before the pod itself is bound: writes the claimRef of volumes that
// exist, names the node to the provisioners of the others (annotation selected-node), and waits until the controllers and
// provisioners have bound every claim. What was written stays when the wait fails: it is the claims', not the pod's.
import type { Clock } from "../../api/clock.ts";
import { objectKey } from "../../api/object.ts";
import { volumeBoundTo } from "../../api/objects/volumes/volume-binding.ts";
import { isReachable } from "../../api/objects/volumes/volume-match.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../client/resources.ts";
import type { NodeInfo } from "../node-info.ts";
import { selectedNodeAnnotation, type ClaimPlan } from "./claim-plan.ts";
import type { StorageState } from "./storage-state.ts";

interface PodVolumesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly state: StorageState;
}

export class PodVolumes {
  readonly #options: PodVolumesOptions;
  /** Called when the scheduler stops. */
  readonly #waits = new Set<(error: Error) => void>();

  constructor(options: PodVolumesOptions) {
    this.#options = options;
  }

  stop(): void {
    for (const end of this.#waits) end(new Error("the scheduler is stopping"));
  }

  /**
   * Takes what the pod needs on the node, in the turn of the decision; the result binds it. undefined: all claims are
   * bound already.
   * @param timeoutMs how long the binding may take
   */
  reserve(
    pod: Pod,
    info: NodeInfo,
    timeoutMs: number,
  ): (() => Promise<void>) | undefined {
    const { state } = this.#options;
    const unbound = state
      .claimsOf(pod)
      .flatMap((claim) => ("unbound" in claim ? [claim.unbound] : []));
    if (unbound.length === 0) return undefined;
    const plan = state.planner(unbound)(info);
    if (typeof plan === "string") return () => Promise.reject(new Error(plan));
    const release = state.take(
      plan.bind.map(({ volume }) => volume.metadata.name),
    );
    return () => this.#bind(plan, info, timeoutMs).finally(release);
  }

  async #bind(
    plan: ClaimPlan,
    info: NodeInfo,
    timeoutMs: number,
  ): Promise<void> {
    const { client } = this.#options;
    for (const { claim, volume } of plan.bind) {
      const bound = volumeBoundTo(volume, claim);
      if (bound !== volume)
        await client.resource(persistentVolumes).update(bound);
    }
    for (const { metadata } of plan.provision) {
      if (metadata.annotations?.[selectedNodeAnnotation] === info.name)
        continue;
      await client
        .resource(persistentVolumeClaims)
        .patch(metadata.name, metadata.namespace, {
          type: "merge",
          body: {
            metadata: {
              uid: metadata.uid,
              annotations: { [selectedNodeAnnotation]: info.name },
            },
          },
        });
    }
    await this.#bound(plan, info, timeoutMs);
  }

  #bound(plan: ClaimPlan, info: NodeInfo, timeoutMs: number): Promise<void> {
    const { clock, state } = this.#options;
    const waiting = new Map(
      [...plan.bind.map(({ claim }) => claim), ...plan.provision].map(
        (claim) => [objectKey(claim), claim],
      ),
    );
    const provisioned = new Set(plan.provision.map(objectKey));
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        timer.cancel();
        this.#waits.delete(end);
        // The handler may be called before addHandler has returned.
        queueMicrotask(() => remove());
        if (error) reject(error);
        else resolve();
      };
      const look = (claim: PersistentVolumeClaim): void => {
        const key = objectKey(claim);
        const known = waiting.get(key);
        if (!known) return;
        if (claim.metadata.uid !== known.metadata.uid)
          return end(new Error(`claim "${key}" was replaced`));
        const state = this.#progress(claim, info, provisioned.has(key), known);
        if (state instanceof Error) return end(state);
        if (state === "bound") waiting.delete(key);
        if (waiting.size === 0) end();
      };
      const timer = clock.after(timeoutMs, () =>
        end(new Error("binding volumes: context deadline exceeded")),
      );
      this.#waits.add(end);
      const remove = state.claims.addHandler({
        onAdd: look,
        onUpdate: (_, claim) => look(claim),
        onDelete: (claim) => {
          if (waiting.has(objectKey(claim)))
            end(
              new Error(
                `persistentvolumeclaim "${claim.metadata.name}" not found`,
              ),
            );
        },
      });
    });
  }

  #progress(
    claim: PersistentVolumeClaim,
    { name, node }: NodeInfo,
    provisioned: boolean,
    known: PersistentVolumeClaim,
  ): "bound" | "waiting" | Error {
    const volumeName = claim.spec?.volumeName;
    if (volumeName && claim.status?.phase === "Bound") {
      const volume = this.#options.state.volumes.lister.get(volumeName);
      return volume && node && !isReachable(volume, node)
        ? new Error(
            `pv "${volumeName}" node affinity doesn't match node "${name}"`,
          )
        : "bound";
    }
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
    // The cache may still show the claim as it was before the annotation.
    const isOld =
      claim.metadata.resourceVersion === known.metadata.resourceVersion;
    return provisioned && selected !== name && !isOld
      ? new Error(`provisioning failed for PVC "${claim.metadata.name}"`)
      : "waiting";
  }
}
