// What the controllers' and the scheduler's ports show under /metrics: the work queues (workqueue_*, with the reference's
// names), counted in plain numbers, and what the part counts itself.
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

interface QueueNumbers {
  readonly queue: ObservedQueue;
  adds: number;
  retries: number;
  readonly waited: Histogram;
  readonly worked: Histogram;
}

export class PartMetrics implements ControllerMetrics {
  readonly #queues = new Map<string, QueueNumbers>();

  readonly #sources = new Map<string, () => readonly Family[]>();

  /** What a part of the part counts itself; one that comes again takes the place of the one before. */
  add(name: string, families: () => readonly Family[]): void {
    this.#sources.set(name, families);
  }

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

  families(): Family[] {
    return [
      ...this.#queueFamilies(),
      ...[...this.#sources.values()].flatMap((families) => families()),
    ];
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
}
