// Assigns pods to nodes. A loop takes pod after pod from the queue, places it against the state (placement.ts), assumes the
// result and binds it in the background, so that the next pod need not wait for the API. Failures are reported and the pod
// is tried again when an event makes another try worth while. Informers keep state and queue (state-feed.ts), and what is
// decided is written by decision-writer.ts.
//
// Invariants: the loop is synchronous between two awaits, so a decision always sees all earlier ones; at most
// maxBindings writes are under way; nothing runs when nothing waits.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import { isNotFound } from "../api/errors.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { namespaces, podDisruptionBudgets } from "../client/resources.ts";
import { ClusterState } from "./cluster-state.ts";
import { DecisionWriter } from "./decision-writer.ts";
import {
  DynamicResources,
  type ClaimDecision,
} from "./claims/dynamic-resources.ts";
import type { NodeInfo } from "./node-info.ts";
import { Placer, unavailableMessage } from "./placement.ts";
import type { ClusterEvent, FilterPlugin, Rejection } from "./plugin.ts";
import { PodViews } from "./pod-view.ts";
import { findPreemption } from "./preemption.ts";
import type { Preemption } from "./preemption.ts";
import { defaultFilters, defaultScores } from "./profile.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { QueuedPod } from "./scheduling-queue.ts";
import { StateFeed } from "./state-feed.ts";
import { PodVolumes } from "./volumes/pod-volumes.ts";
import { StorageState } from "./volumes/storage-state.ts";
import { createVolumeBindingFilter } from "./volumes/volume-binding-filter.ts";
import {
  createVolumeLimitFilter,
  createVolumeRestrictionsFilter,
} from "./volumes/volume-limit-filters.ts";

type AttemptResult = "scheduled" | "unschedulable" | "error";

interface SchedulerOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  /** Pods with this spec.schedulerName are this scheduler's; default "default-scheduler". */
  schedulerName?: string;
  /** Gates that are on or off, by name; the others are off. */
  featureGates?: Readonly<Record<string, boolean>>;
  /** Called after each attempt. */
  onAttempt?: (result: AttemptResult, durationMs: number) => void;
}

export interface Scheduler {
  /** Returns at once; scheduling begins when the informers have synced. */
  start(): Promise<void>;
  /** Waits for the bindings under way. */
  stop(): Promise<void>;
}

const maxBindings = 64;
/** The loop gives way to others after this long. */
const sliceMs = 8;

export function createScheduler(options: SchedulerOptions): Scheduler {
  return new PodScheduler(options);
}

class PodScheduler implements Scheduler {
  readonly #options: SchedulerOptions;
  readonly #logger: Logger;
  readonly #recorder: EventRecorder;
  readonly #views = new PodViews();
  readonly #state: ClusterState;
  readonly #queue: SchedulingQueue;
  readonly #feed: StateFeed;
  readonly #writer: DecisionWriter;
  readonly #dynamicResources: DynamicResources | undefined;
  readonly #filters: readonly FilterPlugin[];
  readonly #placer: Placer;
  readonly #volumes: PodVolumes;
  /** Bindings and reports of failures under way. */
  readonly #writes = new Set<Promise<void>>();
  /** Pods whose volumes are being bound or made; they may take minutes, and no other pod waits. */
  readonly #waiting = new Set<Promise<void>>();
  #phase: "new" | "running" | "stopped" = "new";
  #planned = false;

