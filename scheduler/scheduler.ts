// Assigns pods to nodes. A loop takes pod after pod from the queue, places it against the state (placement.ts), assumes the
// result and binds it in the background, so that the next pod need not wait for the API. Failures are reported and the pod
// is tried again when an event makes another try worth while. Informers keep state and queue (state-feed.ts), and what is
// decided is written by decision-writer.ts.
//
// Invariants: the loop is synchronous between two awaits, so a decision always sees all earlier ones; at most
// maxBindings writes are under way; nothing runs when nothing waits.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { Family } from "../api/metrics/family.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { namespaces, pods } from "../client/resources.ts";
import { ClusterState } from "./cluster-state.ts";
import { completeConfiguration } from "./configuration/defaults.ts";
import type { CompleteConfiguration } from "./configuration/configuration-types.ts";
import { DynamicResources } from "./claims/dynamic-resources.ts";
import { Extenders } from "./extenders/extenders.ts";
import { hintsOf } from "./rejection-hints.ts";
import { PodOwners } from "./filters/spread-defaults.ts";
import { podResourceFamilies } from "./metrics/pod-resources.ts";
import type {
  AttemptResult,
  SchedulerMetrics,
} from "./metrics/scheduler-metrics.ts";
import { unschedulablePods } from "./metrics/unschedulable-pods.ts";
import type { NodeInfo } from "./node-info.ts";
import { unavailableMessage, type Search } from "./placement.ts";
import { allEvents, type Rejection } from "./plugin.ts";
import { PodViews } from "./pod-view.ts";
import { PodBinder } from "./pod-binder.ts";
import { ProfileSet, type RunningProfile } from "./profile-set.ts";
import { RoomMaker, type Room } from "./room-maker.ts";
import { type PendingQueue, SchedulingQueue } from "./scheduling-queue.ts";
import type { QueuedPod } from "./scheduling-queue.ts";
import { StateFeed } from "./state-feed.ts";
import { PodVolumes } from "./volumes/pod-volumes.ts";
import { StorageState } from "./volumes/storage-state.ts";

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
  /** Takes what is done, and asks this scheduler from now on for what waits. */
  metrics?: SchedulerMetrics;
}

