// What every controller is given, and what it gives back.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import type { EventRecorder } from "../client/event-recorder.ts";
import type { ControllerOptions } from "./options.ts";

/** Told what reconcilers do; the composition may turn it into Prometheus metrics. */
export interface ControllerMetrics {
  processed(controller: string, durationMs: number, failed: boolean): void;
  queueLength?(controller: string, length: number): void;
}

export interface ControllerContext {
  client: Client;
  clock: Clock;
  logger: Logger;
  options: ControllerOptions;
  metrics?: ControllerMetrics;
  /** The recorder of one event source, e.g. "deployment-controller". */
  recorder(component: string): EventRecorder;
}

export interface Controller {
  /** Attaches to informers and starts workers; returns at once. */
  start(): void;
  /** Detaches, and waits for the work under way. */
  stop(): Promise<void>;
}
