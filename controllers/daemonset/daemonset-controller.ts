// Runs one pod of a DaemonSet on every node it is meant for, rolls a new template out node by node (RollingUpdate with
// maxUnavailable and maxSurge, or OnDelete), keeps its revisions and status. What a sync does about pods is planned in
// daemon-plan.ts; here are the informers and the writes.
import { objectKey, splitKey } from "../../api/object.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { Backoff } from "../../api/queueing/backoff.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  ControllerRevision,
  DaemonSet,
  DaemonSetStatus,
} from "../../api/types/apps-v1.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import {
  controllerRevisions,
  daemonSets,
  nodes,
  pods,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { candidatesOf, claimObjects } from "../workloads/adoption.ts";
import { Expectations } from "../workloads/expectations.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { recordAll } from "../workloads/planned-event.ts";
import { createPodControl, podFromTemplate } from "../workloads/pod-control.ts";
import { PodWriter } from "../workloads/pod-writes.ts";
import {
  syncRevisions,
  type SyncedRevisions,
  revisionHash,
  revisionHashLabel,
  trimRevisions,
} from "../workloads/revision-history.ts";
import { sameStatus } from "../workloads/status-equality.ts";
import { templateForNode } from "./daemon-placement.ts";
import { groupByNode, planDaemons } from "./daemon-plan.ts";
import type { DaemonPlan } from "./daemon-plan.ts";
import { daemonStatus } from "./daemon-status.ts";

/** Between replacements of failed pods on a node. */
const failureBackoff = { baseMs: 1000, maxMs: 900_000 };

export function createDaemonSetController(
  context: ControllerContext,
): Controller {
  return new DaemonSetController(context).reconciler;
}

