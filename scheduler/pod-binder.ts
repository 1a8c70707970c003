// What follows the decision that a pod goes to a node: the pod counts there at once, then its volumes are bound, its claims
// of devices written, and the pod itself is bound, by an extender or by the API. When a step fails the pod counts no more,
// and is tried again.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import { isNotFound } from "../api/errors.ts";
import type {
  ClaimDecision,
  DynamicResources,
} from "./claims/dynamic-resources.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { Extenders } from "./extenders/extenders.ts";
import type { SchedulerMetrics } from "./metrics/scheduler-metrics.ts";
import type { NodeInfo } from "./node-info.ts";
import type { ProfileSet, RunningProfile } from "./profile-set.ts";
import type { QueuedPod, SchedulingQueue } from "./scheduling-queue.ts";
import type { PodVolumes } from "./volumes/pod-volumes.ts";

interface PodBinderOptions {
  readonly logger: Logger;
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  readonly profiles: ProfileSet;
  readonly volumes: PodVolumes;
  readonly dynamicResources: DynamicResources | undefined;
  readonly extenders: Extenders | undefined;
  readonly clock: Clock;
  readonly metrics: SchedulerMetrics | undefined;
  /** Called when something that was tracked has ended. */
  readonly onWritten: () => void;
}

export class PodBinder {
  /** Bindings and reports of failures under way. */
  readonly #writes = new Set<Promise<void>>();
  /** Pods whose volumes are being bound or made; they may take minutes, and no other pod waits. */
  readonly #waiting = new Set<Promise<void>>();
  readonly #options: PodBinderOptions;
  #stopped = false;

  constructor(options: PodBinderOptions) {
    this.#options = options;
  }

  get writing(): number {
    return this.#writes.size;
  }

  /** Waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.volumes.stop();
    await Promise.allSettled(this.#waiting);
    await Promise.allSettled(this.#writes);
  }

  /** The pod is on the node from now on; the rest follows in the background. */
  take(entry: QueuedPod, profile: RunningProfile, info: NodeInfo): void {
    const { state, volumes, dynamicResources } = this.#options;
    const { pod } = entry;
    const { name, node } = info;
    const claims =
      node && profile.claimsAt("reserve")
        ? dynamicResources?.reserve(pod, node)
        : undefined;
    state.assume(pod, name);
    const bindVolumes =
      profile.volumeBindingMs === undefined
        ? undefined
        : volumes.reserve(pod, info, profile.volumeBindingMs);
    if (bindVolumes) this.#bindAfter(bindVolumes, entry, name, claims);
    else this.track(this.#bind(entry, name, claims));
  }

  track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, "could not write a decision");
      })
      .finally(() => {
        this.#writes.delete(tracked);
        this.#options.onWritten();
      });
    this.#writes.add(tracked);
  }

  #bindAfter(
    bindVolumes: () => Promise<void>,
    entry: QueuedPod,
    nodeName: string,
    claims: ClaimDecision | undefined,
  ): void {
    const waiting = bindVolumes()
      .then(
        () => this.track(this.#bind(entry, nodeName, claims)),
        (error: unknown) =>
          this.track(
            this.#failed(
              entry,
              error,
              'running PreBind plugin "VolumeBinding"',
              claims,
            ),
          ),
      )
      .finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
  }

  async #bind(
    entry: QueuedPod,
    nodeName: string,
    claims: ClaimDecision | undefined,
  ): Promise<void> {
    let step = 'running PreBind plugin "DynamicResources"';
    try {
      if (claims) await this.#options.dynamicResources?.bind(claims);
      step = "running Bind";
      const { writer } = this.#options.profiles.of(entry.pod);
      await this.#write(entry, nodeName);
      writer.reportBound(entry.pod, nodeName);
    } catch (error) {
      return this.#failed(entry, error, step, claims);
    }
    this.#options.queue.done(entry);
  }

  async #write(entry: QueuedPod, nodeName: string): Promise<void> {
    const { clock, extenders, metrics, profiles } = this.#options;
    const { name, writer } = profiles.of(entry.pod);
    const startMs = clock.monotonic();
    const seconds = (): number => (clock.monotonic() - startMs) / 1000;
    try {
      if (!(await extenders?.bind(entry.pod, nodeName)))
        await writer.bind(entry.pod, nodeName);
    } catch (error) {
      metrics?.point("Bind", "Error", name, seconds());
      throw error;
    }
    metrics?.point("Bind", "Success", name, seconds());
    const waitedMs = clock.monotonic() - entry.firstTriedMs;
    metrics?.bound(entry.attempts, waitedMs / 1000);
  }

  /** After the pod was assumed on a node. */
  async #failed(
    entry: QueuedPod,
    error: unknown,
    step: string,
    claims: ClaimDecision | undefined,
  ): Promise<void> {
    if (claims)
      await this.#options.dynamicResources
        ?.unreserve(claims)
        .catch((failure: unknown) =>
          this.#options.logger.warn(
            { err: failure, pod: entry.key },
            "could not release a pod's claims",
          ),
        );
    this.#options.state.forget(entry.key);
    this.#options.queue.notify("pod-removed");
    if (isNotFound(error) && step === "running Bind")
      return this.#options.queue.remove(entry.key);
    if (this.#stopped) return;
    this.#options.logger.warn({ err: error, pod: entry.key }, "binding failed");
    this.#options.queue.failed(entry, undefined);
    const text = error instanceof Error ? error.message : String(error);
    return this.#options.profiles
      .of(entry.pod)
      .writer.reportFailure(entry.pod, "SchedulerError", `${step}: ${text}`);
  }
}
