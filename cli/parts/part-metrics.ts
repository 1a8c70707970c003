// What the controllers' and the scheduler's ports show under /metrics, with the reference's names: the work queues
// (workqueue_*), the scheduler's attempts, and the process. Counted in plain numbers; prom-client, which knows the
// process, loads with the first scrape.
import type { Registry } from "prom-client";
import type {
  ControllerMetrics,
  ObservedQueue,
} from "../../controllers/context.ts";
import type { WorkQueueMetrics } from "../../client/work-queue.ts";

/** Upper bounds in seconds, ten times from one to the next, as the reference's. */
const queueBounds = [
  1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01,
  0.1, 1, 10,
];
const attemptBounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);

class Histogram {
  readonly #buckets: number[];
  #count = 0;
  #sumSeconds = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.#buckets = bounds.map(() => 0);
  }

  get count(): number {
    return this.#count;
  }

  observe(durationMs: number): void {
    const seconds = durationMs / 1000;
    this.#count++;
    this.#sumSeconds += seconds;
    const bucket = this.bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#buckets[bucket]!++;
  }

  lines(name: string, labels: string): string[] {
    let total = 0;
    return [
      ...this.bounds.map((bound, index) => {
        total += this.#buckets[index]!;
        return `${name}_bucket{${labels},le="${bound}"} ${total}`;
      }),
      `${name}_bucket{${labels},le="+Inf"} ${this.#count}`,
      `${name}_sum{${labels}} ${this.#sumSeconds}`,
      `${name}_count{${labels}} ${this.#count}`,
    ];
  }
}

interface QueueNumbers {
  readonly queue: ObservedQueue;
  adds: number;
  retries: number;
  readonly waited: Histogram;
  readonly worked: Histogram;
}

type Family = readonly [
  name: string,
  type: string,
  help: string,
  lines: readonly string[],
];

const familyText = ([name, type, help, lines]: Family): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`;

/** Attempts of the scheduler by result. */
type AttemptResult = "scheduled" | "unschedulable" | "error";

export class PartMetrics implements ControllerMetrics {
  readonly #queues = new Map<string, QueueNumbers>();
  readonly #attempts = new Map<AttemptResult, Histogram>();
  #process: Promise<Registry> | undefined;

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
      taken: (waitedMs) => numbers.waited.observe(waitedMs),
      worked: (durationMs) => numbers.worked.observe(durationMs),
      retried: () => void numbers.retries++,
    };
  }

  attempt(result: AttemptResult, durationMs: number): void {
    let histogram = this.#attempts.get(result);
    if (!histogram) {
      histogram = new Histogram(attemptBounds);
      this.#attempts.set(result, histogram);
    }
    histogram.observe(durationMs);
  }

  /** The text of /metrics. */
  async text(): Promise<string> {
    const process = await (this.#process ??= loadProcessMetrics());
    return this.#queueText() + this.#attemptText() + (await process.metrics());
  }

  #queueText(): string {
    if (this.#queues.size === 0) return "";
    const each = (
      lines: (numbers: QueueNumbers, labels: string) => readonly string[],
    ): string[] =>
      [...this.#queues].flatMap(([name, numbers]) =>
        lines(numbers, `name="${name}"`),
      );
    const gauge =
      (name: string, value: (numbers: QueueNumbers) => number) =>
      (numbers: QueueNumbers, labels: string): string[] => [
        `${name}{${labels}} ${value(numbers)}`,
      ];
    const families: Family[] = [
      [
        "workqueue_adds_total",
        "counter",
        "Keys added to the queue.",
        each(gauge("workqueue_adds_total", ({ adds }) => adds)),
      ],
      [
        "workqueue_depth",
        "gauge",
        "Keys that wait.",
        each(gauge("workqueue_depth", ({ queue }) => queue.length)),
      ],
      [
        "workqueue_longest_running_processor_seconds",
        "gauge",
        "How long the longest work under way has run.",
        each(
          gauge(
            "workqueue_longest_running_processor_seconds",
            ({ queue }) => Math.max(0, ...queue.workingForMs) / 1000,
          ),
        ),
      ],
      [
        "workqueue_queue_duration_seconds",
        "histogram",
        "How long keys waited.",
        each(({ waited }, labels) =>
          waited.lines("workqueue_queue_duration_seconds", labels),
        ),
      ],
      [
        "workqueue_retries_total",
        "counter",
        "Keys that failed and were tried again.",
        each(gauge("workqueue_retries_total", ({ retries }) => retries)),
      ],
      [
        "workqueue_unfinished_work_seconds",
        "gauge",
        "Time spent so far on all work under way.",
        each(
          gauge(
            "workqueue_unfinished_work_seconds",
            ({ queue }) =>
              queue.workingForMs.reduce((sum, ms) => sum + ms, 0) / 1000,
          ),
        ),
      ],
      [
        "workqueue_work_duration_seconds",
        "histogram",
        "How long work on a key took.",
        each(({ worked }, labels) =>
          worked.lines("workqueue_work_duration_seconds", labels),
        ),
      ],
    ];
    return families.map(familyText).join("");
  }

  #attemptText(): string {
    if (this.#attempts.size === 0) return "";
    const labels = (result: AttemptResult): string =>
      `profile="default-scheduler",result="${result}"`;
    return (
      familyText([
        "scheduler_schedule_attempts_total",
        "counter",
        "Attempts to schedule pods, by result.",
        [...this.#attempts].map(
          ([result, { count }]) =>
            `scheduler_schedule_attempts_total{${labels(result)}} ${count}`,
        ),
      ]) +
      familyText([
        "scheduler_scheduling_attempt_duration_seconds",
        "histogram",
        "How long attempts took, binding left out.",
        [...this.#attempts].flatMap(([result, histogram]) =>
          histogram.lines(
            "scheduler_scheduling_attempt_duration_seconds",
            labels(result),
          ),
        ),
      ])
    );
  }
}

async function loadProcessMetrics(): Promise<Registry> {
  const { Registry: PromRegistry, collectDefaultMetrics } =
    await import("prom-client");
  const registry = new PromRegistry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
