// The DNS server in its own thread, as the rest of the program sees it. A thread that ends by itself is started again
// with back-off, and its feed sends everything once more: nothing of the zone is kept here.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type {
  DnsServerData,
  DnsStatistics,
  FromServer,
  ToServer,
} from "./dns-messages.ts";

/**
 * Of objects that were just made. Answers leave garbage alone, and as large a nursery as the program's own would grow to 48 MiB
 * under load.
 */
const nurseryMiB = 8;
const firstRestartMs = 100;
const longestRestartMs = 10_000;

/** Built files lie in dist/ or in dist/chunks/; the worker lies in dist/. */
function builtWorker(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const dist = path.basename(here) === "chunks" ? path.dirname(here) : here;
  return path.join(dist, "dns-worker.js");
}

interface DnsThreadOptions {
  data: DnsServerData;
  /** The thread runs (again) and knows nothing. */
  onStarted: () => void;
  clock: Clock;
  logger: Logger;
  /** Of the built worker; default: beside the program. */
  workerFile?: string;
}

export class DnsThread {
  readonly #options: DnsThreadOptions;
  #worker: Worker | undefined;
  #restart: Timer | undefined;
  #delayMs = firstRestartMs;
  #stopping = false;
  #restarts = 0;
  #statistics: DnsStatistics | undefined;
  #ports: readonly number[] = [];

  constructor(options: DnsThreadOptions) {
    this.#options = options;
  }

  /** The ports, in the order of the addresses it listens on. */
  get ports(): readonly number[] {
    return this.#ports;
  }

  get ready(): boolean {
    return this.#worker !== undefined && this.#ports.length > 0;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** As of the last second in which something was asked; undefined: nothing was yet. */
  get statistics(): DnsStatistics | undefined {
    return this.#statistics;
  }

  /** Rejects when its sockets can't be opened. @param port instead of those of the addresses */
  async start(port?: number): Promise<void> {
    const { data } = this.#options;
    await this.#launch({
      ...data,
      listen: data.listen.map((each) => ({ ...each, port: port ?? each.port })),
    });
  }

  post(message: ToServer): void {
    this.#worker?.postMessage(message);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#restart?.cancel();
    const worker = this.#worker;
    if (!worker) return;
    const ended = new Promise<void>((resolve) =>
      worker.once("exit", () => resolve()),
    );
    worker.postMessage({ kind: "stop" } satisfies ToServer);
    const late = this.#options.clock.after(1000, () => void worker.terminate());
    await ended;
    late.cancel();
  }

  #launch(data: DnsServerData): Promise<void> {
    const worker = new Worker(this.#options.workerFile ?? builtWorker(), {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: nurseryMiB },
    });
    return new Promise((resolve, reject) => {
      worker.on("message", (message: FromServer) => {
        if (message.kind === "listening") {
          this.#worker = worker;
          this.#ports = message.ports;
          this.#options.onStarted();
          resolve();
        } else if (message.kind === "failed") {
          reject(new Error(message.message));
          void worker.terminate();
        } else this.#take(message);
      });
      worker.on("error", (error) => {
        this.#options.logger.error({ err: error }, "the DNS server failed");
        reject(error);
      });
      worker.on("exit", () => {
        reject(new Error("the DNS server's thread ended"));
        if (this.#worker === worker) this.#ended();
      });
    });
  }

  #take(message: FromServer): void {
    if (message.kind === "statistics") {
      this.#statistics = message.statistics;
      this.#delayMs = firstRestartMs;
    } else if (message.kind === "loop")
      this.#options.logger.warn(
        { upstream: message.upstream },
        "this resolver of the host leads back to the cluster's DNS server; it is not asked",
      );
  }

  #ended(): void {
    this.#worker = undefined;
    if (this.#stopping) return;
    this.#restarts++;
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, longestRestartMs);
    this.#restart = this.#options.clock.after(delayMs, () => {
      // The same ports again: the Service's endpoints name them.
      const { data } = this.#options;
      const listen = data.listen.map((each, n) => ({
        ...each,
        port: this.#ports[n] ?? each.port,
      }));
      this.#launch({ ...data, listen }).catch((error: Error) => {
        this.#options.logger.error(
          { err: error },
          "the DNS server could not be started again",
        );
        if (!this.#worker) this.#ended();
      });
    });
  }
}
