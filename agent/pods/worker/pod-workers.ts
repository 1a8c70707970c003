// All pod workers of the node: one a uid. Takes pods from the sources, wakes workers on runtime events and probe results,
// and ends what the runtime runs but no source has (only when the caller says that the sources are complete).
import { isPodTerminal } from "../../../api/objects/pod-state.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { runtimePodAsPod } from "../runtime/reconstructed-pod.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";
import { isOwn, isStaticPod, podSource } from "../shape/labels.ts";
import { LoopTurns } from "../../pacing/loop-turns.ts";
import { isToEnd, podFullName } from "../shape/pod-shape.ts";
import { PodWorker, type WorkerContext } from "./pod-worker.ts";
import type { EndRequest } from "./worker-state.ts";

export interface WorkersContext extends WorkerContext {
  readonly runtimePods: Pick<
    RuntimePods,
    "refresh" | "markDirty" | "uids" | "get"
  >;
  /** By it this agent's sandboxes and containers are recognised. */
  readonly rootDirectory: string;
}

export class PodWorkers {
  readonly #context: WorkersContext;
  readonly #workers = new Map<string, PodWorker>();
  /** The same by the full names of their pods. Several: one ends, and another takes its place. */
  readonly #named = new Map<string, Set<PodWorker>>();
  /** Pods that are wanted again while their worker still ends. */
  readonly #again = new Map<string, Pod>();
  /** Pods that wait for open(). */
  readonly #early = new Map<string, Pod>();
  #state: "closed" | "open" | "stopped" = "closed";
  readonly #onGone: ((pod: Pod) => void)[] = [];
  /** Pods that no source has and that were ended. A runtime may keep one for good whose records it has lost. */
  readonly #orphans = new Set<string>();

  readonly #turns = new LoopTurns();

  constructor(context: WorkersContext) {
    this.#context = context;
  }

