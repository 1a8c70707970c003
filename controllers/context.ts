// What every controller is given, and what it gives back.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { Family } from "../api/metrics/family.ts";
import type { Client } from "../client/client.ts";
import type { EventWriter } from "../client/event-recorder.ts";
import type { WorkQueueMetrics } from "../client/work-queue.ts";
import type { ControllerOptions } from "./options.ts";

/** Records what reconcilers do; the composition may turn it into Prometheus metrics. */
export interface ControllerMetrics {
  /** The sink of one queue's doings; `queue` shows its present state when asked. */
  queue(name: string, queue: ObservedQueue): WorkQueueMetrics;
  /** What a controller counts itself, asked at each scrape; a controller that is made again takes the place of the one before. */
  add(controller: string, families: () => readonly Family[]): void;
}

export interface ObservedQueue {
  readonly length: number;
  readonly workingForMs: readonly number[];
}

export interface ControllerContext {
  client: Client;
  clock: Clock;
  logger: Logger;
  options: ControllerOptions;
  metrics?: ControllerMetrics;
  /** The recorder of one event source, e.g. "deployment-controller". */
  recorder(component: string): EventWriter;
}

export interface Controller {
  /** Attaches to informers and starts workers; returns at once. */
  start(): void;
  /** Detaches, and waits for the work under way. */
  stop(): Promise<void>;
}
