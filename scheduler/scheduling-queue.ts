// The pods that wait for a node, in three places: active (to be tried now, highest priority first, then oldest),
// back-off (to be tried again soon) and unschedulable (waits for an event that one of the filters which rejected it
// cares about, or five minutes). A failed pod backs off 0.1, 0.2, 0.4 … 10 s unless options say otherwise, counted from
// its last try.
//
// Example: a pod rejected by NodeResourcesFit waits in unschedulable; a pod on some node ends → event "pod-removed" →
// back-off until its time is over, then active.
//
// Invariant: a pod key is in at most one of the three places; one timer serves back-off and the five minutes.
import { BinaryHeap } from "../api/queueing/binary-heap.ts";
import type { Clock, Timer } from "../api/clock.ts";
import { objectKey } from "../api/object.ts";
import { backoffMs } from "../api/queueing/backoff.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { ClusterEvent } from "./plugin.ts";

/** The reference starts at a second; that is long for a node that has just become ready, and events are filtered. */
const defaultInitialBackoffMs = 100;
const defaultMaxUnschedulableMs = 300_000;

interface QueueOptions {
  readonly initialBackoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  /** How long a pod waits for an event at most. */
  readonly maxUnschedulableMs?: number | undefined;
  /** Pods that are not to be tried yet; default: those with scheduling gates. */
  readonly isGated?: (pod: Pod) => boolean;
  /** A pod comes into a queue; `event` is the reference's name of what brought it there. */
  readonly onQueued?: (queue: PendingQueue, event: string) => void;
}

/** The reference's names of events; those of volumes say themselves what they are of. */
const eventNames: Readonly<Record<ClusterEvent, string>> = {
  "node-added": "NodeAdd",
  "node-taints": "NodeUpdateNodeTaint",
  "node-labels": "NodeUpdateNodeLabel",
  "node-allocatable": "NodeUpdateNodeAllocatable",
  "pod-added": "AssignedPodAdd",
  "pod-labels": "AssignedPodUpdatePodLabel",
  "pod-removed": "AssignedPodDelete",
  volume: "PersistentVolumeClaimUpdate",
  claim: "resource.k8s.io/ResourceClaimUpdate",
};

export interface QueuedPod {
  readonly key: string;
  pod: Pod;
  attempts: number;
  /** When the first try began, monotonic ms. */
  firstTriedMs: number;
  /** Plug-ins that refused it at the last try. */
  refusedBy: ReadonlySet<string>;
  /** First added, monotonic ms. */
  readonly addedMs: number;
  /** Pods added within one millisecond keep their order. */
  readonly sequence: number;
  /** When the last try ended, monotonic ms. */
  triedMs: number;
  /** Events that make another try worth while; undefined: any. */
  hints: ReadonlySet<ClusterEvent> | undefined;
  /** Gates keep it from being tried at all. */
  gated: boolean;
  place: "active" | "backoff" | "unschedulable" | "trying";
  /** An event came while it was being tried. */
  missedEvents: Set<ClusterEvent>;
}

const none: ReadonlySet<string> = new Set();

export type PendingQueue = "active" | "backoff" | "unschedulable" | "gated";

export class SchedulingQueue {
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active = new BinaryHeap<QueuedPod>(before);
  #waiting = 0;
  #added = 0;
  #timer: Timer | undefined;
  #timerDueMs = Infinity;
  readonly #isGated: (pod: Pod) => boolean;
  readonly #onQueued: (queue: PendingQueue, event: string) => void;
  readonly #maxUnschedulableMs: number;
  readonly #tries: { readonly baseMs: number; readonly maxMs: number };

