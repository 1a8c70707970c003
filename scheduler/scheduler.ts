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
import { namespaces, podDisruptionBudgets } from "../client/resources.ts";
import { ClusterState } from "./cluster-state.ts";
import { completeConfiguration } from "./configuration/defaults.ts";
import type { CompleteConfiguration } from "./configuration/configuration-types.ts";
import {
  DynamicResources,
  type ClaimDecision,
} from "./claims/dynamic-resources.ts";
import { PodOwners } from "./filters/spread-defaults.ts";
import type { NodeInfo } from "./node-info.ts";
import { unavailableMessage } from "./placement.ts";
import type { ClusterEvent, Rejection } from "./plugin.ts";
import { PodViews } from "./pod-view.ts";
import { findPreemption } from "./preemption.ts";
import type { Preemption } from "./preemption.ts";
import { ProfileSet, type RunningProfile } from "./profile-set.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { QueuedPod } from "./scheduling-queue.ts";
import { StateFeed } from "./state-feed.ts";
import { PodVolumes } from "./volumes/pod-volumes.ts";
import { StorageState } from "./volumes/storage-state.ts";

type AttemptResult = "scheduled" | "unschedulable" | "error";

interface SchedulerOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  /** Default: one profile, "default-scheduler", with the default plug-ins. It has to be valid. */
  configuration?: CompleteConfiguration;
  /** What a pod waits after its first failed try; default 100 ms. */
  initialBackoffMs?: number | undefined;
  /** How long a pod that fits nowhere waits for an event at most; default 5 minutes. */
  maxUnschedulableMs?: number | undefined;
  /** Gates that are on or off, by name; the others are off. */
  featureGates?: Readonly<Record<string, boolean>>;
  /** Called after each attempt. */
  onAttempt?: (
    result: AttemptResult,
    durationMs: number,
    profile: string,
  ) => void;
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
  readonly #views = new PodViews();
  readonly #state: ClusterState;
  readonly #queue: SchedulingQueue;
  readonly #feed: StateFeed;
  readonly #profiles: ProfileSet;
  #owners: PodOwners | undefined;
  readonly #dynamicResources: DynamicResources | undefined;
  readonly #volumes: PodVolumes;
  /** Bindings and reports of failures under way. */
  readonly #writes = new Set<Promise<void>>();
  /** Pods whose volumes are being bound or made; they may take minutes, and no other pod waits. */
  readonly #waiting = new Set<Promise<void>>();
  #phase: "new" | "running" | "stopped" = "new";
  #planned = false;

  constructor(options: SchedulerOptions) {
    const { client, clock, logger, featureGates = {} } = options;
    const gate = featureGates["DynamicResourceAllocation"] ?? false;
    const configuration =
      options.configuration ??
      completeConfiguration({}, { dynamicResources: gate });
    this.#options = options;
    this.#logger = logger;
    const { lister } = client.informer(namespaces);
    this.#state = new ClusterState(
      (name) => lister.get(name)?.metadata.labels,
      this.#views,
    );
    this.#dynamicResources = gate
      ? new DynamicResources({
          client,
          adminAccess: featureGates["DRAAdminAccess"] ?? false,
        })
      : undefined;
    const storage = new StorageState(client);
    this.#volumes = new PodVolumes({ client, clock, state: storage });
    this.#profiles = new ProfileSet({
      client,
      clock,
      logger,
      configuration,
      context: {
        storage,
        owners: () => (this.#owners ??= new PodOwners(client)),
        dynamicResources: this.#dynamicResources,
      },
    });
    this.#queue = new SchedulingQueue(clock, () => this.#plan(), {
      initialBackoffMs: options.initialBackoffMs,
      maxBackoffMs: configuration.podMaxBackoffSeconds * 1000,
      maxUnschedulableMs: options.maxUnschedulableMs,
      isGated: (pod) => this.#profiles.find(pod)?.isGated(pod) ?? false,
    });
    this.#feed = new StateFeed({
      client,
      state: this.#state,
      queue: this.#queue,
      isMine: (pod) => this.#profiles.find(pod) !== undefined,
    });
  }

  async start(): Promise<void> {
    await this.#dynamicResources?.start(() => this.#queue.notify("claim"));
    await this.#owners?.synced();
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
    this.#profiles.stop();
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
    const profile = this.#profiles.of(entry.pod);
    let result: AttemptResult;
    try {
      result = this.#place(entry, profile);
    } catch (error) {
      this.#logger.error({ err: error, pod: entry.key }, "scheduling failed");
      this.#queue.failed(entry, undefined);
      this.#track(
        profile.writer.reportFailure(
          entry.pod,
          "SchedulerError",
          (error as Error).message,
        ),
      );
      result = "error";
    }
    onAttempt?.(result, clock.monotonic() - startMs, profile.name);
  }

  #place(entry: QueuedPod, profile: RunningProfile): AttemptResult {
    const { pod } = entry;
    // Its claims come by a controller: until they are there nothing is reported, as for a gated pod.
    if (
      profile.claimsAt("preEnqueue") &&
      this.#dynamicResources?.notYet(pod) !== undefined
    ) {
      this.#queue.failed(entry, new Set(["claim"]));
      return "unschedulable";
    }
    const placement = profile.placer.place(this.#views.of(pod), this.#state);
    if ("node" in placement) {
      this.#take(entry, profile, placement.node);
      return "scheduled";
    }
    const { rejections } = placement;
    const { preemption, message } = this.#makeRoom(pod, profile, rejections);
    this.#queue.failed(entry, hintsOf(profile, rejections));
    if (profile.claimsAt("postFilter")) this.#releaseUnused(pod, rejections);
    this.#track(
      profile.writer.reportFailure(pod, "Unschedulable", message, preemption),
    );
    return "unschedulable";
  }

  /** The pod is on the node from now on; the rest follows in the background. */
  #take(entry: QueuedPod, profile: RunningProfile, info: NodeInfo): void {
    const { pod } = entry;
    const { name, node } = info;
    const claims =
      node && profile.claimsAt("reserve")
        ? this.#dynamicResources?.reserve(pod, node)
        : undefined;
    this.#state.assume(pod, name);
    const bindVolumes =
      profile.volumeBindingMs === undefined
        ? undefined
        : this.#volumes.reserve(pod, info, profile.volumeBindingMs);
    if (bindVolumes) this.#bindAfter(bindVolumes, entry, name, claims);
    else this.#track(this.#bind(entry, name, claims));
  }

  /** Nominates a node where ending pods of lower priority would make the pod fit. */
  #makeRoom(
    pod: Pod,
    { preemption: args, filters }: RunningProfile,
    rejections: ReadonlyMap<NodeInfo, Rejection>,
  ): { message: string; preemption?: Preemption } {
    const message = unavailableMessage(this.#state.nodes().length, rejections);
    if (rejections.size === 0 || !args) return { message };
    const budgets = this.#options.client
      .informer(podDisruptionBudgets)
      .lister.list();
    const result = findPreemption(this.#views.of(pod), this.#state, {
      filters,
      rejections,
      budgets,
      args,
    });
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
      await this.#profiles.of(entry.pod).writer.bind(entry.pod, nodeName);
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
    return this.#profiles
      .of(entry.pod)
      .writer.reportFailure(entry.pod, "SchedulerError", `${step}: ${text}`);
  }
}

/** What may make the pod fit: the events that any filter which rejected it cares about. */
function hintsOf(
  { filters }: RunningProfile,
  rejections: ReadonlyMap<unknown, { plugin: string }>,
): ReadonlySet<ClusterEvent> {
  const plugins = new Set([...rejections.values()].map(({ plugin }) => plugin));
  const hints = filters
    .filter(({ name }) => plugins.has(name))
    .flatMap((filter) => filter.hints);
  return new Set<ClusterEvent>(["node-added", ...hints]);
}
