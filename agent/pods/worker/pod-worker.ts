// One pod's life on this node: holds its state (worker-state.ts), runs its passes one at a time (pass-loop.ts) and takes
// the steps between the states.
//
// syncing: passes of pod-sync.ts. terminating: every container is ended within the grace. terminated: volumes, cgroup and
// sandboxes are gone, the last status is reported (and the API object removed when it was being deleted). gone: the
// sources no longer have the pod; containers, logs and directories are removed.
// Invariants: one pass at a time; the state only moves right; whatever may take long ends at the abort signal; each step
// can be repeated by a new worker when this one was killed in between.
import type { Logger } from "pino";
import { qosClass, type QosClass } from "../../../api/objects/pod-qos.ts";
import { crashPoint } from "../../../api/crash-point.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Attributes } from "../../../api/tracing/span.ts";
import type { Tracer } from "../../../api/tracing/tracer.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PassType, PodMetrics } from "../../metrics/pod-metrics.ts";
import {
  DeadContainers,
  type DeadContainersContext,
} from "../clean/dead-containers.ts";
import { runtimeStatusText } from "../../../cri/runtime-error-text.ts";
import { cleanUpPod, type PodCleanContext } from "../clean/pod-clean.ts";
import { PodEnd, type PodEndContext } from "../end/pod-end.ts";
import { removeFromRuntime, stopSandboxes } from "../end/sandboxes.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";
import { podDescription } from "../shape/labels.ts";
import { graceSeconds, isToEnd } from "../shape/pod-shape.ts";
import { WaitingReasons } from "../start/waiting-reasons.ts";
import type { UserNamespaces } from "../../resources/users/user-namespaces.ts";
import { PassLoop, type NextPass } from "./pass-loop.ts";
import { PodReport, type ReportContext } from "./pod-report.ts";
import { PodSync, type PodAdmission, type SyncContext } from "./pod-sync.ts";
import * as states from "./worker-state.ts";
import type {
  EndRequest,
  Terminated,
  Terminating,
  WorkerState,
} from "./worker-state.ts";

/** What ending a pod takes down beside its containers. */
interface TearDownContext {
  readonly volumes: {
    /** Ends refreshing and removes everything of the pod. */
    unmount(uid: string): Promise<void>;
  };
  readonly probes: {
    /** From now on only readiness counts: the pod ends. */
    stopLiveness(uid: string): void;
    remove(uid: string): void;
  };
  readonly claims: {
    /** Gives the pod's claims of devices back to their drivers; idempotent. */
    unprepare(uid: string): Promise<void>;
  };
  readonly cgroups: { removePod(uid: string, qos?: QosClass): Promise<void> };
  readonly admission: Pick<PodAdmission, "release">;
  /** Absent: pods have no user namespaces of their own. */
  readonly users?: Pick<UserNamespaces, "release"> | undefined;
}

export interface WorkerContext {
  readonly runtimePods: Pick<RuntimePods, "refresh" | "markDirty">;
  readonly sync: SyncContext;
  readonly end: PodEndContext;
  readonly tearDown: TearDownContext;
  readonly clean: PodCleanContext;
  readonly deadContainers: DeadContainersContext;
  readonly report: ReportContext;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Pick<Tracer, "root" | "scope"> | undefined;
  readonly metrics?: PodMetrics | undefined;
}

/** What a worker asks of the other workers of the node. */
interface WorkerPeers {
  /** False: the pod is what the runtime knows of it, which says nothing of its resources. */
  isWhole: boolean;
  /** False while another pod of the same name still ends. */
  mayStart: () => boolean;
  livePods: () => readonly Pod[];
  wantedPods: () => readonly Pod[];
  inTurn: <T>(work: () => T) => Promise<T>;
  /** Ends a less important pod for this one. */
  preempt: (pod: Pod) => void;
  /** It gave back what it had of the node. */
  onRoom: () => void;
  onGone: () => void;
}

function spanAttributes({ metadata }: Pod): Attributes {
  const { name, namespace = "default", uid = "" } = metadata;
  return {
    "k8s.pod.uid": uid,
    "k8s.pod": `${namespace}/${name}`,
    "k8s.pod.name": name,
    "k8s.namespace.name": namespace,
  };
}

export class PodWorker {
  readonly #context: WorkerContext;
  readonly #peers: WorkerPeers;
  readonly #abort = new AbortController();
  readonly #waiting = new WaitingReasons();
  readonly #loop: PassLoop;
  readonly #report: PodReport;
  readonly #ending: PodEnd;
  readonly #sync: PodSync;
  #pod: Pod;
  #state: WorkerState = states.syncing;
  readonly #madeMs: number;
  /** What the next pass is for. */
  #nextType: PassType = "create";

