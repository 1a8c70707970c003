// The ingress proxy in its own thread, as the rest of the program sees it. It is started when there is something to serve.
// A thread that ends by itself is started again with back-off, and everything is sent to it once more: nothing of the
// routes is kept here.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { FromProxy, IngressServerData, ToProxy } from "./messages.ts";

const firstRestartMs = 100;
const longestRestartMs = 10_000;
/** A thread that ran for so long did not fail at its start. */
const soundMs = 10_000;
/** More than the grace of requests under way. */
const stopMarginMs = 2000;

/** Built files lie in dist/ or in dist/chunks/; the worker lies in dist/. */
function builtWorker(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const dist = path.basename(here) === "chunks" ? path.dirname(here) : here;
  return path.join(dist, "ingress-worker.js");
}

interface IngressThreadOptions {
  readonly data: IngressServerData;
  /** The thread runs (again) and knows nothing. */
  readonly onStarted: () => void;
  readonly onMessage: (message: FromProxy) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the built worker; default: beside the program. */
  readonly workerFile?: string;
}

export class IngressThread {
  readonly #options: IngressThreadOptions;
  #worker: Worker | undefined;
  #running = false;
  #wanted = false;
  #stopping = false;
  #restart: Timer | undefined;
  #delayMs = firstRestartMs;
  #startedMs = 0;
  #restarts = 0;

  constructor(options: IngressThreadOptions) {
    this.#options = options;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Idempotent; onStarted is called when it runs. */
  start(): void {
    if (this.#wanted || this.#stopping) return;
    this.#wanted = true;
    this.#launch();
  }

  /** Dropped while the thread does not run: onStarted is when to send everything. */
  post(message: ToProxy): void {
    if (this.#running) this.#worker?.postMessage(message);
  }

  /** Requests under way have their grace. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#restart?.cancel();
    const worker = this.#worker;
    if (!worker) return;
    const ended = new Promise<void>((resolve) =>
      worker.once("exit", () => resolve()),
    );
    worker.postMessage({ kind: "stop" } satisfies ToProxy);
    const late = this.#options.clock.after(
      this.#options.data.graceMs + stopMarginMs,
      () => void worker.terminate(),
    );
    await ended;
    late.cancel();
  }

  #launch(): void {
    const { logger, clock } = this.#options;
    this.#startedMs = clock.monotonic();
    const worker = new Worker(this.#options.workerFile ?? builtWorker(), {
      workerData: this.#options.data,
    });
    this.#worker = worker;
    worker.on("message", (message: FromProxy) => {
      if (message.kind === "started") {
        this.#running = true;
        this.#options.onStarted();
      } else if (message.kind === "log") this.#log(message.record);
      else this.#options.onMessage(message);
    });
    worker.on("error", (error) =>
      logger.error({ err: error }, "the ingress proxy failed"),
    );
    worker.on("exit", () => this.#ended());
  }

  #log(record: string): void {
    const {
      level,
      msg,
      time: _time,
      ...fields
    } = JSON.parse(record) as {
      level: number;
      msg?: string;
      time?: number;
    };
    const { logger } = this.#options;
    if (level >= 50) logger.error(fields, msg);
    else if (level >= 40) logger.warn(fields, msg);
    else if (level >= 30) logger.info(fields, msg);
    else logger.debug(fields, msg);
  }

  #ended(): void {
    this.#worker = undefined;
    this.#running = false;
    if (this.#stopping) return;
    const { clock } = this.#options;
    if (clock.monotonic() - this.#startedMs > soundMs)
      this.#delayMs = firstRestartMs;
    this.#restarts++;
    this.#restart = clock.after(this.#delayMs, () => this.#launch());
    this.#delayMs = Math.min(this.#delayMs * 2, longestRestartMs);
  }
}