  constructor(options: SchedulerOptions) {
    const { client, clock, logger, featureGates = {} } = options;
    const schedulerName = options.schedulerName ?? "default-scheduler";
    this.#options = options;
    this.#logger = logger.child({ scheduler: schedulerName });
    this.#recorder = new EventRecorder({
      client,
      clock,
      logger,
      component: schedulerName,
    });
    const { lister } = client.informer(namespaces);
    this.#state = new ClusterState(
      (name) => lister.get(name)?.metadata.labels,
      this.#views,
    );
    this.#queue = new SchedulingQueue(clock, () => this.#plan());
    this.#feed = new StateFeed({
      client,
      state: this.#state,
      queue: this.#queue,
      schedulerName,
    });
    this.#writer = new DecisionWriter({
      client,
      clock,
      recorder: this.#recorder,
      schedulerName,
    });
    this.#dynamicResources = featureGates["DynamicResourceAllocation"]
      ? new DynamicResources({
          client,
          adminAccess: featureGates["DRAAdminAccess"] ?? false,
        })
      : undefined;
    const storage = new StorageState(client);
    this.#volumes = new PodVolumes({ client, clock, state: storage });
    this.#filters = defaultFilters(
      [
        createVolumeRestrictionsFilter(storage),
        createVolumeLimitFilter(storage),
        createVolumeBindingFilter(storage),
      ],
      this.#dynamicResources?.filter,
    );
    this.#placer = new Placer(this.#filters, defaultScores);
  }

  async start(): Promise<void> {
    await this.#dynamicResources?.start(() => this.#queue.notify("claim"));
    await this.#feed.start();
    // Stopped while the informers synced.
    if (this.#phase === "stopped") return;
    this.#phase = "running";
    this.#plan();
  }

  async stop(): Promise<void> {
    this.#phase = "stopped";
    this.#feed.stop();
    this.#dynamicResources?.stop();
    this.#queue.stop();
    this.#volumes.stop();
    await Promise.allSettled(this.#waiting);
    await Promise.allSettled(this.#writes);
    this.#recorder.stop();
  }

  /** Runs the loop in the next turn. */
  #plan(): void {
    if (this.#planned || this.#phase !== "running") return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#schedule();
    });
  }

  #schedule(): void {
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    while (this.#phase === "running" && this.#writes.size < maxBindings) {
      const entry = this.#queue.pop();
      if (!entry) return;
      this.#attempt(entry);
      if (clock.monotonic() - startMs > sliceMs) return this.#plan();
    }
  }

  #attempt(entry: QueuedPod): void {
    const { clock, onAttempt } = this.#options;
    const startMs = clock.monotonic();
    let result: AttemptResult;
    try {
      result = this.#place(entry);
    } catch (error) {
      this.#logger.error({ err: error, pod: entry.key }, "scheduling failed");
      this.#queue.failed(entry, undefined);
      this.#track(
        this.#writer.reportFailure(
          entry.pod,
          "SchedulerError",
          (error as Error).message,
        ),
      );
      result = "error";
    }
    onAttempt?.(result, clock.monotonic() - startMs);
  }

  #place(entry: QueuedPod): AttemptResult {
    const { pod } = entry;
    // Its claims come by a controller: until they are there nothing is reported, as for a gated pod.
    if (this.#dynamicResources?.notYet(pod) !== undefined) {
      this.#queue.failed(entry, new Set(["claim"]));
      return "unschedulable";
    }
    const placement = this.#placer.place(this.#views.of(pod), this.#state);
    if ("node" in placement) {
      const { name, node } = placement.node;
      const claims = node && this.#dynamicResources?.reserve(pod, node);
      this.#state.assume(pod, name);
      const bindVolumes = this.#volumes.reserve(pod, placement.node);
      if (bindVolumes) this.#bindAfter(bindVolumes, entry, name, claims);
      else this.#track(this.#bind(entry, name, claims));
      return "scheduled";
    }
    const { rejections } = placement;
    const { preemption, message } = this.#makeRoom(pod, rejections);
    this.#queue.failed(entry, this.#hintsOf(rejections));
    this.#releaseUnused(pod, rejections);
    this.#track(
      this.#writer.reportFailure(pod, "Unschedulable", message, preemption),
    );
    return "unschedulable";
  }

  /** Nominates a node where ending pods of lower priority would make the pod fit. */
  #makeRoom(
    pod: Pod,
    rejections: ReadonlyMap<NodeInfo, Rejection>,
  ): { message: string; preemption?: Preemption } {
    const message = unavailableMessage(this.#state.nodes().length, rejections);
    if (rejections.size === 0) return { message };
    const budgets = this.#options.client
      .informer(podDisruptionBudgets)
      .lister.list();
    const result = findPreemption(
      this.#views.of(pod),
      this.#state,
      this.#filters,
      rejections,
      budgets,
    );
    if (!("preemption" in result))
      return { message: `${message} preemption: ${result.message}` };
    const { preemption } = result;
    this.#state.nominate(pod, preemption.node.name);
    return { message, preemption };
  }

  /** Claims that are allocated where the pod can't go are allocated again. */
  #releaseUnused(pod: Pod, rejections: ReadonlyMap<NodeInfo, Rejection>): void {
    if (!this.#dynamicResources) return;
    const { name } = this.#dynamicResources.filter;
    const nodes = [...rejections].flatMap(([{ node }, { plugin }]) =>
      node && plugin === name ? [node] : [],
    );
    if (nodes.length > 0)
      this.#track(this.#dynamicResources.makeRoom(pod, nodes));
  }

  /** What may make the pod fit: the events that any filter which rejected it cares about. */
  #hintsOf(
    rejections: ReadonlyMap<unknown, { plugin: string }>,
  ): ReadonlySet<ClusterEvent> {
    const plugins = new Set(
      [...rejections.values()].map(({ plugin }) => plugin),
    );
    const hints = this.#filters
      .filter(({ name }) => plugins.has(name))
      .flatMap((filter) => filter.hints);
    return new Set<ClusterEvent>(["node-added", ...hints]);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, "could not write a decision");
      })
      .finally(() => {
        this.#writes.delete(tracked);
        if (this.#queue.activeSize > 0) this.#plan();
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
        () => this.#track(this.#bind(entry, nodeName, claims)),
        (error: unknown) =>
          this.#track(
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
      if (claims) await this.#dynamicResources?.bind(claims);
      step = "running Bind";
      await this.#writer.bind(entry.pod, nodeName);
    } catch (error) {
      return this.#failed(entry, error, step, claims);
    }
    this.#queue.done(entry);
  }

  /** After the pod was assumed on a node. */
  async #failed(
    entry: QueuedPod,
    error: unknown,
    step: string,
    claims: ClaimDecision | undefined,
  ): Promise<void> {
    if (claims)
      await this.#dynamicResources
        ?.unreserve(claims)
        .catch((failure: unknown) =>
          this.#logger.warn(
            { err: failure, pod: entry.key },
            "could not release a pod's claims",
          ),
        );
    this.#state.forget(entry.key);
    this.#queue.notify("pod-removed");
    if (isNotFound(error) && step === "running Bind")
      return this.#queue.remove(entry.key);
    if (this.#phase === "stopped") return;
    this.#logger.warn({ err: error, pod: entry.key }, "binding failed");
    this.#queue.failed(entry, undefined);
    const text = error instanceof Error ? error.message : String(error);
    return this.#writer.reportFailure(
      entry.pod,
      "SchedulerError",
      `${step}: ${text}`,
    );
  }
}
