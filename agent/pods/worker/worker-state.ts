// The states of a pod's worker and the only steps between them. Pure. The phase only moves right, `removed` only becomes
// true, and what was asked for first when the pod was ended stays, but for the grace, which only gets shorter:
//
//   syncing ──(ended | removed)──▶ terminating ──(torn down)──▶ terminated ──(cleaned up)──▶ gone
//
// Worked example: a pod is evicted, then its object is deleted, then its containers end, then it is torn down:
//   syncing → terminating{Evicted} → terminating{Evicted, removed} → terminating{…, left} → terminated{…, clean} → gone
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodFailure } from "../../status/pod-status.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";

export interface EndRequest {
  /** Overrides the pod's own grace. */
  graceSeconds?: number;
  /** The agent ends it: what the status says. */
  failure?: PodFailure;
  /** The node refused the pod: nothing of it was ever made. */
  refused?: boolean;
}

interface Leaving {
  readonly end: EndRequest;
  /** The sources no longer have the pod. */
  readonly removed: boolean;
}

export interface Terminating extends Leaving {
  readonly phase: "terminating";
  /** What the runtime had of the pod when every container had ended. */
  readonly left?: RuntimePod;
}

export interface Terminated extends Leaving {
  readonly phase: "terminated";
  readonly left: RuntimePod | undefined;
  /** Nothing of `left` is in the runtime any more. */
  readonly clean: boolean;
}

export type WorkerState =
  | { readonly phase: "syncing" }
  | Terminating
  | Terminated
  | { readonly phase: "gone" };

export const syncing: WorkerState = { phase: "syncing" };
export const gone: WorkerState = { phase: "gone" };

/** Deleted, evicted, refused, or all containers ended for good. */
export function ended(state: WorkerState, end: EndRequest): WorkerState {
  if (state.phase === "syncing")
    return { phase: "terminating", end, removed: false };
  if (state.phase !== "terminating" || end.graceSeconds === undefined)
    return state;
  const { graceSeconds: before = Infinity } = state.end;
  const graceSeconds = Math.min(before, end.graceSeconds);
  return { ...state, end: { ...state.end, graceSeconds } };
}

export function removed(state: WorkerState): WorkerState {
  if (state.phase === "syncing")
    return { phase: "terminating", end: {}, removed: true };
  return state.phase === "gone" ? state : { ...state, removed: true };
}

/** The sources no longer have the pod. */
export function isRemoved(state: WorkerState): boolean {
  return state.phase === "gone" || ("removed" in state && state.removed);
}

/** The agent ended it for the node's sake or for its limits, or one that ran before this one did. */
export function isEvicted(
  state: WorkerState,
  { status }: Pick<Pod, "status">,
): boolean {
  const end = "end" in state ? state.end : {};
  return !end.refused && (end.failure ?? status)?.reason === "Evicted";
}

export function containersEnded(
  state: WorkerState,
  left: RuntimePod,
): WorkerState {
  return state.phase === "terminating" ? { ...state, left } : state;
}

/** `clean`: containers and sandboxes were removed from the runtime as well. */
export function tornDown(state: WorkerState, clean: boolean): WorkerState {
  if (state.phase !== "terminating") return state;
  const { end, removed: isRemoved, left } = state;
  return { phase: "terminated", end, removed: isRemoved, left, clean };
}

export function cleaned(state: WorkerState): WorkerState {
  return state.phase === "terminated" ? { ...state, clean: true } : state;
}
