// Writes allocations and reservations into claims, and takes them back. A conflict is tried again with the newest claim,
// as benign changes are common; what makes the decision wrong is an error.
import { isConflict, isNotFound } from "../../api/errors.ts";
import { objectKey } from "../../api/object.ts";
import {
  claimFinalizer,
  isReservedFor,
} from "../../api/objects/resource-claims.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type {
  AllocationResult,
  ResourceClaim,
} from "../../api/types/resource-v1beta1.ts";
import type { Client } from "../../client/client.ts";
import { resourceClaims } from "../../client/resources.ts";

const maxTries = 5;

export class ClaimWriter {
  constructor(private readonly client: Client) {}

  /** Reserves the claim for the pod, with an allocation where it has none. */
  async bind(
    claim: ResourceClaim,
    pod: Pod,
    allocation: AllocationResult | undefined,
  ): Promise<void> {
    const what = allocation
      ? "add allocation and reservation"
      : "add reservation";
    for (let tries = 1, current = claim; ; tries++)
      try {
        return await this.#bind(current, pod, allocation);
      } catch (error) {
        if (!isConflict(error) || tries >= maxTries)
          throw new Error(
            `${what} to claim ${objectKey(claim)}: ${(error as Error).message}`,
            { cause: error },
          );
        const { name, namespace } = claim.metadata;
        current = await this.client
          .resource(resourceClaims)
          .get(name, namespace);
      }
  }

  async #bind(
    claim: ResourceClaim,
    pod: Pod,
    allocation: AllocationResult | undefined,
  ): Promise<void> {
    const api = this.client.resource(resourceClaims);
    const key = objectKey(claim);
    const { name, uid = "" } = pod.metadata;
    if (claim.metadata.deletionTimestamp)
      throw new Error(`claim ${key} got deleted in the meantime`);
    if (allocation && claim.status?.allocation)
      throw new Error(`claim ${key} got allocated elsewhere in the meantime`);
    if (!allocation && !claim.status?.allocation)
      throw new Error(`claim ${key} got deallocated in the meantime`);
    if (isReservedFor(pod, claim)) return;
    let current = claim;
    const finalizers = claim.metadata.finalizers ?? [];
    if (allocation && !finalizers.includes(claimFinalizer))
      current = await api.update({
        ...claim,
        metadata: {
          ...claim.metadata,
          finalizers: [...finalizers, claimFinalizer],
        },
      });
    await api.updateStatus({
      ...current,
      status: {
        ...current.status,
        ...(allocation ? { allocation } : {}),
        reservedFor: [
          ...(current.status?.reservedFor ?? []),
          { resource: "pods", name, uid },
        ],
      },
    });
  }

  /** The pod got no node after all. */
  async release({ metadata }: ResourceClaim, pod: Pod): Promise<void> {
    const { name, namespace, uid } = metadata;
    const body = {
      metadata: { uid },
      status: { reservedFor: [{ $patch: "delete", uid: pod.metadata.uid }] },
    };
    try {
      await this.client
        .resource(resourceClaims)
        .patch(
          name,
          namespace,
          { type: "strategic", body },
          { subresource: "status" },
        );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Its devices are where the pod can't go, and no other pod uses it. */
  async deallocate(claim: ResourceClaim): Promise<void> {
    const { allocation, reservedFor, ...status } = claim.status ?? {};
    if (!allocation && !reservedFor) return;
    await this.client
      .resource(resourceClaims)
      .updateStatus({ ...claim, status });
  }
}