  constructor(
    private readonly clock: Clock,
    /** Called when a pod becomes active. */
    private readonly onActive: () => void,
    options: QueueOptions = {},
  ) {
    this.#isGated = options.isGated ?? hasGates;
    this.#onQueued = options.onQueued ?? (() => undefined);
    this.#maxUnschedulableMs =
      options.maxUnschedulableMs ?? defaultMaxUnschedulableMs;
    this.#tries = {
      baseMs: options.initialBackoffMs ?? defaultInitialBackoffMs,
      maxMs: options.maxBackoffMs ?? 10_000,
    };
  }

  get size(): number {
    return this.#pods.size;
  }

  get activeSize(): number {
    return this.#active.size;
  }

  /** How many pods wait where, by the reference's names; those being tried are nowhere. */
  counts(): Record<PendingQueue, number> {
    const counts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 };
    for (const { place, gated } of this.#pods.values())
      if (place !== "trying")
        counts[place === "unschedulable" && gated ? "gated" : place]++;
    return counts;
  }

  /** Pods that wait in vain, and who refused them. */
  unschedulable(): QueuedPod[] {
    return [...this.#pods.values()].filter(
      ({ place, refusedBy }) => place !== "active" && refusedBy.size > 0,
    );
  }

  has(key: string): boolean {
    return this.#pods.has(key);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDueMs = Infinity;
  }

  add(pod: Pod): void {
    const key = objectKey(pod);
    if (this.#pods.has(key)) return this.update(pod, true);
    const nowMs = this.clock.monotonic();
    const entry: QueuedPod = {
      key,
      pod,
      attempts: 0,
      firstTriedMs: nowMs,
      refusedBy: none,
      addedMs: nowMs,
      sequence: this.#added++,
      triedMs: nowMs,
      hints: undefined,
      gated: this.#isGated(pod),
      place: "unschedulable",
      missedEvents: new Set(),
    };
    this.#pods.set(key, entry);
    if (entry.gated) this.#waiting++;
    else this.#activate(entry, "UnschedulablePodAdd");
  }

  /** @param mayFit the change could make it fit (its spec or labels changed) */
  update(pod: Pod, mayFit: boolean): void {
    const entry = this.#pods.get(objectKey(pod));
    if (!entry) return this.add(pod);
    entry.pod = pod;
    const wasGated = entry.gated;
    entry.gated = this.#isGated(pod);
    if (entry.gated) return;
    if (entry.place === "unschedulable" && (mayFit || wasGated))
      this.#moveOn(entry, "UnschedulablePodUpdate");
  }

  remove(key: string): void {
    const entry = this.#pods.get(key);
    if (!entry) return;
    this.#pods.delete(key);
    if (entry.place === "active") this.#active.remove(entry);
    else if (entry.place !== "trying") this.#waiting--;
  }

  /** The next pod to try; it has to be given back by failed() or done(). */
  pop(): QueuedPod | undefined {
    const first = this.#active.pop();
    if (!first) return undefined;
    first.place = "trying";
    if (first.attempts++ === 0) first.firstTriedMs = this.clock.monotonic();
    first.refusedBy = none;
    first.missedEvents.clear();
    return first;
  }

  /** It has a node. */
  done(entry: QueuedPod): void {
    if (this.#pods.get(entry.key) === entry && entry.place === "trying")
      this.#pods.delete(entry.key);
  }

  /** @param hints undefined: a failure that has nothing to do with the cluster's state, to be tried again after back-off */
  failed(
    entry: QueuedPod,
    hints: ReadonlySet<ClusterEvent> | undefined,
    refusedBy = none,
  ): void {
    entry.refusedBy = refusedBy;
    if (this.#pods.get(entry.key) !== entry) return;
    entry.triedMs = this.clock.monotonic();
    entry.hints = hints;
    this.#waiting++;
    const missed =
      !hints || [...entry.missedEvents].some((event) => hints.has(event));
    entry.place = missed ? "backoff" : "unschedulable";
    this.#onQueued(entry.place, "ScheduleAttemptFailure");
    this.#arm(this.#dueMs(entry));
  }

  /** Something happened that may make waiting pods fit. @param name the reference's, where it says more */
  notify(event: ClusterEvent, name = eventNames[event]): void {
    if (this.#pods.size === this.#active.size) return;
    for (const entry of this.#pods.values()) {
      if (entry.place === "trying") entry.missedEvents.add(event);
      else if (
        entry.place === "unschedulable" &&
        !entry.gated &&
        (!entry.hints || entry.hints.has(event))
      )
        this.#moveOn(entry, name);
    }
  }

  /** From unschedulable to back-off, or to active when its back-off is over. */
  #moveOn(entry: QueuedPod, event: string): void {
    const dueMs = entry.triedMs + this.#waitMs(entry);
    if (dueMs <= this.clock.monotonic()) {
      this.#waiting--;
      this.#activate(entry, event);
    } else {
      entry.place = "backoff";
      this.#onQueued("backoff", event);
      this.#arm(dueMs);
    }
  }

  #activate(entry: QueuedPod, event: string): void {
    entry.place = "active";
    this.#onQueued("active", event);
    this.#active.push(entry);
    this.onActive();
  }

  #dueMs(entry: QueuedPod): number {
    return (
      entry.triedMs +
      (entry.place === "backoff"
        ? this.#waitMs(entry)
        : this.#maxUnschedulableMs)
    );
  }

  #waitMs({ attempts }: QueuedPod): number {
    return attempts === 0 ? 0 : backoffMs(this.#tries, attempts - 1);
  }

  #arm(dueMs: number): void {
    if (dueMs >= this.#timerDueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    const delayMs = Math.max(0, dueMs - this.clock.monotonic());
    this.#timer = this.clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#timerDueMs = Infinity;
      if (this.#waiting > 0) this.#wake();
    });
  }

  #wake(): void {
    const nowMs = this.clock.monotonic();
    let nextMs = Infinity;
    for (const entry of this.#pods.values()) {
      if (entry.gated) continue;
      if (entry.place !== "backoff" && entry.place !== "unschedulable")
        continue;
      const dueMs = this.#dueMs(entry);
      if (dueMs <= nowMs + 1) {
        this.#waiting--;
        this.#activate(
          entry,
          entry.place === "backoff"
            ? "BackoffComplete"
            : "UnschedulableTimeout",
        );
      } else nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs < Infinity) this.#arm(nextMs);
  }
}

function hasGates(pod: Pod): boolean {
  return (pod.spec.schedulingGates?.length ?? 0) > 0;
}

function before(a: QueuedPod, b: QueuedPod): boolean {
  const left = a.pod.spec.priority ?? 0;
  const right = b.pod.spec.priority ?? 0;
  if (left !== right) return left > right;
  return a.addedMs !== b.addedMs
    ? a.addedMs < b.addedMs
    : a.sequence < b.sequence;
}
