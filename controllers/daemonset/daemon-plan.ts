// What a sync of a DaemonSet does about its pods, as a function of set, nodes and pods: first every node gets the pods it
// is meant to have; only when that is done a new template is rolled out. Nothing here writes.
import { objectKey } from "../../api/object.ts";
import { scaledValue } from "../../api/objects/int-or-string.ts";
import {
  isPodAvailable,
  isPodReady,
  isPodTerminal,
} from "../../api/objects/pod-state.ts";
import type { DaemonSet } from "../../api/types/apps-v1.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import { revisionHashLabel } from "../workloads/revision-history.ts";
import { daemonPlacement, intendedNode } from "./daemon-placement.ts";

/** Pods made, and pods ended, in one sync, at most. */
const burst = 250;

export interface DaemonState {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>;
  /** Of the present template. */
  readonly hash: string;
  readonly nowMs: number;
}

export interface DaemonPlan {
  /** Names of nodes. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  readonly events: readonly PlannedEvent[];
  /** Until a failed pod may be replaced. */
  readonly waitMs: number | undefined;
}

/** Under "": those that are meant for no node. One that has ended and is being deleted does not count. */
export function groupByNode(list: readonly Pod[]): Map<string, Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of list) {
    if (isPodTerminal(pod) && pod.metadata.deletionTimestamp) continue;
    const node = intendedNode(pod.spec);
    const group = groups.get(node);
    if (group) group.push(pod);
    else groups.set(node, [pod]);
  }
  return groups;
}

/** @param failureWaitMs how long failed pods on a node have to wait before they are replaced; asked once a node */
export function planDaemons(
  state: DaemonState,
  failureWaitMs: (nodeName: string) => number,
): DaemonPlan {
  const placed = placeDaemons(state, failureWaitMs);
  const { updateStrategy } = state.set.spec;
  const rolls = (updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
  const { create, remove } =
    rolls && placed.create.length + placed.remove.length === 0
      ? rollDaemons(state)
      : placed;
  return {
    ...placed,
    create: create.slice(0, burst),
    remove: remove.slice(0, burst),
  };
}

function placeDaemons(
  state: DaemonState,
  failureWaitMs: (nodeName: string) => number,
): DaemonPlan {
  const { set, nodes, podsByNode } = state;
  const create: string[] = [];
  const remove: Pod[] = [];
  const events: PlannedEvent[] = [];
  let waitMs: number | undefined;
  for (const node of nodes) {
    const { name } = node.metadata;
    const there = podsByNode.get(name) ?? [];
    const staying = there.filter(isStaying);
    const placement = daemonPlacement(set.spec.template, node);
    if (!placement.mayContinue) {
      remove.push(...staying);
      continue;
    }
    const failed = staying.filter(({ status }) => status?.phase === "Failed");
    if (failed.length > 0) {
      const nodeWaitMs = failureWaitMs(name);
      if (nodeWaitMs > 0) waitMs = Math.min(waitMs ?? Infinity, nodeWaitMs);
      else {
        remove.push(...failed);
        events.push(...failed.map((pod) => failedEvent(pod, name)));
      }
    }
    const succeeded = staying.filter(
      ({ status }) => status?.phase === "Succeeded",
    );
    remove.push(...succeeded);
    events.push(...succeeded.map((pod) => succeededEvent(pod, name)));
    const running = staying.filter((pod) => !isPodTerminal(pod)).sort(byAge);
    const isEmpty = surges(set) ? running.length === 0 : there.length === 0;
    if (placement.shouldRun && isEmpty) create.push(name);
    if (running.length > 1)
      remove.push(
        ...(surges(set) ? surplusOfSurge(state, running) : running.slice(1)),
      );
  }
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const [nodeName, there] of podsByNode)
    if (nodeName !== "" && !known.has(nodeName))
      remove.push(
        ...there.filter((pod) => isStaying(pod) && !pod.spec.nodeName),
      );
  return { create, remove, events, waitMs };
}

/**
 * During a surge two are right: the oldest of another template while that is ready, and the oldest of the present one until
 * that is available.
 */
