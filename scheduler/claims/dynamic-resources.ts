// Devices of ResourceClaims (gate DynamicResourceAllocation): a filter that lets a pod only onto nodes where its claims can
// be used, the decision which devices they get on the node that was chosen, and the writing of it before the pod is
// bound. A pod whose claims do not exist yet is not tried at all.
import { objectKey } from "../../api/object.ts";
import {
  claimNameOf,
  foreignClaim,
  isReservedFor,
} from "../../api/objects/resource-claims.ts";
import { matchesNodeSelector } from "../../api/objects/node-affinity.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type {
  AllocationResult,
  ResourceClaim,
} from "../../api/types/resource-v1beta1.ts";
import type { Client } from "../../client/client.ts";
import { deviceClasses, resourceSlices } from "../../client/resources.ts";
import type { FilterPlugin, NodeFilter, Rejection } from "../plugin.ts";
import { allocateClaims, type AllocationState } from "./claim-allocator.ts";
import { ClaimStates } from "./claim-states.ts";
import { ClaimWriter } from "./claim-writer.ts";
import { DeviceMatcher, selectorBudget } from "./device-matcher.ts";

const plugin = "DynamicResources";

interface DynamicResourcesOptions {
  readonly client: Client;
  /** Gate DRAAdminAccess. */
  readonly adminAccess: boolean;
}

/** What was decided for a pod: its claims, and what those get that have nothing yet. */
export interface ClaimDecision {
  readonly pod: Pod;
  readonly claims: readonly {
    readonly claim: ResourceClaim;
    readonly allocation: AllocationResult | undefined;
  }[];
}

const rejection = (reason: string): Rejection => ({
  plugin,
  reasons: [reason],
  unresolvable: true,
});
const unavailable = rejection("resourceclaim not available on the node");
const unallocatable = rejection("cannot allocate all claims");

export class DynamicResources {
  readonly #client: Client;
  readonly #adminAccess: boolean;
  readonly #claims: ClaimStates;
  readonly #writer: ClaimWriter;
  readonly #cleanups: (() => void)[] = [];
  #matcher: DeviceMatcher | undefined;
  readonly filter: FilterPlugin;

  constructor({ client, adminAccess }: DynamicResourcesOptions) {
    this.#client = client;
    this.#adminAccess = adminAccess;
    this.#claims = new ClaimStates(client);
    this.#writer = new ClaimWriter(client);
    this.filter = {
      name: plugin,
      hints: ["node-added", "node-labels", "claim"],
      compile: ({ pod }) => this.#compile(pod),
    };
  }

