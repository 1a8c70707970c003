// ResourceClaims of pods: makes those that come from templates and names them in the pod's status, reserves allocated
// claims for pods that got their node without the scheduler, and takes back reservations and allocations of pods that are
// over. Claims made for a pod that is over are removed. Keys are `pod:<key>` and `claim:<key>`.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import {
  ClaimNotMade,
  claimFinalizer,
  claimNameOf,
  foreignClaim,
  isReservedFor,
  resourceClaimKeysOf,
} from "../../api/objects/resource-claims.ts";
import type { Pod, PodResourceClaim } from "../../api/types/core-v1.ts";
import type {
  ResourceClaim,
  ResourceClaimConsumerReference,
} from "../../api/types/resource-v1beta1.ts";
import type { Informer } from "../../client/informer.ts";
import {
  pods,
  resourceClaims,
  resourceClaimTemplates,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import {
  asksForAdminAccess,
  claimFromTemplate,
  podClaimAnnotation,
} from "./claim-from-template.ts";

const fieldManager = "ResourceClaimController";
const concurrency = 10;
/** Of deleted pods whose claims may still name them. */
const maxDeleted = 500;

/** It runs no containers and never will. */
const isDone = (pod: Pod): boolean =>
  isPodTerminal(pod) ||
  (pod.metadata.deletionTimestamp !== undefined && !pod.spec.nodeName);

export function createResourceClaimController(
  context: ControllerContext,
  options: { readonly adminAccess: boolean },
): Controller {
  return new ResourceClaimController(context, options.adminAccess).reconciler;
}

class ResourceClaimController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #adminAccess: boolean;
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<ResourceClaim>;
  readonly #recorder;
  /** Uids of pods whose deletion was seen, the newest last. */
  readonly #deleted = new Set<string>();
  /** Claims that were made and are not in the cache yet, by pod uid and the pod's name of it. */
  readonly #made = new Map<string, ResourceClaim>();

  constructor(context: ControllerContext, adminAccess: boolean) {
    const { client } = context;
    this.#context = context;
    this.#adminAccess = adminAccess;
    this.#recorder = context.recorder("resource_claim");
    this.#pods = client.informer(pods, {
      indexes: { resourceClaim: resourceClaimKeysOf },
    });
    this.#claims = client.informer(resourceClaims, {
      indexes: { controller: controllerIndex },
    });
    this.reconciler = new Reconciler({
      name: "resource_claim",
      context,
      concurrency,
      reconcile: (key) => this.#reconcile(key),
    })
      .watch(this.#pods, {
        onAdd: (pod) => this.#podChanged(pod, false),
        onUpdate: (old, pod) => {
          if (old.metadata.uid !== pod.metadata.uid)
            this.#podChanged(old, true);
          this.#podChanged(pod, false);
        },
        onDelete: (pod) => this.#podChanged(pod, true),
      })
      .watch(this.#claims, {
        onAdd: (claim) => this.#claimChanged(claim, false),
        onUpdate: (_, claim) => this.#claimChanged(claim, false),
        onDelete: (claim) => this.#claimChanged(claim, true),
      })
      .watch(client.informer(resourceClaimTemplates), {});
  }

  #podChanged(pod: Pod, deleted: boolean): void {
    if (!pod.spec.resourceClaims?.length) return;
    const { queue } = this.reconciler;
    const uid = pod.metadata.uid ?? "";
    if (deleted) {
      this.#deleted.add(uid);
      for (const oldest of this.#deleted) {
        if (this.#deleted.size <= maxDeleted) break;
        this.#deleted.delete(oldest);
      }
      for (const { name } of pod.spec.resourceClaims)
        this.#made.delete(`${uid}/${name}`);
    }
    if (deleted || isDone(pod))
      for (const key of resourceClaimKeysOf(pod)) queue.add(`claim:${key}`);
    if (!deleted && !pod.metadata.deletionTimestamp)
      queue.add(`pod:${objectKey(pod)}`);
  }

  #claimChanged(claim: ResourceClaim, deleted: boolean): void {
    const key = objectKey(claim);
    const podClaim = claim.metadata.annotations?.[podClaimAnnotation];
    this.#made.delete(`${controllerOf(claim)?.uid}/${podClaim}`);
    if (!deleted) this.reconciler.queue.add(`claim:${key}`);
    for (const pod of this.#pods.lister.byIndex("resourceClaim", key))
      this.#podChanged(pod, false);
  }

  async #reconcile(key: string): Promise<void> {
    const colon = key.indexOf(":");
    const { name, namespace } = splitKey(key.slice(colon + 1));
    if (key.startsWith("pod:")) {
      const pod = this.#pods.lister.get(name, namespace);
      if (pod && !pod.metadata.deletionTimestamp) await this.#syncPod(pod);
    } else {
      const claim = this.#claims.lister.get(name, namespace);
      if (claim) await this.#syncClaim(claim);
    }
  }

  async #syncPod(pod: Pod): Promise<void> {
    const made = new Map<string, string>();
    for (const podClaim of pod.spec.resourceClaims ?? [])
      try {
        const name = await this.#ensureClaim(pod, podClaim);
        if (name !== undefined) made.set(podClaim.name, name);
      } catch (error) {
        const text = `PodResourceClaim ${podClaim.name}: ${(error as Error).message}`;
        this.#recorder.event(
          pod,
          "Warning",
          "FailedResourceClaimCreation",
          text,
        );
        throw new Error(`pod ${objectKey(pod)}, ${text}`, { cause: error });
      }
    if (made.size > 0) await this.#recordNames(pod, made);
    // The scheduler reserves for those that have no node yet.
    else if (pod.spec.nodeName && !isDone(pod)) await this.#reserve(pod);
  }

  /** Resolves to the name of a claim that the pod's status does not have yet. */
  async #ensureClaim(
    pod: Pod,
    podClaim: PodResourceClaim,
  ): Promise<string | undefined> {
    const { namespace, uid } = pod.metadata;
    const known = namedClaim(pod, podClaim);
    if (known) {
      if (known.name === undefined) return undefined;
      const claim = this.#claims.lister.get(known.name, namespace);
      if (claim && !(known.generated && foreignClaim(pod, claim)))
        return undefined;
    }
    const template = podClaim.resourceClaimTemplateName;
    if (template === undefined || isDone(pod)) return undefined;
    const owned = this.#claims.lister
      .byIndex("controller", uid ?? "")
      .find(
        ({ metadata }) =>
          metadata.annotations?.[podClaimAnnotation] === podClaim.name,
      );
    if (owned) return owned.metadata.name;
    const key = `${uid}/${podClaim.name}`;
    const before = this.#made.get(key);
    if (before && (await this.#exists(before)))
      return before.metadata.name === known?.name
        ? undefined
        : before.metadata.name;
    const claim = await this.#create(pod, podClaim.name, template);
    this.#made.set(key, claim);
    return claim.metadata.name;
  }

  async #exists({ metadata }: ResourceClaim): Promise<boolean> {
    try {
      await this.#context.client
        .resource(resourceClaims)
        .get(metadata.name, metadata.namespace);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #create(
    pod: Pod,
    podClaim: string,
    templateName: string,
  ): Promise<ResourceClaim> {
    const { client } = this.#context;
    const { namespace } = pod.metadata;
    const template = client
      .informer(resourceClaimTemplates)
      .lister.get(templateName, namespace);
    if (!template)
      throw new Error(
        `resource claim template ${JSON.stringify(templateName)}: resourceclaimtemplate.resource.k8s.io ${JSON.stringify(templateName)} not found`,
      );
    if (!this.#adminAccess && asksForAdminAccess(template))
      throw new Error("admin access is requested, but the feature is disabled");
    try {
      return await client
        .resource(resourceClaims)
        .create(claimFromTemplate(pod, podClaim, template));
    } catch (error) {
      throw new Error(`create ResourceClaim : ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  /** Those that are recorded already are applied again: what is left out of an apply is removed. */
  async #recordNames(
    { metadata, status }: Pod,
    made: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { name, namespace, uid } = metadata;
    const names = new Map<string, string | undefined>(made);
    for (const known of status?.resourceClaimStatuses ?? [])
      if (!names.has(known.name))
        names.set(known.name, known.resourceClaimName);
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, uid },
      status: {
        resourceClaimStatuses: [...names].map(([each, resourceClaimName]) => ({
          name: each,
          ...(resourceClaimName === undefined ? {} : { resourceClaimName }),
        })),
      },
    };
    await this.#context.client
      .resource(pods)
      .patch(
        name,
        namespace,
        { type: "apply", body },
        { subresource: "status", fieldManager, force: true },
      );
  }

  async #reserve(pod: Pod): Promise<void> {
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      const { name, generated } = claimNameOf(pod, podClaim);
      if (name === undefined) continue;
      const claim = this.#claims.lister.get(name, pod.metadata.namespace);
      if (!claim) return;
      const foreign = generated ? foreignClaim(pod, claim) : undefined;
      if (foreign) throw new Error(foreign);
      if (!claim.status?.allocation || isReservedFor(pod, claim)) continue;
      const consumer = {
        resource: "pods",
        name: pod.metadata.name,
        uid: pod.metadata.uid ?? "",
      };
      await this.#writeStatus(claim, {
        ...claim.status,
        reservedFor: [...(claim.status.reservedFor ?? []), consumer],
      });
    }
  }

  async #syncClaim(claim: ResourceClaim): Promise<void> {
    const before = claim.status?.reservedFor ?? [];
    const valid: ResourceClaimConsumerReference[] = [];
    for (const consumer of before)
      if (await this.#isInUse(claim, consumer)) valid.push(consumer);
    let current = claim;
    const deallocate = valid.length === 0 && hasFinalizer(claim);
    const over =
      valid.length < before.length ||
      (deallocate && claim.metadata.deletionTimestamp !== undefined);
    if (over) current = await this.#free(claim, valid, deallocate);
    if (valid.length === 0) await this.#removeUnused(current);
  }

  /** Takes reservations back, with the last one the allocation, and then what kept the claim from being removed. */
  async #free(
    claim: ResourceClaim,
    reservedFor: ResourceClaimConsumerReference[],
    deallocate: boolean,
  ): Promise<ResourceClaim> {
    const { allocation, ...rest } = claim.status ?? {};
    let current = claim;
    if (
      reservedFor.length < (claim.status?.reservedFor?.length ?? 0) ||
      (deallocate && allocation)
    )
      current = await this.#writeStatus(claim, {
        ...rest,
        reservedFor,
        ...(allocation && !deallocate ? { allocation } : {}),
      });
    if (!hasFinalizer(current) || current.status?.allocation) return current;
    return await this.#context.client.resource(resourceClaims).update({
      ...current,
      metadata: {
        ...current.metadata,
        finalizers: (current.metadata.finalizers ?? []).filter(
          (each) => each !== claimFinalizer,
        ),
      },
    });
  }

  async #isInUse(
    { metadata }: ResourceClaim,
    consumer: ResourceClaimConsumerReference,
  ): Promise<boolean> {
    const { apiGroup, resource, name, uid } = consumer;
    if (apiGroup || resource !== "pods")
      throw new Error(
        `unsupported ReservedFor entry: ${JSON.stringify(consumer)}`,
      );
    if (this.#deleted.has(uid)) return false;
    const { namespace } = metadata;
    const known = this.#pods.lister.get(name, namespace);
    if (known) return known.metadata.uid === uid && !isDone(known);
    // The cache may be behind a pod that the scheduler knows already.
    try {
      const pod = await this.#context.client
        .resource(pods)
        .get(name, namespace);
      return pod.metadata.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** A claim made for a pod that will not run (any more); the garbage collector takes those of pods that are gone. */
  async #removeUnused(claim: ResourceClaim): Promise<void> {
    const owner = controllerOf(claim);
    if (owner?.kind !== "Pod" || owner.apiVersion !== "v1") return;
    const { name, namespace, deletionTimestamp } = claim.metadata;
    const pod = this.#pods.lister.get(owner.name, namespace);
    if (!pod || deletionTimestamp) return;
    if (pod.metadata.uid === owner.uid && !isDone(pod)) return;
    await this.#context.client
      .resource(resourceClaims)
      .delete(name, namespace)
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  async #writeStatus(
    claim: ResourceClaim,
    status: ResourceClaim["status"],
  ): Promise<ResourceClaim> {
    return await this.#context.client
      .resource(resourceClaims)
      .updateStatus({ ...claim, ...(status ? { status } : {}) });
  }
}

/** What the pod's status says of its claim; undefined: nothing yet. */
function namedClaim(
  pod: Pod,
  podClaim: PodResourceClaim,
): ReturnType<typeof claimNameOf> | undefined {
  try {
    return claimNameOf(pod, podClaim);
  } catch (error) {
    if (error instanceof ClaimNotMade) return undefined;
    throw new Error(
      `checking for claim before creating it: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

const hasFinalizer = ({ metadata }: ResourceClaim): boolean =>
  metadata.finalizers?.includes(claimFinalizer) ?? false;
