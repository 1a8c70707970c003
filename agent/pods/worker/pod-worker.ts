// One pod's life on this node, as a serial state machine:
//
//   syncing ──(deleted, removed, evicted, or all containers ended for good)──▶ terminating ──▶ terminated ──▶ gone
//
// syncing: each pass reads the runtime's state, reports the status, does what pod-actions decided, and again until
// nothing is left to do; then it sleeps until something wakes it. terminating: every container is ended within the grace.
// terminated: volumes, cgroup and sandboxes are gone, the last status is reported (and the API object removed when it
// was being deleted). gone: the sources no longer have the pod; containers, logs and directories are removed.
// Invariants: one pass at a time; the state only moves right; whatever may take long ends at the abort signal.
import { isPodTerminal } from "../../../api/objects/pod-state.ts";
import { formatTime, type Timer } from "../../../api/clock.ts";
import { crashPoint } from "../../../api/crash-point.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import {
  runtimeErrorText,
  type SandboxConfig,
  type SandboxStatus,
} from "../../../cri/runtime.ts";
import { podStatus, type PodFailure } from "../../status/pod-status.ts";
import type { WaitingReason } from "../../status/container-statuses.ts";
import { StartFailures } from "../start/start-failures.ts";
import { endContainer, PodEnding } from "../end/container-end.ts";
import { startContainer } from "../start/container-start.ts";
import { WaitingError } from "../start/image-manager.ts";
import {
  containerRecord,
  podDescription,
  podLabelsOf,
} from "../shape/labels.ts";
import { computePodActions, type PodActions } from "./pod-actions.ts";
import type { PodContext } from "./pod-context.ts";
import { findContainer, graceSeconds } from "../shape/pod-shape.ts";
import { qosClass } from "../../../api/objects/pod-qos.ts";
import { sandboxConfig } from "../start/sandbox-config.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";

type WorkerState = "syncing" | "terminating" | "terminated" | "gone";

export interface EndRequest {
  /** Overrides the pod's own grace. */
  graceSeconds?: number;
  /** The agent ends it: what the status says. */
  failure?: PodFailure;
  /** Nothing of it was ever made. */
  refused?: boolean;
}

const retryInitialMs = 1000;
const retryMaximumMs = 15_000;
const maxPassesInARow = 50;

export class PodWorker {
  readonly #context: PodContext;
  readonly #onGone: () => void;
  readonly #mayStart: () => boolean;
  readonly #abort = new AbortController();
  readonly #firstSeenMs: number;
  #pod: Pod;
  #state: WorkerState = "syncing";
  #end: EndRequest | undefined;
  #removed = false;
  #finished = false;
  #stopped = false;
  #pending = false;
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  #retryMs = 0;
  #ending: PodEnding | undefined;
  #waiting = new Map<string, WaitingReason>();
  /** What the runtime had of it when every container had ended. */
  #left: RuntimePod | undefined;
  /** Nothing of #left is in the runtime any more. */
  #runtimeClean = false;

  /** `mayStart`: false while another pod of the same name still ends. */
  constructor(
    context: PodContext,
    pod: Pod,
    mayStart: () => boolean,
    onGone: () => void,
  ) {
    this.#context = context;
    this.#pod = pod;
    this.#mayStart = mayStart;
    this.#onGone = onGone;
    this.#firstSeenMs = context.clock.now();
  }

  get pod(): Pod {
    return this.#pod;
  }

  get uid(): string {
    return this.#pod.metadata.uid ?? "";
  }

  get state(): WorkerState {
    return this.#state;
  }

  get removed(): boolean {
    return this.#removed;
  }

  /** A newer version of the same pod. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp) this.end({});
    else this.wake();
  }

  /** Only the status or what concerns nobody here changed. */
  replace(pod: Pod): void {
    this.#pod = pod;
  }

