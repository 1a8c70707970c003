// Runs the numbered pods of a StatefulSet: made in order and removed in reverse, one at a time (OrderedReady) or all at
// once (Parallel), each with its own claims; rolls templates out from the highest ordinal down to the partition. What a
// sync does is planned in stateful-plan.ts; here are the informers and the writes.
import { isDeepStrictEqual } from "node:util";
import { isAlreadyExists } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  ControllerRevision,
  StatefulSet,
  StatefulSetStatus,
} from "../../api/types/apps-v1.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/types/core-v1.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import {
  controllerRevisions,
  persistentVolumeClaims,
  pods,
  statefulSets,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { candidatesOf, claimObjects } from "../workloads/adoption.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { recordAll } from "../workloads/planned-event.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import {
  syncRevisions,
  type SyncedRevisions,
  revisionHash,
  trimRevisions,
} from "../workloads/revision-history.ts";
import { sameStatus } from "../workloads/status-equality.ts";
import { claimRetention, isStaleClaim } from "./claim-retention.ts";
import {
  claimsOf,
  isClaimNameOf,
  newPod,
  ordinalOf,
  podName,
  revisionNameOf,
} from "./pod-identity.ts";
import { planStateful, statefulStatus } from "./stateful-plan.ts";
import type { StatefulState, StatefulWrite } from "./stateful-plan.ts";

export function createStatefulSetController(
  context: ControllerContext,
): Controller {
  return new StatefulSetController(context).reconciler;
}

/**
 * Of pods that have ended, a second and at once. A pod that its node rejects ends again right away; in the reference the
 * controller's client slows this loop (20 requests a second, 30 at once, four requests a pod).
 */
const recreations = { perSecond: 5, burst: 7 };

class StatefulSetController {
  readonly reconciler: Reconciler;
  readonly #recreations: TokenBucket;
  readonly #context: ControllerContext;
  readonly #sets: Informer<StatefulSet>;
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #revisions: Informer<ControllerRevision>;
  readonly #recorder: EventWriter;

