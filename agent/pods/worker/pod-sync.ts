// One pass of a pod that is to run: reads the runtime's state, reports the status and does what pod-actions decided.
// The pass changes something or waits; it never ends the pod itself, but says that the pod is to be ended.
import type { Clock } from "../../../api/clock.ts";
import { isPodTerminal } from "../../../api/objects/pod-state.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { DeadContainers } from "../clean/dead-containers.ts";
import type { PodEnd } from "../end/pod-end.ts";
import type { PodResizer, ResizeView } from "../resize/pod-resizer.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";
import { graceSeconds } from "../shape/pod-shape.ts";
import type { BackOff } from "../../pacing/back-off.ts";
import { VolumePending } from "../../volumes/volume-plugin.ts";
import {
  mountVolumes,
  startPod,
  type PodStartContext,
  type StartResult,
} from "../start/pod-start.ts";
import type { WaitingReasons } from "../start/waiting-reasons.ts";
import {
  computePodActions,
  type PodActions,
  type ProbeResults,
} from "./pod-actions.ts";
import type { PodReport } from "./pod-report.ts";
import { SandboxRenewal } from "./sandbox-renewal.ts";
import type { EndRequest } from "./worker-state.ts";

export interface PodAdmission {
  /**
   * Why the pod may not run here beside the others, which of them end before it may, or how long it has to wait until it
   * asks again; once it may, it counts until it is released.
   */
  admit(
    pod: Pod,
    others: readonly Pod[],
  ):
    | { reason: string; message: string }
    | { preempt: readonly Pod[] }
    | { holdMs: number }
    | undefined;
  /** It counts: it was admitted and not released. */
  counts(uid: string): boolean;
  release(uid: string): void;
}

/** What hands out CPUs, memory and devices. */
interface PodAllocation {
  /**
   * Resolves to the reason why the pod may not run; asked again for the same pod it changes nothing. `runs`: it was
   * started before.
   */
  admit(
    pod: Pod,
    runs?: boolean,
  ): Promise<{ reason: string; message: string } | undefined>;
  release(uid: string): void;
}

export interface SyncContext {
  readonly runtimePods: Pick<RuntimePods, "refresh">;
  readonly admission: Pick<PodAdmission, "admit" | "counts">;
  readonly allocation: PodAllocation;
  readonly probes: ProbeResults & {
    /** Starts probes of running containers and ends those of others. */
    update(pod: Pod, runtimePod: RuntimePod): void;
  };
  readonly restartBackOff: BackOff;
  /** Absent: pods are not resized. */
  readonly resize?: Pick<
    PodResizer,
    "applied" | "look" | "restarts" | "actuate" | "waits" | "forget"
  >;
  /** Why only pods of the host's network can be started; undefined: there is no reason. */
  readonly networkProblem?: () => string | undefined;
  readonly start: PodStartContext;
  readonly events: Pick<PodEvents, "pod" | "container">;
  readonly clock: Clock;
}

/** What one pod's passes share; made by its worker. */
interface SyncedPod {
  /** The newest version of it. */
  pod: () => Pod;
  /** False while another pod of the same name still ends. */
  mayStart: () => boolean;
  /** The pods of this node that are not over, with what they were given. */
  livePods: () => readonly Pod[];
  /**
   * Those of them that the sources have and that were admitted. One whose object is gone, as after a deletion without
   * grace, still ends here, but the scheduler has given its place away.
   */
  wantedPods: () => readonly Pod[];
  /** Thousands of pods may ask at once. */
  inTurn: <T>(work: () => T) => Promise<T>;
  /** Ends a less important pod. */
  preempt: (pod: Pod) => void;
  /** There may be room for other pods. */
  onRoom: () => void;
  report: PodReport;
  waiting: WaitingReasons;
  ending: PodEnd;
  dead: DeadContainers;
  /** The pod is to end: whatever may take long stops. */
  signal: AbortSignal;
}

type SyncResult =
  | { next: "again" }
  | { next: "sleep"; forMs: number }
  /** Every container ended for good. */
  | { next: "finished" }
  | { next: "end"; request: EndRequest };

/** Until a volume that others have to attach is looked at again, as often as the reference does. */
const pendingMs = 500;
/** Until a pod that waits for the runtime's network is looked at again: it may be there soon. */
const noNetworkMs = 1000;

export class PodSync {
  readonly #context: SyncContext;
  readonly #of: SyncedPod;
  readonly #renewal: SandboxRenewal;
  #adopted = false;
  /** Pods that end so that this one has room. */
  #preempted: readonly Pod[] = [];
  /** Of activeDeadlineSeconds; the time is monotonic. */
  #deadline: { readonly seconds: number; atMs: number } | undefined;
  /** Containers that were ended to be started again, whatever the restart policy says. */
  readonly #toRestart = new Set<string>();