  constructor(context: WorkerContext, pod: Pod, peers: WorkerPeers) {
    this.#context = context;
    this.#peers = peers;
    this.#pod = pod;
    this.#madeMs = context.clock.monotonic();
    this.#report = new PodReport(context.report);
    this.#ending = new PodEnd(context.end);
    this.#sync = new PodSync(context.sync, {
      pod: () => this.#pod,
      mayStart: peers.mayStart,
      livePods: peers.livePods,
      wantedPods: peers.wantedPods,
      inTurn: peers.inTurn,
      preempt: peers.preempt,
      onRoom: peers.onRoom,
      report: this.#report,
      waiting: this.#waiting,
      ending: this.#ending,
      dead: new DeadContainers(context.deadContainers),
      signal: this.#abort.signal,
    });
    this.#loop = new PassLoop({
      pass: () => this.#timedPass(),
      onFailure: (error, retryMs) => this.#failed(error, retryMs),
      clock: context.clock,
    });
  }

  get pod(): Pod {
    return this.#pod;
  }

  get uid(): string {
    return this.#pod.metadata.uid ?? "";
  }

  get phase(): WorkerState["phase"] {
    return this.#state.phase;
  }

  get removed(): boolean {
    return states.isRemoved(this.#state);
  }

  get evicted(): boolean {
    return states.isEvicted(this.#state, this.#pod);
  }

  /** It was found in the runtime, and no source has had it since the agent began. */
  get runtimeOnly(): boolean {
    return !this.#peers.isWhole;
  }

  get waitsForRoom(): boolean {
    return this.phase === "syncing" && this.#sync.waitsForRoom;
  }

  /** A newer version of the same pod. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (this.#nextType === "sync") this.#nextType = "update";
    if (isToEnd(pod)) this.end({});
    else this.wake();
  }

  /** A newer version in which nothing changed that this worker acts upon. */
  replace(pod: Pod): void {
    this.#pod = pod;
  }

  /** Ends the pod; its object stays. Again with less grace: hurries. */
  end(request: EndRequest): void {
    const { deletionGracePeriodSeconds: said } = this.#pod.metadata;
    // The specification's counts only where nothing else was said yet.
    const own = this.phase === "syncing" || said !== undefined;
    const wanted: EndRequest = own
      ? { graceSeconds: graceSeconds(this.#pod), ...request }
      : request;
    this.#state = states.ended(this.#state, wanted);
    this.#ending.shorten(wanted.graceSeconds ?? Infinity);
    this.#abort.abort();
    this.wake();
  }

  /** The sources no longer have it. */
  remove(): void {
    this.end({});
    this.#state = states.removed(this.#state);
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Leaves everything as it is; the runtime keeps running it. Resolves when the present pass is through. */
  async stop(): Promise<void> {
    const closed = this.#loop.close();
    this.#abort.abort();
    await closed;
  }

  #failed(error: unknown, retryMs: number): void {
    const { logger, runtimePods } = this.#context;
    const pod = podDescription(this.#pod);
    logger.warn({ err: error, pod, retryMs }, "pod sync failed");
    runtimePods.markDirty(this.uid);
  }

  async #timedPass(): Promise<NextPass> {
    const { clock, metrics } = this.#context;
    const startMs = clock.monotonic();
    const type = this.phase === "syncing" ? this.#nextType : "kill";
    if (this.#nextType === "create")
      metrics?.workerBegan((startMs - this.#madeMs) / 1000);
    this.#nextType = "sync";
    try {
      return await this.#pass();
    } finally {
      metrics?.passed(type, (clock.monotonic() - startMs) / 1000);
    }
  }

  async #pass(): Promise<NextPass> {
    const state = this.#state;
    switch (state.phase) {
      case "syncing":
        return await this.#syncOnce();
      case "terminating":
        await this.#terminate(state);
        return "again";
      case "terminated":
        if (state.removed) await this.#cleanUp(state);
        else if (this.#pod.metadata.deletionTimestamp)
          this.#report.finish(this.#pod);
        return Infinity;
      case "gone":
        return Infinity;
    }
  }

  /** Named as the reference's spans; a trace of its own, whichever pod's work woke this one. */
  #traced<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { tracer } = this.#context;
    return tracer
      ? tracer.scope(() => tracer.root(name, spanAttributes(this.#pod), work))
      : work();
  }

  async #syncOnce(): Promise<NextPass> {
    const result = await this.#traced("syncPod", () => this.#sync.pass());
    switch (result.next) {
      case "again":
        return "again";
      case "sleep":
        return result.forMs;
      case "finished":
        this.#state = states.ended(this.#state, {});
        return "again";
      case "end":
        this.end(result.request);
        return "again";
    }
  }

  #refresh(): Promise<RuntimePod> {
    const { name, namespace = "default" } = this.#pod.metadata;
    return this.#context.runtimePods.refresh(this.uid, { name, namespace });
  }

  async #terminate({ end, left }: Terminating): Promise<void> {
    const { clock, logger } = this.#context;
    const startedMs = clock.monotonic();
    if (end.refused && end.failure) {
      this.#report.refused(this.#pod, end.failure);
      this.#context.metrics?.rejected(end.failure.reason);
      this.#state = states.tornDown(this.#state, false);
      this.#peers.onRoom();
      return this.#report.finish(this.#pod);
    }
    const last =
      left ??
      (await this.#traced("syncTerminatingPod", () =>
        this.#endContainers(end),
      ));
    crashPoint("podworker.end.ended");
    await this.#traced("syncTerminatedPod", () => this.#tearDown(last, end));
    this.#peers.onRoom();
    logger.debug(
      {
        pod: podDescription(this.#pod),
        tookMs: Math.round(clock.monotonic() - startedMs),
      },
      "pod ended",
    );
    this.#report.finish(this.#pod);
  }

  async #endContainers(end: EndRequest): Promise<RuntimePod> {
    const runtimePod = await this.#refresh();
    this.#waiting.clear();
    this.#context.tearDown.probes.stopLiveness(this.uid);
    this.#reportEnding(runtimePod, "ending", end);
    const left = await this.#killed(
      this.#ending.containers(
        this.#pod,
        runtimePod,
        end.graceSeconds ?? graceSeconds(this.#pod),
      ),
    );
    this.#state = states.containersEnded(this.#state, left);
    return left;
  }

  async #tearDown(left: RuntimePod, end: EndRequest): Promise<void> {
    const { runtime } = this.#context.end;
    const { volumes, probes, claims, cgroups, admission, users } =
      this.#context.tearDown;
    // Its devices, CPUs and memory go to others as soon as the pod is reported to be over.
    await claims.unprepare(this.uid);
    admission.release(this.uid);
    // When the object is deleted as well, no reader needs the containers any more.
    const clean = this.removed || !!this.#pod.metadata.deletionTimestamp;
    if (clean) this.#reportEnding(left, "torn-down", end);
    await Promise.all([
      this.#killed(
        clean ? removeFromRuntime(runtime, left) : this.#stopSandboxes(left),
      ),
      volumes.unmount(this.uid),
    ]);
    crashPoint("podworker.end.removed");
    probes.remove(this.uid);
    this.#reportEnding(left, "torn-down", end);
    crashPoint("podworker.end.reported");
    const qos = this.#peers.isWhole ? qosClass(this.#pod) : undefined;
    await cgroups.removePod(this.uid, qos);
    await users?.release(this.uid);
    this.#state = states.tornDown(this.#state, clean);
  }

  /** That the runtime can't end the pod is an event of it; the pass is tried again. */
  async #killed<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const text = `error killing pod: ${runtimeStatusText(error)}`;
      const { events } = this.#context.end;
      events.pod(this.#pod, "Warning", "FailedKillPod", text);
      throw error;
    }
  }

  async #stopSandboxes(left: RuntimePod): Promise<void> {
    await stopSandboxes(this.#context.end.runtime, left);
    this.#context.runtimePods.markDirty(this.uid);
  }

  #reportEnding(
    runtimePod: RuntimePod,
    stage: "ending" | "torn-down",
    { failure }: EndRequest,
  ): void {
    const { reasons } = this.#waiting;
    this.#report.report(this.#pod, runtimePod, reasons, stage, failure);
  }

  async #cleanUp(state: Terminated): Promise<void> {
    const { end, clean, tearDown, report, sync } = this.#context;
    // What was left when everything had ended; nothing was made since.
    const left = state.left ?? (await this.#refresh());
    if (!state.clean) {
      await removeFromRuntime(end.runtime, left);
      this.#state = states.cleaned(this.#state);
    }
    crashPoint("podworker.gone.removed");
    await cleanUpPod(clean, this.uid, left);
    report.status.forget(this.uid);
    tearDown.admission.release(this.uid);
    sync.resize?.forget(this.uid);
    this.#context.metrics?.forget(this.uid);
    this.#state = states.gone;
    void this.#loop.close();
    this.#peers.onGone();
  }
}