  constructor(context: ControllerContext) {
    const { client, options } = context;
    this.#context = context;
    const { perSecond, burst } = recreations;
    this.#recreations = new TokenBucket(context.clock, perSecond, burst);
    this.#sets = client.informer(statefulSets);
    this.#pods = client.informer(pods, {
      indexes: { controller: controllerIndex },
    });
    this.#claims = client.informer(persistentVolumeClaims);
    this.#revisions = client.informer(controllerRevisions, {
      indexes: { controller: controllerIndex },
    });
    this.#recorder = context.recorder("statefulset-controller");
    this.reconciler = new Reconciler({
      name: "statefulset-controller",
      context,
      concurrency: options.concurrentStatefulsetSyncs,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#watch();
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const set = this.#sets.lister.get(name, namespace);
    if (!set) return;
    const revisions = await this.#syncRevisions(set);
    const state = await this.#observe(set, revisions);
    let failure: unknown;
    let waitMs = 0;
    if (!set.metadata.deletionTimestamp) {
      const due = this.#due(planStateful(state));
      ({ waitMs } = due);
      failure = await this.#carryOut(set, due.writes);
    }
    const { clock, client } = this.#context;
    const status = statefulStatus({ ...state, nowMs: clock.now() });
    await this.#writeStatus(set, status);
    if (failure !== undefined) throw failure;
    await trimRevisions(
      client,
      revisions.history,
      hashesInUse(state, revisions.history),
      set.spec.revisionHistoryLimit ?? 10,
    );
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const { minReadySeconds = 0 } = set.spec;
    if (
      minReadySeconds > 0 &&
      status.readyReplicas !== status.availableReplicas
    )
      return { requeueAfterMs: minReadySeconds * 1000 };
  }

  async #observe(
    set: StatefulSet,
    { history: revisions, revision: update }: SyncedRevisions,
  ): Promise<StatefulState> {
    const { client, clock } = this.#context;
    const isNumbered = (pod: Pod): boolean => ordinalOf(set, pod) >= 0;
    const claimed = await claimObjects({
      client,
      ownerRef: statefulSets,
      owner: set,
      selector: selectorFromObject(set.spec.selector),
      ref: pods,
      candidates: candidatesOf(this.#pods, set).filter(
        (pod) => controllerOf(pod) !== undefined || isNumbered(pod),
      ),
    });
    const { currentRevision: currentName } = set.status ?? {};
    return {
      set,
      owned: claimed.filter(isNumbered),
      current:
        revisions.find(({ metadata }) => metadata.name === currentName) ??
        update,
      update,
      nowMs: clock.now(),
    };
  }

  #syncRevisions(set: StatefulSet): Promise<SyncedRevisions> {
    return syncRevisions(
      this.#context.client,
      statefulSets,
      set,
      this.#revisions,
      (collisionCount) =>
        this.#writeStatus(set, { ...set.status!, collisionCount }),
    );
  }

  /** The writes without the recreations that have to wait; `waitMs`: until the next of those may be tried, 0 for none. */
  #due(planned: readonly StatefulWrite[]): {
    writes: StatefulWrite[];
    waitMs: number;
  } {
    let waitMs = 0;
    const writes = planned.filter((write) => {
      if (
        write.action !== "delete" ||
        !write.event ||
        write.pod.metadata.deletionTimestamp
      )
        return true;
      if (waitMs === 0) waitMs = this.#recreations.takeOrWaitMs();
      return waitMs === 0;
    });
    return { writes, waitMs };
  }

  /** Returns what failed; the writes behind it are left for the next sync. */
  async #carryOut(
    set: StatefulSet,
    writes: readonly StatefulWrite[],
  ): Promise<unknown> {
    const ordered = set.spec.podManagementPolicy !== "Parallel";
    try {
      for (const write of writes)
        if (write.action === "delete") {
          if (write.event) recordAll(this.#recorder, set, [write.event]);
          await this.#deletePod(set, write.pod);
        } else if (write.action === "owners")
          await this.#setClaimOwners(set, write.pod);
        else if (write.action === "claims")
          await this.#ensureClaims(set, write.ordinal);
        // Where pods do not wait for each other, one that waits for the collector holds up no other.
        else if (!(await this.#create(set, write)) && ordered) break;
    } catch (error) {
      return error;
    }
    return undefined;
  }

  /** A pod with its claims. False: one of these waits for the collector, and nothing more can be done until it is gone. */
  async #create(
    set: StatefulSet,
    { ordinal, revision }: StatefulWrite & { action: "create" },
  ): Promise<boolean> {
    const made = newPod(set, ordinal, revision);
    const claims = this.#presentClaims(set, ordinal);
    if (claims.some((claim) => isStaleClaim(claim, set, made))) return false;
    const what = `Pod ${made.metadata.name} in StatefulSet ${set.metadata.name}`;
    const going = claims.find(({ metadata }) => metadata.deletionTimestamp);
    if (going) {
      const error = new Error(`pvc ${going.metadata.name} is being deleted`);
      this.#createFailed(set, what, error);
      throw error;
    }
    await this.#ensureClaims(set, ordinal);
    const pod = await this.#createPod(set, made, what);
    if (pod) await this.#setClaimOwners(set, pod, true);
    return true;
  }

  #presentClaims(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
    return claimsOf(set, ordinal).flatMap(
      ({ metadata: { name, namespace } }) =>
        this.#claims.lister.get(name, namespace) ?? [],
    );
  }

  async #setClaimOwners(
    set: StatefulSet,
    pod: Pod,
    isNew = false,
  ): Promise<void> {
    for (const claim of this.#presentClaims(set, ordinalOf(set, pod))) {
      const { owners, conflicts } = claimRetention(claim, set, pod);
      const { metadata } = claim;
      if (conflicts && (isNew || owners))
        this.#recorder.event(
          set,
          "Warning",
          "ConflictingController",
          `PersistentVolumeClaim ${metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`,
        );
      if (owners)
        await this.#context.client.resource(persistentVolumeClaims).update({
          ...claim,
          metadata: { ...metadata, ownerReferences: owners },
        });
    }
  }

  async #ensureClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { client } = this.#context;
    for (const claim of claimsOf(set, ordinal)) {
      const { name, namespace } = claim.metadata;
      if (this.#claims.lister.get(name, namespace)) continue;
      const what = `Claim ${name} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
      try {
        await client.resource(persistentVolumeClaims).create(claim);
        this.#recorder.event(
          set,
          "Normal",
          "SuccessfulCreate",
          `create ${what} success`,
        );
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        this.#createFailed(set, what, error);
        throw error;
      }
    }
  }

  /** Undefined: it is there already, or its namespace goes. */
  async #createPod(
    set: StatefulSet,
    pod: Pod,
    what: string,
  ): Promise<Pod | undefined> {
    try {
      const created = await this.#context.client.resource(pods).create(pod);
      this.#recorder.event(
        set,
        "Normal",
        "SuccessfulCreate",
        `create ${what} successful`,
      );
      return created;
    } catch (error) {
      if (isAlreadyExists(error) || isNamespaceTerminating(error))
        return undefined;
      this.#createFailed(set, what, error);
      throw error;
    }
  }

  #createFailed(set: StatefulSet, what: string, error: unknown): void {
    this.#recorder.event(
      set,
      "Warning",
      "FailedCreate",
      `create ${what} failed error: ${errorText(error)}`,
    );
  }

  async #deletePod(set: StatefulSet, pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    await this.#context.client
      .resource(pods)
      .delete(name, namespace, uid ? { preconditions: { uid } } : {});
    this.#recorder.event(
      set,
      "Normal",
      "SuccessfulDelete",
      `delete Pod ${name} in StatefulSet ${set.metadata.name} successful`,
    );
  }

  async #writeStatus(
    set: StatefulSet,
    status: StatefulSetStatus,
  ): Promise<void> {
    if (sameStatus(set.status, status)) return;
    await this.#context.client
      .resource(statefulSets)
      .updateStatus({ ...set, status });
  }

  #watch(): void {
    const enqueueOwner = (pod: Pod): void => this.#enqueueOwner(pod);
    this.reconciler
      .watchAll(this.#sets, (set) => this.reconciler.queue.add(objectKey(set)))
      .watch(this.#pods, {
        onAdd: enqueueOwner,
        onUpdate: (old, pod) => {
          if (controllerOf(old)?.uid !== controllerOf(pod)?.uid)
            enqueueOwner(old);
          enqueueOwner(pod);
        },
        onDelete: enqueueOwner,
      })
      .watch(this.#claims, {
        onAdd: () => undefined,
        onUpdate: (old, claim) => {
          const { ownerReferences, deletionTimestamp } = claim.metadata;
          if (
            deletionTimestamp !== old.metadata.deletionTimestamp ||
            !isDeepStrictEqual(ownerReferences, old.metadata.ownerReferences)
          )
            this.#enqueueClaimant(claim);
        },
        onDelete: (claim) => this.#enqueueClaimant(claim),
      });
  }

  #enqueueClaimant({ metadata }: PersistentVolumeClaim): void {
    for (const set of this.#sets.lister.list(metadata.namespace))
      if (isClaimNameOf(set, metadata.name))
        this.reconciler.queue.add(objectKey(set));
  }

  #enqueueOwner(pod: Pod): void {
    const { queue } = this.reconciler;
    const { namespace, labels } = pod.metadata;
    const controller = controllerOf(pod);
    if (controller) {
      if (controller.kind === "StatefulSet")
        queue.add(`${namespace}/${controller.name}`);
      return;
    }
    for (const set of this.#sets.lister.list(namespace))
      if (
        ordinalOf(set, pod) >= 0 &&
        selectorFromObject(set.spec.selector).matches(labels)
      )
        queue.add(objectKey(set));
  }
}

function hashesInUse(
  { owned, current, update }: StatefulState,
  revisions: readonly ControllerRevision[],
): Set<string> {
  const names = new Set(owned.map(revisionNameOf));
  return new Set(
    [
      current,
      update,
      ...revisions.filter(({ metadata }) => names.has(metadata.name)),
    ].map(revisionHash),
  );
}