  /** The runtime was read: what it runs is known, so that nothing is started twice. Before this no pod has a worker. */
  open(): void {
    if (this.#state !== "closed") return;
    this.#state = "open";
    for (const pod of this.#early.values()) this.set(pod);
    this.#early.clear();
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** The pod is known here, whether or not it has a worker yet. */
  has(uid: string): boolean {
    return this.#workers.has(uid) || this.#early.has(uid);
  }

  get(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  /** Workers of pods that the sources have, and of those that are still ending. */
  list(): PodWorker[] {
    return [...this.#workers.values()];
  }

  /** Adds the pod or hands its worker the newer version. */
  set(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    if (this.#state === "closed") this.#early.set(uid, pod);
    if (this.#state !== "open") return;
    const worker = this.#workers.get(uid);
    if (!worker) {
      const added = this.#add(pod);
      this.#context.metrics?.came(pod);
      if (pod.metadata.deletionTimestamp) added.end({});
      else added.wake();
      return;
    }
    if (worker.removed) {
      // The same pod is wanted again (a manifest put back) while it still ends.
      this.#again.set(uid, pod);
      return;
    }
    if (concernsWorker(worker.pod, pod)) worker.update(pod);
    else worker.replace(pod);
  }

  #add(pod: Pod, isWhole = true): PodWorker {
    const worker = new PodWorker(this.#context, pod, {
      isWhole,
      mayStart: () => !isStaticPod(pod) || this.#isNext(worker),
      livePods: () => this.#given(this.live()),
      wantedPods: () => this.#counted(),
      inTurn: (work) => this.#turns.run(work),
      preempt: (victim) => this.#preempt(victim),
      onRoom: () => {
        this.wakeForRoom();
        this.#wakeNamed(podFullName(pod));
      },
      onGone: () => this.#gone(pod, worker),
    });
    this.#workers.set(pod.metadata.uid ?? "", worker);
    const name = podFullName(pod);
    const named = this.#named.get(name) ?? new Set();
    this.#named.set(name, named.add(worker));
    return worker;
  }

  /** Looked at for each pod that is admitted: few count, however many wait or were refused. */
  #counted(): Pod[] {
    const { admission } = this.#context.sync;
    const counted = [...this.#workers.values()].filter(
      (worker) => admission.counts(worker.uid) && !worker.removed,
    );
    return this.#given(this.#liveOf(counted));
  }

  /** Their pods with the resources that they were given. */
  #given(workers: readonly PodWorker[]): Pod[] {
    const { resize } = this.#context.sync;
    return workers.map(({ pod }) => resize?.applied(pod) ?? pod);
  }

  #preempt(pod: Pod): void {
    const reason = "Preempting";
    const message = "Preempted in order to admit critical pod";
    this.#context.sync.events.pod(pod, "Warning", reason, message);
    this.end(pod.metadata.uid ?? "", {
      failure: {
        reason,
        message,
        disruption: true,
        disruptionMessage:
          "Pod was preempted by Kubelet to accommodate a critical pod.",
      },
    });
  }

  /** Something of the node was given back: pods that wait for it look again. */
  wakeForRoom(): void {
    for (const worker of this.#workers.values())
      if (worker.waitsForRoom) worker.wake();
  }

  #gone(pod: Pod, worker: PodWorker): void {
    const uid = pod.metadata.uid ?? "";
    this.#workers.delete(uid);
    const name = podFullName(pod);
    const named = this.#named.get(name);
    if (named?.delete(worker) && named.size === 0) this.#named.delete(name);
    const again = this.#again.get(uid);
    this.#again.delete(uid);
    if (again) {
      this.#context.metrics?.restarted(again);
      this.set(again);
    }
    this.#wakeNamed(name);
    for (const listener of this.#onGone) listener(pod);
  }

  /** Nothing of a pod is left. */
  onGone(listener: (pod: Pod) => void): void {
    this.#onGone.push(listener);
  }

  /**
   * A static pod of that full name is no longer wanted and still ends, or runs and is yet to be ended (endOrphans). Until the
   * runtime was read that is not known, and any may.
   */
  staticPodEnds(fullName: string): boolean {
    if (!this.isOpen) return true;
    return (
      [...(this.#named.get(fullName) ?? [])].some(
        ({ pod, removed }) => removed && isStaticPod(pod),
      ) ||
      this.#context.runtimePods
        .uids()
        .some((uid) => !this.#workers.has(uid) && this.#runs(uid, fullName))
    );
  }

  /** The runtime has this agent's static pod of that name. */
  #runs(uid: string, fullName: string): boolean {
    const found = this.#context.runtimePods.get(uid);
    if (!found || !this.#isOwn(found)) return false;
    const pod = runtimePodAsPod(found);
    return (
      pod !== undefined && podFullName(pod) === fullName && isStaticPod(pod)
    );
  }

  /** Workers of pods that may use something of the node: not of those that are over. */
  live(): PodWorker[] {
    return this.#liveOf(this.list());
  }

  #liveOf(workers: readonly PodWorker[]): PodWorker[] {
    return workers.filter(
      ({ phase, pod }) =>
        (phase === "syncing" || phase === "terminating") &&
        !isPodTerminal({ status: this.#context.report.status.get(pod) }),
    );
  }

  /** Of static pods of one name the one that came first runs, and the next one when that is over, as at the reference. */
  #isNext(worker: PodWorker): boolean {
    const named = [...(this.#named.get(podFullName(worker.pod)) ?? [])];
    const place = named.indexOf(worker);
    return named.every(
      (other, index) =>
        index === place ||
        (!other.removed &&
          (index > place ||
            !isStaticPod(other.pod) ||
            other.phase === "terminated")),
    );
  }

  #wakeNamed(name: string): void {
    for (const worker of this.#named.get(name) ?? []) worker.wake();
  }

  /** The sources no longer have it; `last` is the version they had last, with the grace of its deletion. */
  remove(uid: string, last?: Pod): void {
    this.#again.delete(uid);
    this.#early.delete(uid);
    const worker = this.#workers.get(uid);
    if (last) worker?.replace(last);
    worker?.remove();
  }

  end(uid: string, request: EndRequest): void {
    this.#workers.get(uid)?.end(request);
  }

  wake(uid: string): void {
    this.#workers.get(uid)?.wake();
  }

  wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake();
  }

  /**
   * Ends pods that run without being wanted. `sources`: the ones that are complete, by their config.source annotation;
   * a pod of another source is left alone.
   */
  endOrphans(isComplete: (source: string) => boolean): void {
    if (!this.isOpen) return;
    const uids = this.#context.runtimePods.uids();
    for (const uid of this.#orphans)
      if (!uids.includes(uid)) this.#orphans.delete(uid);
    for (const uid of uids) {
      if (this.#workers.has(uid)) continue;
      const found = this.#context.runtimePods.get(uid);
      if (!found) continue;
      this.#reconstructed(uid)
        .then((pod) => {
          if (
            !pod ||
            !this.isOpen ||
            this.#workers.has(uid) ||
            !isComplete(podSource(pod))
          )
            return;
          this.#noteOrphan(uid, pod);
          this.#add(pod, false).remove();
        })
        .catch((error: unknown) =>
          this.#context.logger.warn(
            { err: error, uid },
            "can't look at a pod that no source has",
          ),
        );
    }
  }

  /** Once for each pod, however often it has to be ended. */
  #noteOrphan(uid: string, { metadata }: Pod): void {
    if (this.#orphans.has(uid)) return;
    this.#orphans.add(uid);
    this.#context.logger.info(
      { pod: metadata.name, namespace: metadata.namespace, uid },
      "ending a pod that no source has",
    );
    this.#context.metrics?.orphaned();
  }

  async #reconstructed(uid: string): Promise<Pod | undefined> {
    const known = this.#context.runtimePods.get(uid);
    if (!known) return undefined;
    const found = await this.#context.runtimePods.refresh(uid, known);
    return this.#isOwn(found) ? runtimePodAsPod(found) : undefined;
  }

  #isOwn({ sandboxes, containers }: RuntimePod): boolean {
    const { rootDirectory } = this.#context;
    return [...sandboxes, ...containers].some((made) =>
      isOwn(made, rootDirectory),
    );
  }

  async stop(): Promise<void> {
    this.#state = "stopped";
    await Promise.all(
      [...this.#workers.values()].map((worker) => worker.stop()),
    );
  }
}

/** Not for a change of the status alone, which is mostly our own, unless it says that the pod is over. */
function concernsWorker(before: Pod, after: Pod): boolean {
  const a = before.metadata;
  const b = after.metadata;
  if (
    a.deletionTimestamp !== b.deletionTimestamp ||
    a.deletionGracePeriodSeconds !== b.deletionGracePeriodSeconds ||
    isToEnd(after) !== isToEnd(before)
  )
    return true;
  const text = (value: unknown): string => JSON.stringify(value) ?? "";
  if (text(before.spec) !== text(after.spec)) return true;
  if (
    text(a.labels) !== text(b.labels) ||
    text(a.annotations) !== text(b.annotations)
  )
    return true;
  const gates = (pod: Pod): string =>
    text(
      (pod.spec.readinessGates ?? []).map(
        ({ conditionType }) =>
          pod.status?.conditions?.find(({ type }) => type === conditionType)
            ?.status,
      ),
    );
  return gates(before) !== gates(after);
}