export interface Scheduler {
  /** Returns at once; scheduling begins when the informers have synced. */
  start(): Promise<void>;
  /** Waits for the bindings under way. */
  stop(): Promise<void>;
  /** Pods that wait, by the queue that they are in. */
  pending(): Readonly<Record<PendingQueue, number>>;
  /** What all pods ask for, for /metrics/resources. */
  podResources(): Family[];
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
  readonly #rooms: RoomMaker;
  readonly #binder: PodBinder;
  readonly #extenders: Extenders | undefined;
  /** Extenders are being asked about a pod: no other is tried, as each decision has to see all earlier ones. */
  #asking: Promise<void> | undefined;
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
    this.#profiles = new ProfileSet({
      client,
      clock,
      logger,
      configuration,
      context: {
        storage,
        owners: () => (this.#owners ??= new PodOwners(client)),
        dynamicResources: this.#dynamicResources,
        metrics: options.metrics,
      },
    });
    const { metrics } = options;
    this.#rooms = new RoomMaker({
      ...{ client, metrics },
      state: this.#state,
      views: this.#views,
    });
    this.#queue = new SchedulingQueue(clock, () => this.#plan(), {
      initialBackoffMs: options.initialBackoffMs,
      maxBackoffMs: configuration.podMaxBackoffSeconds * 1000,
      maxUnschedulableMs: options.maxUnschedulableMs,
      isGated: (pod) => this.#profiles.find(pod)?.isGated(pod) ?? false,
      onQueued: (queue, event) => metrics?.queued(queue, event),
    });
    this.#feed = new StateFeed({
      client,
      state: this.#state,
      queue: this.#queue,
      isMine: (pod) => this.#profiles.find(pod) !== undefined,
    });
    const { extenders = [] } = configuration;
    this.#extenders =
      extenders.length > 0 ? new Extenders(extenders, logger) : undefined;
    this.#binder = new PodBinder({
      logger,
      state: this.#state,
      queue: this.#queue,
      profiles: this.#profiles,
      volumes: new PodVolumes({ client, clock, state: storage }),
      dynamicResources: this.#dynamicResources,
      extenders: this.#extenders,
      ...{ clock, metrics },
      onWritten: () => {
        if (this.#queue.activeSize > 0) this.#plan();
      },
    });
    metrics?.follow({
      pending: () => this.pending(),
      sizes: () => this.#state.sizes(),
      unschedulable: () => unschedulablePods(this.#queue, this.#profiles),
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
    this.#extenders?.stopAsking();
    await this.#asking;
    await this.#binder.stop();
    await this.#extenders?.close();
    this.#profiles.stop();
  }

  pending(): Readonly<Record<PendingQueue, number>> {
    return this.#queue.counts();
  }

  podResources(): Family[] {
    const { lister } = this.#options.client.informer(pods);
    return podResourceFamilies(lister.list());
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
    while (
      this.#phase === "running" &&
      !this.#asking &&
      this.#binder.writing < maxBindings
    ) {
      const entry = this.#queue.pop();
      if (!entry) return;
      this.#attempt(entry);
      if (clock.monotonic() - startMs > sliceMs) return this.#plan();
    }
  }

  #attempt(entry: QueuedPod): void {
    const profile = this.#profiles.of(entry.pod);
    const startMs = this.#options.clock.monotonic();
    const report = (result: AttemptResult): void =>
      this.#options.metrics?.attempt(
        result,
        this.#options.clock.monotonic() - startMs,
        profile.name,
        entry.attempts,
      );
    if (this.#extenders?.decideOn(entry.pod)) {
      this.#asking = this.#placeByExtenders(this.#extenders, entry, profile)
        .catch((error: unknown) => this.#errored(entry, profile, error))
        .then((result) => {
          this.#asking = undefined;
          report(result);
          this.#plan();
        });
      return;
    }
    let result: AttemptResult;
    try {
      result = this.#place(entry, profile);
    } catch (error) {
      result = this.#errored(entry, profile, error);
    }
    report(result);
  }

  #errored(
    entry: QueuedPod,
    { writer }: RunningProfile,
    error: unknown,
  ): AttemptResult {
    if (this.#phase === "stopped") return "error";
    this.#logger.error({ err: error, pod: entry.key }, "scheduling failed");
    this.#queue.failed(entry, undefined);
    this.#binder.track(
      writer.reportFailure(
        entry.pod,
        "SchedulerError",
        (error as Error).message,
      ),
    );
    return "error";
  }

  #place(entry: QueuedPod, profile: RunningProfile): AttemptResult {
    const { pod } = entry;
    if (this.#isUntimely(entry, profile)) return "unschedulable";
    const view = this.#views.of(pod);
    const startMs = performance.now();
    const placement = profile.placer.place(view, this.#state);
    if ("node" in placement) {
      this.#options.metrics?.found((performance.now() - startMs) / 1000);
      this.#binder.take(entry, profile, placement.node);
      return "scheduled";
    }
    const { rejections } = placement;
    const room = this.#rooms.look(pod, profile, rejections);
    return this.#unplaced(entry, profile, rejections, room);
  }

  async #placeByExtenders(
    extenders: Extenders,
    entry: QueuedPod,
    profile: RunningProfile,
  ): Promise<AttemptResult> {
    const { pod } = entry;
    if (this.#isUntimely(entry, profile)) return "unschedulable";
    const view = this.#views.of(pod);
    const { placer } = profile;
    const left = async ({ feasible, rejections }: Search) =>
      (await extenders.filter(pod, feasible, rejections)).filter(
        // It may have gone meanwhile.
        ({ node }) => node !== undefined,
      );
    let search = placer.search(view, this.#state);
    let feasible = await left(search);
    if (feasible.length === 0 && search.nominated) {
      search = placer.search(view, this.#state, { anyNode: true });
      feasible = await left(search);
    }
    const { rejections } = search;
    if (feasible.length > 0) {
      const points =
        feasible.length > 1 ? await extenders.points(pod, feasible) : undefined;
      if (this.#phase === "stopped") return "error";
      this.#binder.take(
        entry,
        profile,
        placer.choose(view, feasible, this.#state, points),
      );
      return "scheduled";
    }
    const byExtenders = search.feasible.length > 0;
    let room: Room = this.#rooms.look(pod, profile, rejections);
    if (room && "candidates" in room) {
      const candidates = await extenders.preempt(pod, room.candidates);
      room =
        candidates.length > 0
          ? { candidates }
          : { message: "no candidate node for preemption" };
    }
    return this.#unplaced(entry, profile, rejections, room, byExtenders);
  }

  /** Its claims come by a controller: until they are there nothing is reported, as for a gated pod. */
  #isUntimely(entry: QueuedPod, profile: RunningProfile): boolean {
    const waits =
      profile.claimsAt("preEnqueue") &&
      this.#dynamicResources?.notYet(entry.pod) !== undefined;
    if (waits) this.#queue.failed(entry, new Set(["claim"]));
    return waits;
  }

  /** No node takes the pod. @param byExtenders plug-ins would have taken it to one, extenders did not */
  #unplaced(
    entry: QueuedPod,
    profile: RunningProfile,
    rejections: ReadonlyMap<NodeInfo, Rejection>,
    room: Room,
    byExtenders = false,
  ): AttemptResult {
    if (this.#phase === "stopped") return "error";
    const { pod } = entry;
    const why = unavailableMessage(this.#state.nodes().length, rejections);
    const message =
      room && "message" in room ? `${why} preemption: ${room.message}` : why;
    const outcome = this.#rooms.settle(pod, room);
    this.#queue.failed(
      entry,
      byExtenders ? allEvents : hintsOf(profile, rejections),
      new Set([...rejections.values()].map(({ plugin }) => plugin)),
    );
    if (profile.claimsAt("postFilter")) this.#releaseUnused(pod, rejections);
    this.#binder.track(
      profile.writer.reportFailure(pod, "Unschedulable", message, outcome),
    );
    return "unschedulable";
  }

  /** Claims that are allocated where the pod can't go are allocated again. */
  #releaseUnused(pod: Pod, rejections: ReadonlyMap<NodeInfo, Rejection>): void {
    if (!this.#dynamicResources) return;
    const { name } = this.#dynamicResources.filter;
    const nodes = [...rejections].flatMap(([{ node }, { plugin }]) =>
      node && plugin === name ? [node] : [],
    );
    if (nodes.length > 0)
      this.#binder.track(this.#dynamicResources.makeRoom(pod, nodes));
  }
}
