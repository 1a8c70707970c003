// What the scheduler's port shows under /metrics, with the reference's names and buckets. Attempts and what they consist of
// are counted as they happen; what waits and what is known is asked at a scrape.
// Left out: counts of each plug-in's evaluations of each node, which would cost every filter a counter a node.
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";

export type AttemptResult = "scheduled" | "unschedulable" | "error";

/** Where a pod's attempt is, as far as the work there is timed. */
type TimedPoint = "PreFilter" | "Filter" | "PostFilter" | "Score" | "Bind";

export type PointStatus =
  "Success" | "Error" | "Unschedulable" | "UnschedulableAndUnresolvable";

/** Pods that wait in vain, one of whose refusals was the plug-in's. */
export interface UnschedulableCount {
  readonly profile: string;
  readonly plugin: string;
  pods: number;
}

/** What a running scheduler is asked at a scrape. */
interface SchedulerState {
  /** Pods that wait, by queue. */
  pending(): Readonly<Record<string, number>>;
  unschedulable(): Iterable<UnschedulableCount>;
  /** What is known of the cluster, by its kind. */
  sizes(): Readonly<Record<string, number>>;
}

const attemptBounds = exponentialBounds(0.001, 2, 15);
const pointBounds = exponentialBounds(0.0001, 2, 12);
const pluginBounds = exponentialBounds(0.00001, 1.5, 20);
const waitBounds = exponentialBounds(0.01, 2, 20);
/** More attempts of a pod are counted as this many. */
const mostAttempts = 15;

export class SchedulerMetrics {
  #state: SchedulerState | undefined;
  readonly #attempts = new Counters({
    name: "scheduler_schedule_attempts_total",
    help: "Attempts to schedule pods, by result.",
    labels: ["profile", "result"],
  });
  readonly #durations = new Histograms(
    {
      name: "scheduler_scheduling_attempt_duration_seconds",
      help: "How long attempts took, binding left out.",
      labels: ["profile", "result"],
    },
    attemptBounds,
  );
  readonly #algorithm = new Histograms(
    {
      name: "scheduler_scheduling_algorithm_duration_seconds",
      help: "How long finding a node took where there was one.",
    },
    attemptBounds,
  );
  readonly #tries = new Histograms(
    {
      name: "scheduler_pod_scheduling_attempts",
      help: "How often pods were tried until they were scheduled.",
    },
    [1, 2, 4, 8, 16],
  );
  readonly #waits = new Histograms(
    {
      name: "scheduler_pod_scheduling_sli_duration_seconds",
      help: "How long pods took from their first attempt until they were bound, by the number of attempts.",
      labels: ["attempts"],
    },
    waitBounds,
  );
  readonly #points = new Histograms(
    {
      name: "scheduler_framework_extension_point_duration_seconds",
      help: "How long all plug-ins of an extension point took.",
      labels: ["extension_point", "status", "profile"],
    },
    pointBounds,
  );
  readonly #plugins = new Histograms(
    {
      name: "scheduler_plugin_execution_duration_seconds",
      help: "How long a plug-in took at an extension point, in one of ten attempts.",
      labels: ["plugin", "extension_point", "status"],
    },
    pluginBounds,
  );
  readonly #preemptions = new Counters({
    name: "scheduler_preemption_attempts_total",
    help: "How often it was tried to make room for a pod.",
  });
  readonly #victims = new Histograms(
    {
      name: "scheduler_preemption_victims",
      help: "Pods that had to make room at a time.",
    },
    exponentialBounds(1, 2, 7),
  );
  readonly #incoming = new Counters({
    name: "scheduler_queue_incoming_pods_total",
    help: "Pods that came into a queue, by the event that brought them.",
    labels: ["queue", "event"],
  });

  /** The scheduler that runs. */
  follow(state: SchedulerState): void {
    this.#state = state;
  }

  /** @param attempts of the same pod until now */
  attempt(
    result: AttemptResult,
    durationMs: number,
    profile: string,
    attempts: number,
  ): void {
    if (result === "scheduled") this.#tries.observe(attempts);
    this.#attempts.count(profile, result);
    this.#durations.observe(durationMs / 1000, profile, result);
  }

  found(seconds: number): void {
    this.#algorithm.observe(seconds);
  }

  /** A pod is bound. @param seconds since its first attempt */
  bound(attempts: number, seconds: number): void {
    const shown =
      attempts < mostAttempts ? String(attempts) : `${mostAttempts}+`;
    this.#waits.observe(seconds, shown);
  }

  point(
    point: TimedPoint,
    status: PointStatus,
    profile: string,
    seconds: number,
  ): void {
    this.#points.observe(seconds, point, status, profile);
  }

  plugin(
    plugin: string,
    point: TimedPoint,
    status: PointStatus,
    seconds: number,
  ): void {
    this.#plugins.observe(seconds, plugin, point, status);
  }

  /** @param startMs of performance.now(), when room began to be looked for */
  preempts(profile: string, found: boolean, startMs: number): void {
    this.#preemptions.count();
    const seconds = (performance.now() - startMs) / 1000;
    const status = found ? "Success" : "Unschedulable";
    this.point("PostFilter", status, profile, seconds);
  }

  victims(count: number): void {
    this.#victims.observe(count);
  }

  queued(queue: string, event: string): void {
    this.#incoming.count(queue, event);
  }

  families(): Family[] {
    return [
      this.#attempts.family(),
      this.#durations.family(),
      this.#algorithm.family(),
      this.#tries.family(),
      this.#waits.family(),
      this.#points.family(),
      this.#plugins.family(),
      this.#preemptions.family(),
      this.#victims.family(),
      this.#incoming.family(),
      ...this.#stateFamilies(),
    ];
  }

  #stateFamilies(): Family[] {
    const pending = new Family(
      "scheduler_pending_pods",
      "gauge",
      "Pods that wait, by queue.",
    );
    const unschedulable = new Family(
      "scheduler_unschedulable_pods",
      "gauge",
      "Pods that wait in vain, by each plug-in that refused them.",
    );
    const sizes = new Family(
      "scheduler_scheduler_cache_size",
      "gauge",
      "What the scheduler knows of: nodes, pods, and pods that are about to be bound.",
    );
    if (this.#state) {
      for (const [queue, count] of Object.entries(this.#state.pending()))
        pending.add({ queue }, count);
      for (const { profile, plugin, pods } of this.#state.unschedulable())
        unschedulable.add({ plugin, profile }, pods);
      for (const [type, count] of Object.entries(this.#state.sizes()))
        sizes.add({ type }, count);
    }
    return [pending, unschedulable, sizes];
  }
}