  /** Resolves when everything is known that decisions need. @param onChange pods that wait may fit now */
  async start(onChange: () => void): Promise<void> {
    const claimsChanged = this.#claims.watch(onChange);
    const slices = this.#client.informer(resourceSlices);
    const classes = this.#client.informer(deviceClasses);
    const handler = { onAdd: onChange, onUpdate: onChange };
    this.#cleanups.push(
      claimsChanged,
      slices.addHandler(handler),
      classes.addHandler(handler),
    );
    this.#matcher = await DeviceMatcher.open();
    await Promise.all([
      this.#claims.synced(),
      slices.synced(),
      classes.synced(),
    ]);
  }

  stop(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }

  /** Why the pod can't be tried yet; undefined: it can. */
  notYet(pod: Pod): string | undefined {
    try {
      this.#claimsOf(pod);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Takes the devices that the pod's claims get on the node; they are kept for it until bind() or unreserve(). */
  reserve(pod: Pod, node: Node): ClaimDecision | undefined {
    if (!pod.spec.resourceClaims?.length) return undefined;
    const claims = this.#claimsOf(pod);
    const open = claims.filter(({ status }) => !status?.allocation);
    const allocations =
      open.length > 0 ? allocateClaims(open, node, this.#state()) : [];
    if (!allocations) throw new Error("claim allocation not found for node");
    return {
      pod,
      claims: claims.map((claim) => {
        const allocation = allocations[open.indexOf(claim)];
        if (allocation) this.#claims.setPending(claim, allocation);
        return { claim, allocation };
      }),
    };
  }

  /** Writes the decision. Rejects: the pod is not to be bound, and unreserve() is to be called. */
  async bind({ pod, claims }: ClaimDecision): Promise<void> {
    for (const { claim, allocation } of claims)
      if (!isReservedFor(pod, claim))
        await this.#writer.bind(claim, pod, allocation);
  }

  /** The pod was not bound: its claims are free for others. */
  async unreserve({ pod, claims }: ClaimDecision): Promise<void> {
    for (const { claim, allocation } of claims) {
      if (allocation) this.#claims.settle(claim);
      const { name, namespace = "" } = claim.metadata;
      const now = this.#claims.get(name, namespace) ?? claim;
      if (now.status?.allocation && isReservedFor(pod, now))
        await this.#writer.release(now, pod);
    }
  }

  /** No node fits: gives up where an unused claim of the pod is allocated, if that is in the way. */
  async makeRoom(pod: Pod, nodes: readonly Node[]): Promise<void> {
    const claims = pod.spec.resourceClaims?.length ? this.#claimsOf(pod) : [];
    const inTheWay = claims.find(({ status }) => {
      const selector = status?.allocation?.nodeSelector;
      const others = (status?.reservedFor ?? []).filter(
        ({ uid }) => uid !== pod.metadata.uid,
      );
      return (
        selector &&
        others.length === 0 &&
        nodes.some((node) => !matchesNodeSelector(selector, node))
      );
    });
    if (inTheWay) await this.#writer.deallocate(inTheWay);
  }

  #compile(pod: Pod): NodeFilter | undefined {
    if (!pod.spec.resourceClaims?.length) return undefined;
    let claims: ResourceClaim[];
    try {
      claims = this.#claimsOf(pod);
    } catch (error) {
      const rejected = {
        ...rejection((error as Error).message),
        everywhere: true,
      };
      return () => rejected;
    }
    const open = claims.filter(({ status }) => !status?.allocation);
    const problem = this.#problemOf(open);
    if (problem) return () => problem;
    const selectors = claims.flatMap(
      ({ status }) => status?.allocation?.nodeSelector ?? [],
    );
    const state = open.length > 0 ? this.#state() : undefined;
    return ({ node }) => {
      if (!node) return unavailable;
      if (!selectors.every((selector) => matchesNodeSelector(selector, node)))
        return unavailable;
      return !state || allocateClaims(open, node, state)
        ? undefined
        : unallocatable;
    };
  }

  #problemOf(open: readonly ResourceClaim[]): Rejection | undefined {
    const classes = this.#client.informer(deviceClasses).lister;
    for (const claim of open) {
      if (this.#claims.isPending(claim))
        return rejection(
          `resource claim ${objectKey(claim)} is in the process of being allocated`,
        );
      for (const request of claim.spec.devices?.requests ?? [])
        if (!classes.get(request.deviceClassName))
          return rejection(
            `request ${request.name}: device class ${request.deviceClassName} does not exist`,
          );
    }
    return undefined;
  }

  #state(): AllocationState {
    if (!this.#matcher) throw new Error("selectors of devices are not loaded");
    const classes = this.#client.informer(deviceClasses).lister;
    return {
      slices: this.#client.informer(resourceSlices).lister.list(),
      deviceClass: (name) => classes.get(name),
      allocated: this.#claims.allocatedDevices(),
      matcher: this.#matcher,
      budget: selectorBudget(),
      adminAccess: this.#adminAccess,
    };
  }

  /** @throws Error why the pod has to wait for its claims */
  #claimsOf(pod: Pod): ResourceClaim[] {
    const claims: ResourceClaim[] = [];
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      const { name, generated } = claimNameOf(pod, podClaim);
      if (name === undefined) continue;
      const claim = this.#claims.get(name, pod.metadata.namespace ?? "");
      if (!claim)
        throw new Error(
          `could not find v1beta1.ResourceClaim "${pod.metadata.namespace}/${name}"`,
        );
      if (claim.metadata.deletionTimestamp)
        throw new Error(
          `resourceclaim ${JSON.stringify(name)} is being deleted`,
        );
      const foreign = generated ? foreignClaim(pod, claim) : undefined;
      if (foreign) throw new Error(foreign);
      if (!claims.includes(claim)) claims.push(claim);
    }
    return claims;
  }
}