function surplusOfSurge(state: DaemonState, running: readonly Pod[]): Pod[] {
  const isFresh = ({ metadata }: Pod): boolean =>
    metadata.labels?.[revisionHashLabel] === state.hash;
  const fresh = running.find(isFresh);
  const old = running.find((pod) => !isFresh(pod));
  const surplus = running.filter((pod) => pod !== fresh && pod !== old);
  const isDone =
    fresh && old && (!isPodReady(old) || isAvailable(state, fresh));
  return isDone ? [...surplus, old] : surplus;
}

const succeededEvent = (pod: Pod, nodeName: string): PlannedEvent => ({
  type: "Normal",
  reason: "SucceededDaemonPod",
  message: `Found succeeded daemon pod ${objectKey(pod)} on node ${nodeName}, will try to delete it`,
});

const failedEvent = (pod: Pod, nodeName: string): PlannedEvent => ({
  type: "Warning",
  reason: "FailedDaemonPod",
  message: `Found failed daemon pod ${objectKey(pod)} on node ${nodeName}, will try to kill it`,
});

/** Replaces pods of earlier templates: as many as may be unavailable, or as may be there in surplus. */
function rollDaemons(
  state: DaemonState,
): Pick<DaemonPlan, "create" | "remove"> {
  const { set, nodes } = state;
  const eligible = nodes.filter(
    (node) => daemonPlacement(set.spec.template, node).shouldRun,
  );
  const { maxSurge = 0, maxUnavailable = 1 } =
    set.spec.updateStrategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, eligible.length, "up");
  return surge > 0
    ? rollBySurge(state, eligible, surge)
    : rollInPlace(
        state,
        eligible,
        Math.max(1, scaledValue(maxUnavailable, eligible.length, "up")),
      );
}

function rollBySurge(
  state: DaemonState,
  nodes: readonly Node[],
  surge: number,
): Pick<DaemonPlan, "create" | "remove"> {
  const create: string[] = [];
  const remove: Pod[] = [];
  let surging = 0;
  for (const { metadata } of nodes) {
    const { fresh, old } = generationsOn(state, metadata.name);
    if (!old) continue;
    if (fresh) {
      if (isAvailable(state, fresh) || !isPodReady(old)) remove.push(old);
      else surging++;
    } else if (isAvailable(state, old)) create.push(metadata.name);
    else remove.push(old);
  }
  return { create: create.slice(0, Math.max(0, surge - surging)), remove };
}

function rollInPlace(
  state: DaemonState,
  nodes: readonly Node[],
  unavailable: number,
): Pick<DaemonPlan, "create" | "remove"> {
  const serving: Pod[] = [];
  const broken: Pod[] = [];
  let down = 0;
  for (const { metadata } of nodes) {
    const { fresh, old } = generationsOn(state, metadata.name);
    if (old && isAvailable(state, old)) serving.push(old);
    else if (old) {
      // This pod serves no request: replacing it costs nothing.
      broken.push(old);
      down++;
    } else if (!fresh || !isAvailable(state, fresh)) down++;
  }
  const more = Math.max(0, unavailable - down);
  return { create: [], remove: [...broken, ...serving.slice(0, more)] };
}

/** The first pod of the present template on a node and the first of another, deleted ones left out. */
function generationsOn(
  { podsByNode, hash }: DaemonState,
  nodeName: string,
): { fresh: Pod | undefined; old: Pod | undefined } {
  const there = (podsByNode.get(nodeName) ?? []).filter(isStaying);
  const isFresh = ({ metadata }: Pod): boolean =>
    metadata.labels?.[revisionHashLabel] === hash;
  return {
    fresh: there.find(isFresh),
    old: there.find((pod) => !isFresh(pod)),
  };
}

const isAvailable = ({ set, nowMs }: DaemonState, pod: Pod): boolean =>
  isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);

const isStaying = (pod: Pod): boolean => !pod.metadata.deletionTimestamp;

/** Those that have a node come first, then the older. */
export function byAge(a: Pod, b: Pod): number {
  const assigned = Number(!a.spec.nodeName) - Number(!b.spec.nodeName);
  if (assigned !== 0) return assigned;
  const [left, right] = [a, b].map(
    ({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`,
  );
  return left! < right! ? -1 : 1;
}

function surges(set: DaemonSet): boolean {
  const surge = set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return surge !== 0 && surge !== "0%";
}
