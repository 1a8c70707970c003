// The base of every controller: informers' events become keys in a queue, workers call reconcile(key). A reconcile is
// level-triggered (it looks at the observed state, never at the event), idempotent, and safe to be cut off between any
// two writes. Success: done, or again after requeueAfterMs. Failure: again with back-off.
//
// Owns its handlers and its queue: stop() removes the ones and drains the other. Workers start when all watched
// informers have synced.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import type { Informer, ResourceHandler } from "../client/informer.ts";
import { WorkQueue } from "../client/work-queue.ts";
import type { WorkResult } from "../client/work-queue.ts";
import type { Controller, ControllerContext } from "./context.ts";

export type ReconcileResult = WorkResult | void;

/** Thrown by a reconcile that has to wait for something without an event of its own: retried with back-off, quietly. */
export class RetryLater extends Error {}

interface ReconcilerOptions {
  name: string;
  context: ControllerContext;
  concurrency?: number;
  reconcile: (key: string) => Promise<ReconcileResult>;
  baseBackoffMs?: number;
  maxBackoffMs?: number;
}

interface Watched {
  synced(): Promise<void>;
  attach(): () => void;
}

export class Reconciler implements Controller {
  readonly queue: WorkQueue;
  readonly logger: Logger;
  readonly #watched: Watched[] = [];
  readonly #clock: Clock;
  readonly #cleanups: (() => void)[] = [];
  #stopped = false;

  constructor(options: ReconcilerOptions) {
    const { name, context, concurrency = 1, reconcile } = options;
    const { baseBackoffMs, maxBackoffMs } = options;
    this.#clock = context.clock;
    this.logger = context.logger.child({ controller: name });
    const metrics = context.metrics?.queue(name, {
      get length() {
        return queue().length;
      },
      get workingForMs() {
        return queue().workingForMs;
      },
    });
    const queue = (): WorkQueue => this.queue;
    this.queue = new WorkQueue({
      name,
      clock: context.clock,
      logger: this.logger,
      concurrency,
      process: reconcile,
      ...(baseBackoffMs === undefined ? {} : { baseBackoffMs }),
      ...(maxBackoffMs === undefined ? {} : { maxBackoffMs }),
      isExpected: (error) =>
        error instanceof RetryLater ||
        isConflict(error) ||
        isNotFound(error) ||
        isAlreadyExists(error),
      ...(metrics ? { metrics } : {}),
    });
  }

  /** Calls the handler from start() to stop(); workers wait for this informer's first full state. */
  watch<T extends KubeObject>(
    informer: Informer<T>,
    handler: ResourceHandler<T>,
  ): this {
    this.#watched.push({
      synced: () => informer.synced(),
      attach: () => informer.addHandler(handler),
    });
    return this;
  }

  /** As watch, with the same done for adds, updates (the new state) and deletes. */
  watchAll<T extends KubeObject>(
    informer: Informer<T>,
    handle: (object: T) => void,
  ): this {
    return this.watch(informer, {
      onAdd: handle,
      onUpdate: (_, object) => handle(object),
      onDelete: handle,
    });
  }

  /** Adds the keys again each period, whatever events there were; 0: never. */
  resync(periodMs: number, keys: () => Iterable<string>): this {
    if (periodMs <= 0) return this;
    const again = (): Timer =>
      this.#clock.after(periodMs, () => {
        for (const key of keys()) this.queue.add(key);
        timer = again();
      });
    let timer = again();
    this.#cleanups.push(() => timer.cancel());
    return this;
  }

  start(): void {
    for (const { attach } of this.#watched) this.#cleanups.push(attach());
    void Promise.all(this.#watched.map(({ synced }) => synced())).then(() => {
      if (!this.#stopped) this.queue.start();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    await this.queue.stop();
  }
}