class DaemonSetController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #sets: Informer<DaemonSet>;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  readonly #revisions: Informer<ControllerRevision>;
  readonly #recorder: EventWriter;
  readonly #expectations: Expectations;
  readonly #podWriter: PodWriter;
  /** `uid/node` → how long to wait before a failed pod there is replaced again. */
  readonly #failures = new Map<
    string,
    { readonly backoff: Backoff; untilMs: number }
  >();

  constructor(context: ControllerContext) {
    const { client, clock, options } = context;
    const indexes = { controller: controllerIndex };
    this.#context = context;
    this.#sets = client.informer(daemonSets);
    this.#nodes = client.informer(nodes);
    this.#pods = client.informer(pods, { indexes });
    this.#revisions = client.informer(controllerRevisions, {
      indexes: { controller: controllerIndex },
    });
    this.#recorder = context.recorder("daemonset-controller");
    this.#expectations = new Expectations(clock);
    this.#podWriter = new PodWriter(
      createPodControl(client, this.#recorder),
      this.#expectations,
    );
    this.reconciler = new Reconciler({
      name: "daemonset-controller",
      context,
      concurrency: options.concurrentDaemonsetSyncs,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#watch();
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const set = this.#sets.lister.get(name, namespace);
    if (!set) return this.#expectations.forget(key);
    const selector = selectorFromObject(set.spec.selector);
    if (selector.empty)
      return this.#recorder.event(
        set,
        "Warning",
        "SelectingAll",
        "This daemon set is selecting all pods. A non-empty selector is required.",
      );
    if (set.metadata.deletionTimestamp) return;
    const { client, clock } = this.#context;
    const revised = await this.#syncRevisions(set);
    // Asked before adoption takes its time: pods seen meanwhile are not among the pods looked at here.
    const mayManage = this.#expectations.satisfied(key);
    const owned = await claimObjects({
      client,
      ownerRef: daemonSets,
      owner: set,
      selector,
      ref: pods,
      candidates: candidatesOf(this.#pods, set),
    });
    const hash = revisionHash(revised.revision);
    const state = {
      set,
      nodes: this.#nodes.lister.list(),
      podsByNode: groupByNode(owned),
      hash,
      nowMs: clock.now(),
    };
    let waitMs: number | undefined;
    if (mayManage) {
      const plan = planDaemons(state, (node) => this.#failureWaitMs(set, node));
      ({ waitMs } = plan);
      await this.#carryOut(key, set, hash, plan);
    }
    const inUse = owned.map(
      ({ metadata }) => metadata.labels?.[revisionHashLabel] ?? "",
    );
    await trimRevisions(
      client,
      revised.history,
      new Set(inUse).add(hash),
      set.spec.revisionHistoryLimit ?? 10,
    );
    const status = daemonStatus({ ...state, nowMs: clock.now() });
    await this.#writeStatus(set, status);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0 && status.numberReady !== status.numberAvailable)
      waitMs = Math.min(waitMs ?? Infinity, minReadySeconds * 1000);
    return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
  }

  #syncRevisions(set: DaemonSet): Promise<SyncedRevisions> {
    return syncRevisions(
      this.#context.client,
      daemonSets,
      set,
      this.#revisions,
      (collisionCount) =>
        this.#writeStatus(set, { ...set.status!, collisionCount }),
    );
  }

  /** 0: failed pods there may be replaced now, and the next ones wait twice as long. */
  #failureWaitMs(set: DaemonSet, nodeName: string): number {
    const key = `${set.metadata.uid}/${nodeName}`;
    const nowMs = this.#context.clock.monotonic();
    let failure = this.#failures.get(key);
    if (!failure) {
      failure = { backoff: new Backoff(failureBackoff), untilMs: nowMs };
      this.#failures.set(key, failure);
    }
    if (failure.untilMs > nowMs) return failure.untilMs - nowMs;
    failure.untilMs = nowMs + failure.backoff.nextMs();
    return 0;
  }

  async #carryOut(
    key: string,
    set: DaemonSet,
    hash: string,
    { create, remove, events }: DaemonPlan,
  ): Promise<void> {
    recordAll(this.#recorder, set, events);
    const failure = await this.#podWriter.apply(key, set, {
      create: create.map((nodeName) => daemonPod(set, nodeName, hash)),
      remove,
    });
    if (failure !== undefined) throw failure;
  }

  async #writeStatus(set: DaemonSet, status: DaemonSetStatus): Promise<void> {
    if (sameStatus(set.status, status)) return;
    await this.#context.client
      .resource(daemonSets)
      .updateStatus({ ...set, status });
  }

  #watch(): void {
    const { queue } = this.reconciler;
    const enqueueAll = (): void => {
      for (const set of this.#sets.lister.list()) queue.add(objectKey(set));
    };
    this.reconciler
      .watch(this.#sets, {
        onAdd: (set) => queue.add(objectKey(set)),
        onUpdate: (_, set) => queue.add(objectKey(set)),
        onDelete: (set) => {
          this.#forgetFailures((key) => key.startsWith(`${set.metadata.uid}/`));
          queue.add(objectKey(set));
        },
      })
      .watch(this.#nodes, {
        onAdd: enqueueAll,
        onDelete: ({ metadata }) => {
          this.#forgetFailures((key) => key.endsWith(`/${metadata.name}`));
          enqueueAll();
        },
        onUpdate: (old, node) => {
          if (placementConcerns(old) !== placementConcerns(node)) enqueueAll();
        },
      })
      .watch(this.#revisions, {
        onDelete: (revision) => {
          const controller = controllerOf(revision);
          if (controller?.kind === "DaemonSet")
            queue.add(`${revision.metadata.namespace}/${controller.name}`);
        },
      })
      .watch(this.#pods, {
        onAdd: (pod) =>
          this.#enqueueOwner(this.#ownerOf(pod), (key) =>
            this.#expectations.creationObserved(key),
          ),
        onUpdate: (old, pod) =>
          this.#enqueueOwner(
            this.#ownerOf(pod) ?? this.#ownerOf(old),
            (key) => {
              if (pod.metadata.deletionTimestamp)
                this.#expectations.deletionObserved(
                  key,
                  pod.metadata.uid ?? "",
                );
            },
          ),
        onDelete: (pod) =>
          this.#enqueueOwner(this.#ownerOf(pod), (key) =>
            this.#expectations.deletionObserved(key, pod.metadata.uid ?? ""),
          ),
      });
  }

  #forgetFailures(matches: (key: string) => boolean): void {
    for (const key of this.#failures.keys())
      if (matches(key)) this.#failures.delete(key);
  }

  #ownerOf(pod: Pod): DaemonSet | undefined {
    const controller = controllerOf(pod);
    if (controller?.kind !== "DaemonSet") return undefined;
    const { namespace } = pod.metadata;
    const set = this.#sets.lister.get(controller.name, namespace);
    return set?.metadata.uid === controller.uid ? set : undefined;
  }

  #enqueueOwner(
    set: DaemonSet | undefined,
    observe: (key: string) => void,
  ): void {
    if (!set) return;
    const key = objectKey(set);
    observe(key);
    this.reconciler.queue.add(key);
  }
}

function daemonPod(set: DaemonSet, nodeName: string, hash: string): Pod {
  const template = templateForNode(set.spec.template, nodeName);
  const generation =
    set.metadata.annotations?.["deprecated.daemonset.template.generation"];
  template.metadata = {
    ...template.metadata,
    labels: {
      ...template.metadata?.labels,
      ...(generation === undefined
        ? {}
        : { "pod-template-generation": generation }),
      [revisionHashLabel]: hash,
    },
  };
  return podFromTemplate(template, set, controllerReference(daemonSets, set));
}

/** What of a node decides where pods run, as a text to be compared. */
function placementConcerns({ metadata, spec }: Node): string {
  return JSON.stringify([metadata.labels, spec.taints]);
}