  constructor(context: SyncContext, of: SyncedPod) {
    this.#context = context;
    this.#of = of;
    this.#renewal = new SandboxRenewal({
      pod: of.pod,
      events: context.events,
      kill: (runtimePod) => this.#kill(runtimePod),
      dead: of.dead,
      clock: context.clock,
    });
  }

  /** It can't go on before others have given something back. */
  get waitsForRoom(): boolean {
    const { uid = "" } = this.#of.pod().metadata;
    return this.#preempted.length > 0 || !!this.#context.resize?.waits(uid);
  }

  async pass(): Promise<SyncResult> {
    const { probes, restartBackOff, clock, events, resize } = this.#context;
    const { pod, report, waiting } = this.#of;
    const runtimePod = await this.#refresh();
    if (isPodTerminal({ status: report.last(pod()) }))
      return { next: "finished" };
    if (runtimePod.sandboxes.length === 0) {
      if (!this.#of.mayStart()) return { next: "sleep", forMs: Infinity };
      const refusal = await this.#refusal();
      if (refusal) return refusal;
      if (this.#othersEnd()) return { next: "sleep", forMs: Infinity };
    } else await this.#adopt();
    const overdue = this.#overdue();
    if (overdue) return { next: "end", request: overdue };
    this.#forgetRestarted(runtimePod);
    const view = await resize?.look(pod(), runtimePod, this.#of.wantedPods);
    if (view?.changed) this.#of.onRoom();
    probes.update(pod(), runtimePod);
    const actions = computePodActions({
      pod: view?.pod ?? pod(),
      runtimePod,
      probes,
      backOff: restartBackOff,
      nowMs: clock.now(),
      toRestart: this.#toRestart,
      resizeRestarts: (container, status) =>
        view !== undefined && resize!.restarts(view, container, status),
    });
    waiting.backingOff(pod(), actions.waiting, events);
    // The report may bring another pod for what it had, which is refused for good when that is not free.
    if (actions.finished && !hasRunning(runtimePod))
      this.#context.allocation.release(pod().metadata.uid ?? "");
    report.report(
      pod(),
      runtimePod,
      waiting.reasons,
      actions.finished ? "ending" : "running",
    );
    if (actions.finished) return { next: "finished" };
    if (isBusy(actions) && this.#lacksNetwork())
      return { next: "sleep", forMs: noNetworkMs };
    const { changed, retryInMs } = await this.#execute(
      actions,
      runtimePod,
    ).catch((error: unknown) => {
      if (!(error instanceof VolumePending)) throw error;
      return { changed: false, retryInMs: pendingMs };
    });
    if (changed || (await this.#resized(view, runtimePod)))
      return { next: "again" };
    const forMs = Math.min(
      ...actions.waiting.map(({ remainingMs }) => remainingMs),
      retryInMs,
      this.#deadlineInMs(),
    );
    return { next: "sleep", forMs: forMs + 1 };
  }

  /** As at the kubelet nothing of such a pod is started, nor ended to be started again; an event says why. */
  #lacksNetwork(): boolean {
    const { networkProblem, events } = this.#context;
    const pod = this.#of.pod();
    const problem = pod.spec.hostNetwork ? undefined : networkProblem?.();
    if (problem === undefined) return false;
    const message = `network is not ready: ${problem}`;
    events.pod(pod, "Warning", "NetworkNotReady", message);
    return true;
  }

  async #resized(
    view: ResizeView | undefined,
    runtimePod: RuntimePod,
  ): Promise<boolean> {
    if (!view) return false;
    return await this.#context.resize!.actuate(view, runtimePod);
  }

  #forgetRestarted({ containers }: RuntimePod): void {
    for (const id of this.#toRestart)
      if (!containers.some((container) => container.id === id))
        this.#toRestart.delete(id);
  }

  #given(): Pod {
    const pod = this.#of.pod();
    return this.#context.resize?.applied(pod) ?? pod;
  }

  #refresh(): Promise<RuntimePod> {
    const { name, namespace = "default", uid = "" } = this.#of.pod().metadata;
    return this.#context.runtimePods.refresh(uid, { name, namespace });
  }

  async #refusal(): Promise<SyncResult | undefined> {
    const { admission, allocation, events } = this.#context;
    const pod = this.#of.pod();
    // In this order, as at the reference: of a pod that lacks both, the reason is the allocation's.
    const unallocated = await allocation.admit(pod);
    const answer = unallocated
      ? {
          reason: unallocated.reason,
          message: `Pod was rejected: ${unallocated.message}`,
        }
      : await this.#of.inTurn(() => {
          const found = admission.admit(this.#given(), this.#of.wantedPods());
          if (found && "preempt" in found) {
            this.#preempted = found.preempt;
            found.preempt.forEach(this.#of.preempt);
          }
          return found;
        });
    if (!answer || "preempt" in answer) return undefined;
    allocation.release(pod.metadata.uid ?? "");
    if ("holdMs" in answer) return { next: "sleep", forMs: answer.holdMs };
    events.pod(pod, "Warning", answer.reason, answer.message);
    return { next: "end", request: { failure: answer, refused: true } };
  }

  #othersEnd(): boolean {
    if (this.#preempted.length === 0) return false;
    const live = new Set(
      this.#of.livePods().map(({ metadata }) => metadata.uid),
    );
    this.#preempted = this.#preempted.filter(({ metadata }) =>
      live.has(metadata.uid),
    );
    return this.#preempted.length > 0;
  }

  /** A pod that an earlier agent started keeps what it has, and is not ended when it can't be given more. */
  async #adopt(): Promise<void> {
    const { allocation, events } = this.#context;
    if (this.#adopted) return;
    this.#adopted = true;
    const pod = this.#of.pod();
    const unallocated = await allocation.admit(pod, true);
    if (unallocated)
      events.pod(pod, "Warning", unallocated.reason, unallocated.message);
  }

  #deadlineInMs(): number {
    const pod = this.#of.pod();
    const seconds = pod.spec.activeDeadlineSeconds;
    if (seconds === undefined) return Infinity;
    const startTime = this.#of.report.last(pod)?.startTime;
    const startMs = startTime
      ? Date.parse(startTime)
      : this.#of.report.firstSeenMs;
    const { clock } = this.#context;
    const nowMs = clock.monotonic();
    const leftMs = Math.min(
      startMs + seconds * 1000 - clock.now(),
      seconds * 1000,
    );
    // A clock that is set back makes no pod live longer: what was known before holds.
    if (this.#deadline?.seconds !== seconds)
      this.#deadline = { seconds, atMs: nowMs + leftMs };
    else this.#deadline.atMs = Math.min(this.#deadline.atMs, nowMs + leftMs);
    return Math.max(0, this.#deadline.atMs - nowMs);
  }

  #overdue(): EndRequest | undefined {
    if (this.#deadlineInMs() > 0) return undefined;
    const reason = "DeadlineExceeded";
    const message =
      "Pod was active on the node longer than the specified deadline";
    this.#context.events.pod(this.#of.pod(), "Normal", reason, message);
    return { failure: { reason, message, always: true } };
  }

  async #execute(
    actions: PodActions,
    runtimePod: RuntimePod,
  ): Promise<StartResult> {
    const { pod, ending } = this.#of;
    const nothing: StartResult = { changed: false, retryInMs: Infinity };
    if (actions.createSandbox) {
      const waitMs = await this.#renewal.waitMs(runtimePod);
      if (waitMs > 0) return { ...nothing, retryInMs: waitMs };
    } else if (actions.killPod) await this.#kill(runtimePod);
    if (actions.containersToKill.length > 0) {
      await Promise.all(
        actions.containersToKill.map(({ status, again, ...because }) => {
          if (again) this.#toRestart.add(status.id);
          return ending.container(pod(), runtimePod, status, because);
        }),
      );
      return { ...nothing, changed: true };
    }
    if (!actions.createSandbox && actions.containersToStart.length === 0) {
      if (actions.sandbox) await mountVolumes(this.#context.start, pod());
      return nothing;
    }
    return await this.#start(actions);
  }

  async #kill(runtimePod: RuntimePod): Promise<void> {
    const { pod, ending } = this.#of;
    const left = await ending.containers(
      pod(),
      runtimePod,
      graceSeconds(pod()),
    );
    await ending.sandboxes(pod(), left);
  }

  async #start(actions: PodActions): Promise<StartResult> {
    const { pod, waiting, signal } = this.#of;
    const several = actions.containersToStart.length > 1;
    return await startPod(this.#context.start, actions, {
      pod: () => this.#given(),
      refresh: () => this.#refresh(),
      waiting,
      signal,
      onStarted: async (container) => {
        const current = await this.#refresh();
        if (several) this.#reportRunning(current);
        this.#of.dead.prune(pod(), container, current);
      },
      onFailed: async () => this.#reportRunning(await this.#refresh()),
    });
  }

  #reportRunning(runtimePod: RuntimePod): void {
    const { pod, report, waiting } = this.#of;
    report.report(pod(), runtimePod, waiting.reasons, "running");
  }
}

/** Else the pod's volumes are brought up to date at most. */
function isBusy(actions: PodActions): boolean {
  const { createSandbox, killPod, containersToStart, containersToKill } =
    actions;
  return (
    createSandbox ||
    killPod ||
    containersToStart.length + containersToKill.length > 0
  );
}

function hasRunning({ containers }: RuntimePod): boolean {
  return containers.some(({ state }) => state === "running");
}