  /** Ends the pod; its object stays. Again with less grace: hurries. */
  end(request: EndRequest): void {
    this.#end ??= request;
    const grace = request.graceSeconds ?? graceSeconds(this.#pod);
    this.#ending?.shorten(grace);
    this.#abort.abort();
    this.wake();
  }

  /** The sources no longer have it. */
  remove(): void {
    this.#removed = true;
    this.end({});
  }

  wake(): void {
    if (this.#stopped || this.#state === "gone") return;
    this.#pending = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Leaves everything as it is; the runtime keeps running it. Resolves when the present step is through. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    // Changes that arrive in the same turn are one pass.
    await Promise.resolve();
    for (let passes = 0; this.#pending && !this.#stopped; passes++) {
      this.#pending = false;
      this.#timer?.cancel();
      try {
        await this.#step();
        this.#retryMs = 0;
      } catch (error) {
        if (this.#stopped) return;
        this.#retryMs = Math.min(
          retryMaximumMs,
          this.#retryMs === 0 ? retryInitialMs : this.#retryMs * 2,
        );
        this.#context.logger.warn(
          {
            err: error,
            pod: podDescription(this.#pod),
            retryMs: this.#retryMs,
          },
          "pod sync failed",
        );
        this.#context.runtimePods.markDirty(this.uid);
        this.#pending = false;
        this.#wakeIn(this.#retryMs);
        return;
      }
      if (passes > maxPassesInARow) {
        this.#wakeIn(retryInitialMs);
        return;
      }
    }
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#context.clock.after(delayMs, () => this.wake());
  }

  async #step(): Promise<void> {
    if (this.#state === "syncing" && (this.#end || this.#finished))
      this.#state = "terminating";
    if (this.#state === "syncing") await this.#sync();
    else if (this.#state === "terminating") await this.#terminate();
    else if (this.#state === "terminated" && this.#removed)
      await this.#cleanUp();
    else if (
      this.#state === "terminated" &&
      this.#pod.metadata.deletionTimestamp
    )
      this.#context.status.finish(this.#pod);
  }

  #refresh(): Promise<RuntimePod> {
    const { name, namespace = "default" } = this.#pod.metadata;
    return this.#context.runtimePods.refresh(this.uid, { name, namespace });
  }

  async #sync(): Promise<void> {
    const { probes, restartBackOff, clock, events, status } = this.#context;
    const runtimePod = await this.#refresh();
    if (isPodTerminal({ status: status.get(this.#pod) })) {
      this.#finished = true;
      this.#pending = true;
      return;
    }
    if (runtimePod.sandboxes.length === 0) {
      if (!this.#mayStart()) return;
      if (this.#refused()) return;
    }
    if (this.#deadlinePassed()) return;
    probes.update(this.#pod, runtimePod);
    const actions = computePodActions({
      pod: this.#pod,
      runtimePod,
      probes,
      backOff: restartBackOff,
      nowMs: clock.now(),
    });
    this.#noteWaiting(actions, events.container.bind(events));
    this.#report(runtimePod, actions.finished);
    if (actions.finished) {
      this.#finished = true;
      this.#pending = true;
      return;
    }
    const worked = await this.#execute(actions, runtimePod);
    if (worked) {
      this.#pending = true;
      return;
    }
    const next = Math.min(
      ...actions.waiting.map(({ remainingMs }) => remainingMs),
      this.#retryInMs,
      this.#deadlineInMs(),
    );
    this.#retryInMs = Infinity;
    if (next < Infinity) this.#wakeIn(next + 1);
  }

  #refused(): boolean {
    const failure = this.#context.admission.admit(this.#pod);
    if (!failure) return false;
    const { reason, message } = failure;
    this.#context.events.pod(this.#pod, "Warning", reason, message);
    this.end({ failure, refused: true });
    return true;
  }

  /** When a failed start may be tried again, set by #execute. */
  #retryInMs = Infinity;

  #deadlineInMs(): number {
    const seconds = this.#pod.spec.activeDeadlineSeconds;
    if (seconds === undefined) return Infinity;
    const startTime = this.#context.status.get(this.#pod)?.startTime;
    const startMs = startTime ? Date.parse(startTime) : this.#firstSeenMs;
    return Math.max(0, startMs + seconds * 1000 - this.#context.clock.now());
  }

  #deadlinePassed(): boolean {
    if (this.#deadlineInMs() > 0) return false;
    const message =
      "Pod was active on the node longer than the specified deadline";
    this.#context.events.pod(this.#pod, "Normal", "DeadlineExceeded", message);
    this.end({ failure: { reason: "DeadlineExceeded", message } });
    return true;
  }

  #noteWaiting(
    actions: PodActions,
    event: PodContext["events"]["container"],
  ): void {
    const backingOff = new Set(
      actions.waiting.map(({ container }) => container.name),
    );
    for (const [name, { reason }] of this.#waiting)
      if (reason === "CrashLoopBackOff" && !backingOff.has(name))
        this.#waiting.delete(name);
    for (const { container, delayMs } of actions.waiting) {
      const description = podDescription(this.#pod);
      const delay = formatDelay(delayMs);
      if (!this.#waiting.has(container.name))
        event(
          this.#pod,
          container.name,
          "Warning",
          "BackOff",
          `Back-off restarting failed container ${container.name} in pod ${description}`,
        );
      this.#waiting.set(container.name, {
        reason: "CrashLoopBackOff",
        message: `back-off ${delay} restarting failed container=${container.name} pod=${description}`,
      });
    }
  }

  /** `ended`: nothing is started any more; `tornDown`: and nothing runs any more either, this is the last status. */
  #report(runtimePod: RuntimePod, ended: boolean, tornDown = false): PodStatus {
    const { status, runtime, probes, clock } = this.#context;
    const next = podStatus({
      pod: this.#pod,
      runtimePod,
      runtimeName: runtime.name,
      previous: status.get(this.#pod),
      waiting: this.#waiting,
      readiness: probes,
      nodeIPs: this.#context.nodeIPs(),
      nowMs: clock.now(),
      startedAtMs: this.#firstSeenMs,
      ended,
      tornDown,
      failure: this.#end?.failure,
    });
    status.set(this.#pod, next);
    return next;
  }

  /** Returns whether something was changed, so that another pass has to look. */
  async #execute(
    actions: PodActions,
    runtimePod: RuntimePod,
  ): Promise<boolean> {
    const context = this.#context;
    if (actions.killPod)
      await this.#stopSandboxes(
        await this.#endContainers(runtimePod, graceSeconds(this.#pod)),
      );
    if (actions.containersToKill.length > 0) {
      await Promise.all(
        actions.containersToKill.map(({ status, reason, message }) =>
          status.state === "created"
            ? this.#removeUnstarted(status.id)
            : this.#kill(status, runtimePod, reason, message),
        ),
      );
      return true;
    }
    if (!actions.createSandbox && actions.containersToStart.length === 0) {
      if (actions.sandbox) await this.#volumes();
      return false;
    }
    await context.hostFiles.prepare(this.#pod);
    const volumes = this.#volumes();
    volumes.catch(() => undefined);
    let sandbox = actions.sandbox;
    const cgroup = await context.cgroups.createPod(this.#pod);
    const config = await sandboxConfig(
      this.#pod,
      actions.attempt,
      cgroup,
      context.config,
    );
    if (actions.createSandbox) {
      sandbox = await this.#createSandbox(config);
    }
    await volumes;
    if (!sandbox) return true;
    let started = 0;
    for (const { container, kind } of actions.containersToStart) {
      if (this.#abort.signal.aborted) return true;
      const current = await this.#refresh();
      const pod = withAddresses(this.#pod, sandbox, context.nodeIPs());
      try {
        await startContainer(context, {
          pod,
          container,
          kind,
          sandbox,
          sandboxConfig: config,
          runtimePod: current,
          signal: this.#abort.signal,
        });
        this.#waiting.delete(container.name);
        this.#startFailures.succeeded(container.name);
        started++;
        if (actions.containersToStart.length > 1)
          this.#report(await this.#refresh(), false);
        this.#pruneDead(container.name, await this.#refresh());
      } catch (error) {
        if (!(error instanceof WaitingError)) throw error;
        this.#waiting.set(container.name, {
          reason: error.reason,
          message: error.message,
        });
        this.#retryInMs = Math.min(
          this.#retryInMs,
          error.retryAfterMs ?? this.#startFailures.failed(container.name),
        );
        this.#report(await this.#refresh(), false);
        if (kind === "init" || kind === "sidecar") break;
      }
    }
    if (started > 0 || actions.createSandbox) {
      if (this.#retryInMs < Infinity)
        this.#report(await this.#refresh(), false);
      return this.#retryInMs === Infinity;
    }
    return false;
  }

  readonly #startFailures = new StartFailures();

  async #volumes(): Promise<void> {
    try {
      await this.#context.volumes.mount(this.#pod);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#context.events.pod(this.#pod, "Warning", "FailedMount", text);
      throw error;
    }
  }

  async #createSandbox(config: SandboxConfig): Promise<SandboxStatus> {
    const { runtime, runtimePods, events, runtimeHandler } = this.#context;
    try {
      const handler = await runtimeHandler(this.#pod);
      const id = await this.#context.sandboxTurns.run(() =>
        runtime.runPodSandbox(config, handler),
      );
      crashPoint("podworker.sandbox.made");
      return await runtimePods.addSandbox(this.uid, id);
    } catch (error) {
      const text = runtimeErrorText(error);
      events.pod(
        this.#pod,
        "Warning",
        "FailedCreatePodSandBox",
        `Failed to create pod sandbox: ${text}`,
      );
      throw error;
    }
  }

  /** Made by an agent that ended before it started it: it never ran, and containerd does not stop such a container. */
  async #removeUnstarted(id: string): Promise<void> {
    await this.#context.runtime.removeContainer(id);
    this.#context.runtimePods.markDirty(this.uid);
  }

  async #kill(
    status: Parameters<typeof endContainer>[2],
    runtimePod: RuntimePod,
    reason: string,
    message: string,
  ): Promise<void> {
    const { clock } = this.#context;
    const container = findContainer(this.#pod, status.name)?.container;
    const probe =
      reason === "liveness"
        ? container?.livenessProbe
        : reason === "startup"
          ? container?.startupProbe
          : undefined;
    const seconds =
      probe?.terminationGracePeriodSeconds ??
      this.#pod.spec.terminationGracePeriodSeconds ??
      30;
    const deadlineMs = clock.monotonic() + seconds * 1000;
    await endContainer(this.#context, this.#pod, status, runtimePod, {
      remainingSeconds: () =>
        Math.max(0, (deadlineMs - clock.monotonic()) / 1000),
      message,
    });
  }

  /** Ends every container; resolves to what was left, with the containers' last words. */
  async #endContainers(
    runtimePod: RuntimePod,
    seconds: number,
  ): Promise<RuntimePod> {
    this.#ending = new PodEnding(this.#context, this.#pod, seconds);
    try {
      await this.#ending.run(runtimePod);
    } finally {
      this.#ending = undefined;
    }
    // The last words of the containers are read before their sandbox goes.
    return await this.#refresh();
  }

  async #stopSandboxes({ sandboxes }: RuntimePod): Promise<void> {
    const { runtime, runtimePods } = this.#context;
    await Promise.all(
      sandboxes
        .filter(({ ready }) => ready)
        .map(({ id }) => runtime.stopPodSandbox(id)),
    );
    runtimePods.markDirty(this.uid);
  }

  /** Containers and sandboxes at once: a sandbox stopped first would have its network taken down twice. */
  async #removeFromRuntime(left: RuntimePod): Promise<void> {
    const { runtime } = this.#context;
    await Promise.all(
      left.containers.map(({ id }) => runtime.removeContainer(id)),
    );
    await Promise.all(
      left.sandboxes.map(({ id }) => runtime.removePodSandbox(id)),
    );
    this.#runtimeClean = true;
  }

  async #terminate(): Promise<void> {
    const { probes, volumes, cgroups, status, clock } = this.#context;
    const startedMs = clock.monotonic();
    if (this.#end?.refused && this.#end.failure) {
      const { reason, message } = this.#end.failure;
      status.set(this.#pod, {
        ...this.#pod.status,
        phase: "Failed",
        reason,
        message,
        qosClass: qosClass(this.#pod),
        startTime: this.#pod.status?.startTime ?? formatTime(this.#firstSeenMs),
      });
      this.#state = "terminated";
      this.#pending = true;
      status.finish(this.#pod);
      return;
    }
    if (!this.#left) {
      const runtimePod = await this.#refresh();
      this.#waiting.clear();
      probes.stopLiveness(this.uid);
      this.#report(runtimePod, true);
      const seconds = this.#end?.graceSeconds ?? graceSeconds(this.#pod);
      this.#left = await this.#endContainers(runtimePod, seconds);
    }
    crashPoint("podworker.end.ended");
    const ended = this.#left;
    const goes = this.#removed || !!this.#pod.metadata.deletionTimestamp;
    if (goes) this.#report(ended, true, true);
    await Promise.all([
      goes ? this.#removeFromRuntime(ended) : this.#stopSandboxes(ended),
      volumes.unmount(this.uid),
    ]);
    crashPoint("podworker.end.removed");
    probes.remove(this.uid);
    this.#report(ended, true, true);
    crashPoint("podworker.end.reported");
    await cgroups.removePod(this.uid, qosClass(this.#pod));
    this.#context.admission.release(this.uid);
    this.#state = "terminated";
    this.#context.logger.debug(
      {
        pod: podDescription(this.#pod),
        tookMs: Math.round(clock.monotonic() - startedMs),
      },
      "pod ended",
    );
    status.finish(this.#pod);
    this.#pending = true;
  }

  async #cleanUp(): Promise<void> {
    const { runtimePods, hostFiles, images, restartBackOff, status } =
      this.#context;
    // What was left when everything had ended; nothing was made since.
    const left = this.#left ?? (await this.#refresh());
    if (!this.#runtimeClean) await this.#removeFromRuntime(left);
    crashPoint("podworker.gone.removed");
    await Promise.all(
      left.containers.map(({ id, name, labels }) => {
        const owner = podLabelsOf(labels);
        return hostFiles.unlinkContainerLog(
          owner.name,
          owner.namespace,
          name,
          id,
        );
      }),
    );
    runtimePods.forget(this.uid);
    images.forgetPod(this.uid);
    restartBackOff.resetPrefix(`${this.uid}/`);
    await hostFiles.removeLogs(this.uid);
    await hostFiles.removePodDirectory(this.uid);
    status.forget(this.uid);
    this.#context.admission.release(this.uid);
    this.#state = "gone";
    this.#timer?.cancel();
    this.#onGone();
  }

  /** Being removed just now: the runtime refuses a second removal at the same time. */
  readonly #pruning = new Set<string>();

  /** Of each container only so many dead ones are kept, and no dead sandbox without containers. */
  #pruneDead(name: string, runtimePod: RuntimePod): void {
    const { runtime, config, hostFiles, logger } = this.#context;
    const runs = runtimePod.containers.filter(
      (container) => container.name === name,
    );
    const surplus = runs
      .slice(1 + config.maximumDeadContainersPerContainer)
      .filter(({ state, id }) => state === "exited" && !this.#pruning.has(id));
    const kept = new Set(
      runtimePod.containers
        .filter((container) => !surplus.includes(container))
        .map(({ sandboxId }) => sandboxId),
    );
    const sandboxes = runtimePod.sandboxes.filter(
      ({ id, ready }) => !ready && !kept.has(id),
    );
    if (surplus.length + sandboxes.length === 0) return;
    const { name: podName, namespace = "default" } = this.#pod.metadata;
    const work = surplus.map(async (container) => {
      this.#pruning.add(container.id);
      await runtime
        .removeContainer(container.id)
        .finally(() => this.#pruning.delete(container.id));
      await hostFiles.unlinkContainerLog(
        podName,
        namespace,
        name,
        container.id,
      );
      void containerRecord(container.annotations);
    });
    Promise.all(work)
      .then(() =>
        Promise.all(sandboxes.map(({ id }) => runtime.removePodSandbox(id))),
      )
      .catch((error: unknown) =>
        logger.warn(
          { err: error, pod: podDescription(this.#pod) },
          "can't remove dead containers",
        ),
      );
  }
}

function withAddresses(
  pod: Pod,
  sandbox: SandboxStatus,
  nodeIPs: readonly string[],
): Pod {
  const ips = pod.spec.hostNetwork ? nodeIPs : sandbox.ips;
  const status: PodStatus = { ...pod.status };
  if (nodeIPs[0])
    Object.assign(status, {
      hostIP: nodeIPs[0],
      hostIPs: nodeIPs.map((ip) => ({ ip })),
    });
  if (ips[0])
    Object.assign(status, { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) });
  return { ...pod, status };
}

/** 10s, 1m20s, 5m0s: as Go prints durations. */
function formatDelay(delayMs: number): string {
  const seconds = Math.round(delayMs / 1000);
  return seconds < 60
    ? `${seconds}s`
    : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
