// Runs one pod of a DaemonSet on every node it is meant for, rolls a new template out node by node (RollingUpdate with
// maxUnavailable and maxSurge, or OnDelete), keeps its revisions and status.
import { objectKey, splitKey } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  ControllerRevision,
  DaemonSet,
  DaemonSetStatus,
} from "../../api/types/apps-v1.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import { Backoff } from "../../api/queueing/backoff.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { isPodAvailable, isPodReady } from "../../api/objects/pod-state.ts";
import {
  controllerRevisions,
  daemonSets,
  nodes,
  pods,
} from "../../client/resources.ts";
import { claimObjects } from "../workloads/adoption.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Expectations } from "../workloads/expectations.ts";
import { controllerIndex, orphansOf } from "../workloads/informer-indexes.ts";
import { scaledValue } from "../../api/objects/int-or-string.ts";
import {
  createPodControl,
  isNamespaceTerminating,
  podFromTemplate,
  slowStartBatch,
} from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import {
  currentRevision,
  listRevisions,
  revisionHash,
  revisionHashLabel,
  trimRevisions,
} from "../workloads/revision-history.ts";
import {
  daemonPlacement,
  intendedNode,
  templateForNode,
} from "./daemon-placement.ts";

const burst = 250;

interface Actions {
  create: string[];
  remove: Pod[];
  waitMs: number | undefined;
}

