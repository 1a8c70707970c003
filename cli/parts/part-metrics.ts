// What the controllers' and the scheduler's ports show under /metrics, with the reference's names: the work queues
// (workqueue_*) and the scheduler's attempts. Counted in plain numbers.
import type {
  ControllerMetrics,
  ObservedQueue,
} from "../../controllers/context.ts";
import { Family, type MetricType } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import type { WorkQueueMetrics } from "../../client/work-queue.ts";

/** Upper bounds in seconds, ten times from one to the next, as the reference's. */
const queueBounds = [
  1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01,
  0.1, 1, 10,
];
const attemptBounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);

interface QueueNumbers {
  readonly queue: ObservedQueue;
  adds: number;
  retries: number;
  readonly waited: Histogram;
  readonly worked: Histogram;
}

/** Attempts of the scheduler by result. */
type AttemptResult = "scheduled" | "unschedulable" | "error";

export class PartMetrics implements ControllerMetrics {
  readonly #queues = new Map<string, QueueNumbers>();
  /** By profile, then by result. */
  readonly #attempts = new Map<string, Map<AttemptResult, Histogram>>();

  readonly #tries = new Histogram([1, 2, 4, 8, 16]);
  #pending: (() => Readonly<Record<string, number>>) | undefined;

  queue(name: string, queue: ObservedQueue): WorkQueueMetrics {
    const numbers: QueueNumbers = {
      queue,
      adds: 0,
      retries: 0,
      waited: new Histogram(queueBounds),
      worked: new Histogram(queueBounds),
    };
    this.#queues.set(name, numbers);
    return {
      added: () => void numbers.adds++,
      taken: (waitedMs) => numbers.waited.observe(waitedMs / 1000),
      worked: (durationMs) => numbers.worked.observe(durationMs / 1000),
      retried: () => void numbers.retries++,
    };
  }

  /** @param pending pods that wait, by queue, of the scheduler that runs */
  followPending(pending: () => Readonly<Record<string, number>>): void {
    this.#pending = pending;
  }

  /** @param attempts of the same pod until now */
  attempt(
    result: AttemptResult,
    durationMs: number,
    profile: string,
    attempts: number,
  ): void {
    if (result === "scheduled") this.#tries.observe(attempts);
    let results = this.#attempts.get(profile);
    if (!results) this.#attempts.set(profile, (results = new Map()));
    let histogram = results.get(result);
    if (!histogram) {
      histogram = new Histogram(attemptBounds);
      results.set(result, histogram);
    }
    histogram.observe(durationMs / 1000);
  }

  families(): Family[] {
    return [...this.#queueFamilies(), ...this.#attemptFamilies()];
  }

  #queueFamilies(): Family[] {
    const family = (
      name: string,
      type: MetricType,
      help: string,
      value: (numbers: QueueNumbers) => number | Histogram,
    ): Family => {
      const made = new Family(`workqueue_${name}`, type, help);
      for (const [queue, numbers] of this.#queues) {
        const found = value(numbers);
        if (typeof found === "number") made.add({ name: queue }, found);
        else made.addHistogram({ name: queue }, found);
      }
      return made;
    };
    return [
      family(
        "adds_total",
        "counter",
        "Keys added to the queue.",
        ({ adds }) => adds,
      ),
      family("depth", "gauge", "Keys that wait.", ({ queue }) => queue.length),
      family(
        "longest_running_processor_seconds",
        "gauge",
        "How long the longest work under way has run.",
        ({ queue }) => Math.max(0, ...queue.workingForMs) / 1000,
      ),
      family(
        "queue_duration_seconds",
        "histogram",
        "How long keys waited.",
        ({ waited }) => waited,
      ),
      family(
        "retries_total",
        "counter",
        "Keys that failed and were tried again.",
        ({ retries }) => retries,
      ),
      family(
        "unfinished_work_seconds",
        "gauge",
        "Time spent so far on all work under way.",
        ({ queue }) =>
          queue.workingForMs.reduce((sum, ms) => sum + ms, 0) / 1000,
      ),
      family(
        "work_duration_seconds",
        "histogram",
        "How long work on a key took.",
        ({ worked }) => worked,
      ),
    ];
  }

  #attemptFamilies(): Family[] {
    const attempts = new Family(
      "scheduler_schedule_attempts_total",
      "counter",
      "Attempts to schedule pods, by result.",
    );
    const durations = new Family(
      "scheduler_scheduling_attempt_duration_seconds",
      "histogram",
      "How long attempts took, binding left out.",
    );
    for (const [profile, results] of this.#attempts)
      for (const [result, histogram] of results) {
        const labels = { profile, result };
        attempts.add(labels, histogram.count);
        durations.addHistogram(labels, histogram);
      }
    const tries = new Family(
      "scheduler_pod_scheduling_attempts",
      "histogram",
      "How often pods were tried until they were scheduled.",
    );
    if (this.#tries.count > 0) tries.addHistogram({}, this.#tries);
    const pending = new Family(
      "scheduler_pending_pods",
      "gauge",
      "Pods that wait, by queue.",
    );
    for (const [queue, count] of Object.entries(this.#pending?.() ?? {}))
      pending.add({ queue }, count);
    return [attempts, durations, tries, pending];
  }
}
