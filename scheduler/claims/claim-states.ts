// Which devices are taken, as the scheduler knows it: by claims that are allocated, and by those that it is about to
// allocate. Invariants: an allocation is pending from the decision until the informer has the claim with it, or until it
// failed; while it is, no other pod decides about that claim.
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import type {
  AllocationResult,
  ResourceClaim,
} from "../../api/types/resource-v1beta1.ts";
import { resourceClaims } from "../../client/resources.ts";
import { deviceId } from "./claim-allocator.ts";

export class ClaimStates {
  readonly #informer: Informer<ResourceClaim>;
  readonly #pending = new Map<string, AllocationResult>();

  constructor(client: Client) {
    this.#informer = client.informer(resourceClaims);
  }

  /** @param onChange a claim changed in a way that may make a pod fit */
  watch(onChange: () => void): () => void {
    return this.#informer.addHandler({
      onAdd: onChange,
      onUpdate: (_, { metadata, status }) => {
        if (status?.allocation) this.#pending.delete(metadata.uid ?? "");
        onChange();
      },
      onDelete: ({ metadata }) => {
        this.#pending.delete(metadata.uid ?? "");
        onChange();
      },
    });
  }

  synced(): Promise<void> {
    return this.#informer.synced();
  }

  get(name: string, namespace: string): ResourceClaim | undefined {
    return this.#informer.lister.get(name, namespace);
  }

  isPending({ metadata }: ResourceClaim): boolean {
    return this.#pending.has(metadata.uid ?? "");
  }

  setPending({ metadata }: ResourceClaim, allocation: AllocationResult): void {
    this.#pending.set(metadata.uid ?? "", allocation);
  }

  /** It failed, or what was written is in the cache. */
  settle({ metadata }: ResourceClaim): void {
    this.#pending.delete(metadata.uid ?? "");
  }

  /** `driver/pool/device` of all devices that are taken; administrators take none. */
  allocatedDevices(): Set<string> {
    const devices = new Set<string>();
    const add = (allocation: AllocationResult | undefined): void => {
      for (const result of allocation?.devices?.results ?? [])
        if (!result.adminAccess)
          devices.add(deviceId(result.driver, result.pool, result.device));
    };
    for (const { status } of this.#informer.lister.list())
      add(status?.allocation);
    for (const allocation of this.#pending.values()) add(allocation);
    return devices;
  }
}