export function createDaemonSetController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const indexes = { controller: controllerIndex };
  const informer = client.informer(daemonSets);
  const nodeInformer = client.informer(nodes);
  const podInformer = client.informer(pods, { indexes });
  const revisionInformer = client.informer(controllerRevisions, {
    indexes: { controller: controllerIndex },
  });
  const recorder = context.recorder("daemonset-controller");
  const control = createPodControl(client, recorder);
  const expectations = new Expectations(clock);
  /** `uid/node` → how long to wait before a failed pod there is replaced again. */
  const failures = new Map<string, { backoff: Backoff; untilMs: number }>();
  const reconciler = new Reconciler({
    name: "daemonset-controller",
    context,
    concurrency: context.options.concurrentDaemonsetSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const set = informer.lister.get(name, namespace);
    if (!set) return expectations.forget(key);
    const selector = selectorFromObject(set.spec.selector);
    if (selector.empty) {
      recorder.event(
        set,
        "Warning",
        "SelectingAll",
        "This daemon set is selecting all pods. A non-empty selector is required.",
      );
      return;
    }
    if (set.metadata.deletionTimestamp) return;
    const given = {
      client,
      ref: daemonSets,
      owner: set,
      selector,
      template: set.spec.template,
      labels: set.spec.template.metadata?.labels ?? {},
      collisionCount: set.status?.collisionCount,
    };
    const history = await listRevisions(given, revisionInformer);
    const { revision, collision } = await currentRevision(given, history);
    if (collision) {
      await writeStatus(set, {
        ...set.status!,
        collisionCount: (set.status?.collisionCount ?? 0) + 1,
      });
      throw new Error("controller revision name collided");
    }
    const owned = await claimObjects({
      client,
      ownerRef: daemonSets,
      owner: set,
      selector,
      ref: pods,
      candidates: [
        ...podInformer.lister.byIndex("controller", set.metadata.uid ?? ""),
        ...podInformer.lister.byIndex("controller", orphansOf(namespace)),
      ],
    });
    const byNode = grouped(owned);
    let waitMs: number | undefined;
    if (expectations.satisfied(key)) {
      const actions = placementActions(set, byNode);
      if (
        actions.create.length + actions.remove.length === 0 &&
        (set.spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate"
      )
        rollingActions(set, byNode, revisionHash(revision), actions);
      ({ waitMs } = actions);
      await act(key, set, revision, actions);
    }
    const inUse = new Set(
      owned.map((pod) => pod.metadata.labels?.[revisionHashLabel] ?? ""),
    ).add(revisionHash(revision));
    await trimRevisions(
      client,
      history,
      inUse,
      set.spec.revisionHistoryLimit ?? 10,
    );
    const status = statusOf(set, byNode, revisionHash(revision));
    await writeStatus(set, status);
    const { minReadySeconds = 0 } = set.spec;
    if (
      minReadySeconds > 0 &&
      status.numberReady !== (status.numberAvailable ?? 0)
    )
      waitMs = Math.min(waitMs ?? Infinity, minReadySeconds * 1000);
    return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
  }

  function placementActions(
    set: DaemonSet,
    byNode: ReadonlyMap<string, readonly Pod[]>,
  ): Actions {
    const actions: Actions = { create: [], remove: [], waitMs: undefined };
    for (const node of nodeInformer.lister.list()) {
      const { name } = node.metadata;
      const there = byNode.get(name) ?? [];
      const { shouldRun, mayContinue } = daemonPlacement(
        set.spec.template,
        node,
      );
      if (!mayContinue) {
        actions.remove.push(...there.filter(isNotEnding));
        continue;
      }
      const failed = there.filter(
        (pod) => pod.status?.phase === "Failed" && isNotEnding(pod),
      );
      if (failed.length > 0) {
        const waitMs = failureWait(set, name);
        if (waitMs > 0)
          actions.waitMs = Math.min(actions.waitMs ?? Infinity, waitMs);
        else {
          for (const pod of failed)
            recorder.event(
              set,
              "Warning",
              "FailedDaemonPod",
              `Found failed daemon pod ${objectKey(pod)} on node ${name}, will try to kill it`,
            );
          actions.remove.push(...failed);
        }
        continue;
      }
      const running = there.filter(isNotEnding);
      if (shouldRun && there.length === 0) actions.create.push(name);
      // During a surge two are right: one old, one new.
      if (running.length > 1 && !surges(set)) {
        const [, ...extra] = [...running].sort(byAge);
        actions.remove.push(...extra);
      }
    }
    for (const [nodeName, there] of byNode)
      if (nodeName !== "" && !nodeInformer.lister.get(nodeName))
        actions.remove.push(
          ...there.filter((pod) => isNotEnding(pod) && !pod.spec.nodeName),
        );
    return actions;
  }

  /** 1 s, 2 s … 15 min between replacements of failed pods on a node. */
  function failureWait(set: DaemonSet, nodeName: string): number {
    const key = `${set.metadata.uid}/${nodeName}`;
    const nowMs = clock.monotonic();
    let failure = failures.get(key);
    if (!failure) {
      failure = {
        backoff: new Backoff({ baseMs: 1000, maxMs: 900_000 }),
        untilMs: nowMs,
      };
      failures.set(key, failure);
    }
    if (failure.untilMs > nowMs) return failure.untilMs - nowMs;
    failure.untilMs = nowMs + failure.backoff.nextMs();
    return 0;
  }

  function rollingActions(
    set: DaemonSet,
    byNode: ReadonlyMap<string, readonly Pod[]>,
    hash: string,
    actions: Actions,
  ): void {
    const { minReadySeconds = 0, updateStrategy } = set.spec;
    const eligible = nodeInformer.lister
      .list()
      .filter((node) => daemonPlacement(set.spec.template, node).shouldRun);
    const total = eligible.length;
    const { rollingUpdate } = updateStrategy ?? {};
    const surge = scaledValue(rollingUpdate?.maxSurge ?? 0, total, "up");
    const unavailable =
      surge > 0
        ? 0
        : Math.max(
            1,
            scaledValue(rollingUpdate?.maxUnavailable ?? 1, total, "up"),
          );
    const available = (pod: Pod | undefined): boolean =>
      pod !== undefined &&
      isNotEnding(pod) &&
      isPodAvailable(pod, minReadySeconds, clock.now());
    const isNew = (pod: Pod): boolean =>
      pod.metadata.labels?.[revisionHashLabel] === hash;
    let down = 0;
    let surging = 0;
    const candidates: Pod[] = [];
    const surgeNodes: string[] = [];
    for (const { metadata } of eligible) {
      const there = byNode.get(metadata.name) ?? [];
      const fresh = there.find((pod) => isNew(pod) && isNotEnding(pod));
      const old = there.find((pod) => !isNew(pod) && isNotEnding(pod));
      if (surge > 0) {
        if (old && fresh) {
          if (available(fresh) || !isPodReady(old)) actions.remove.push(old);
          else surging++;
        } else if (old) {
          if (!available(old)) actions.remove.push(old);
          else surgeNodes.push(metadata.name);
        }
        continue;
      }
      if (old && !available(old)) {
        // It serves nobody: replacing it costs nothing.
        actions.remove.push(old);
        down++;
      } else if (old) candidates.push(old);
      else if (!available(fresh)) down++;
    }
    actions.create.push(...surgeNodes.slice(0, Math.max(0, surge - surging)));
    actions.remove.push(
      ...candidates.slice(0, Math.max(0, unavailable - down)),
    );
  }

  async function act(
    key: string,
    set: DaemonSet,
    revision: ControllerRevision,
    actions: Actions,
  ): Promise<void> {
    const create = actions.create.slice(0, burst);
    const remove = actions.remove.slice(0, burst);
    if (create.length + remove.length === 0) return;
    expectations.expect(
      key,
      create.length,
      remove.map((pod) => pod.metadata.uid ?? ""),
    );
    const reference = controllerReference(daemonSets, set);
    const { successes, error } = await slowStartBatch(
      create.length,
      async (index) => {
        const template = templateForNode(set.spec.template, create[index]!);
        template.metadata = {
          ...template.metadata,
          labels: {
            ...template.metadata?.labels,
            [revisionHashLabel]: revisionHash(revision),
          },
        };
        try {
          await control.create(podFromTemplate(template, set, reference), set);
        } catch (caught) {
          if (!isNamespaceTerminating(caught)) throw caught;
          expectations.creationObserved(key);
        }
      },
    );
    for (let lost = successes; lost < create.length; lost++)
      expectations.creationObserved(key);
    const results = await Promise.allSettled(
      remove.map((pod) =>
        control.delete(pod, set).catch((caught: unknown) => {
          expectations.deletionObserved(key, pod.metadata.uid ?? "");
          throw caught;
        }),
      ),
    );
    const failed = results.find((result) => result.status === "rejected");
    if (error !== undefined) throw error;
    if (failed) throw failed.reason;
  }

  function statusOf(
    set: DaemonSet,
    byNode: ReadonlyMap<string, readonly Pod[]>,
    hash: string,
  ): DaemonSetStatus {
    const counts = {
      desiredNumberScheduled: 0,
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
      numberAvailable: 0,
      updatedNumberScheduled: 0,
    };
    for (const node of nodeInformer.lister.list()) {
      const { shouldRun } = daemonPlacement(set.spec.template, node);
      const there = byNode.get(node.metadata.name) ?? [];
      if (!shouldRun) {
        if (there.length > 0) counts.numberMisscheduled++;
        continue;
      }
      counts.desiredNumberScheduled++;
      if (there.length === 0) continue;
      counts.currentNumberScheduled++;
      const [pod] = [...there].sort(byAge);
      if (isPodReady(pod!)) {
        counts.numberReady++;
        if (isPodAvailable(pod!, set.spec.minReadySeconds ?? 0, clock.now()))
          counts.numberAvailable++;
      }
      if (pod!.metadata.labels?.[revisionHashLabel] === hash)
        counts.updatedNumberScheduled++;
    }
    const { collisionCount, conditions } = set.status ?? {};
    return {
      ...counts,
      numberUnavailable: counts.desiredNumberScheduled - counts.numberAvailable,
      observedGeneration: set.metadata.generation ?? 0,
      ...(collisionCount === undefined ? {} : { collisionCount }),
      ...(conditions ? { conditions } : {}),
    };
  }

  async function writeStatus(
    set: DaemonSet,
    status: DaemonSetStatus,
  ): Promise<void> {
    if (sameJson(withoutZeros(set.status), withoutZeros(status))) return;
    await client.resource(daemonSets).updateStatus({ ...set, status });
  }

  function ownerOf(pod: Pod): DaemonSet | undefined {
    const controller = controllerOf(pod);
    if (controller?.kind !== "DaemonSet") return undefined;
    const set = informer.lister.get(controller.name, pod.metadata.namespace);
    return set?.metadata.uid === controller.uid ? set : undefined;
  }
  const enqueueAll = (): void => {
    for (const set of informer.lister.list()) queue.add(objectKey(set));
  };

  return reconciler
    .watchAll(informer, (set) => queue.add(objectKey(set)))
    .watch(nodeInformer, {
      onAdd: enqueueAll,
      onDelete: enqueueAll,
      onUpdate: (old, node) => {
        if (placementConcerns(old) !== placementConcerns(node)) enqueueAll();
      },
    })
    .watch(revisionInformer, {
      onDelete: (revision) => {
        const controller = controllerOf(revision);
        if (controller?.kind === "DaemonSet")
          queue.add(`${revision.metadata.namespace}/${controller.name}`);
      },
    })
    .watch(podInformer, {
      onAdd: (pod) => {
        const set = ownerOf(pod);
        if (!set) return;
        expectations.creationObserved(objectKey(set));
        queue.add(objectKey(set));
      },
      onUpdate: (old, pod) => {
        const set = ownerOf(pod) ?? ownerOf(old);
        if (!set) return;
        if (pod.metadata.deletionTimestamp)
          expectations.deletionObserved(objectKey(set), pod.metadata.uid ?? "");
        queue.add(objectKey(set));
      },
      onDelete: (pod) => {
        const set = ownerOf(pod);
        if (!set) return;
        expectations.deletionObserved(objectKey(set), pod.metadata.uid ?? "");
        queue.add(objectKey(set));
      },
    });
}

const isNotEnding = (pod: Pod): boolean => !pod.metadata.deletionTimestamp;

function byAge(a: Pod, b: Pod): number {
  return (a.metadata.creationTimestamp ?? "") <
    (b.metadata.creationTimestamp ?? "")
    ? -1
    : 1;
}

function surges(set: DaemonSet): boolean {
  const surge = set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return surge !== 0 && surge !== "0%";
}

function grouped(list: readonly Pod[]): Map<string, Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of list) {
    const node = intendedNode(pod.spec);
    groups.set(node, [...(groups.get(node) ?? []), pod]);
  }
  return groups;
}

function placementConcerns(node: Node): string {
  return JSON.stringify([node.metadata.labels, node.spec.taints]);
}

function withoutZeros(status: object | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(([, value]) => value !== 0),
  );
}
