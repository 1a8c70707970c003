// The thread that parses large YAML bodies (yaml-worker.ts). It is started for the first of them and ended when there was
// none for a while. One body is parsed at a time; one that takes too long ends the thread, and the next one gets a new one.
// Invariant: how many wait is bounded by the server's limits of requests and of bodies in memory.
import { existsSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { YamlAsJson } from "../../../api/codec/yaml-json.ts";
import { errors } from "../../../api/errors.ts";

/** Parsing a body takes about 50 ms for each MiB. */
const longestMs = 10_000;
const idleMs = 10_000;
/** The events of the longest body fit in; more would be an attack. */
const maxHeapMebibytes = 512;

/** Built files lie in dist/ or, when code is shared between entry points, in dist/chunks/; the worker lies in dist/. */
function builtWorker(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const dist = path.basename(here) === "chunks" ? path.dirname(here) : here;
  return path.join(dist, "yaml-worker.js");
}

export class YamlThread {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  private constructor(private readonly workerFile: string) {}

  /** Undefined where the program was not built: bodies are parsed where they are received. */
  static of(workerFile: string = builtWorker()): YamlThread | undefined {
    return existsSync(workerFile) ? new YamlThread(workerFile) : undefined;
  }

  /** Rejects with ApiError 500 when the thread can't parse it. */
  parse(bytes: Uint8Array): Promise<YamlAsJson> {
    const parsing = this.#last.then(() => this.#parse(bytes));
    this.#last = parsing.catch(() => undefined);
    return parsing;
  }

  /** Ends the thread; the next body starts another one. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #parse(bytes: Uint8Array): Promise<YamlAsJson> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      const failed = (): void => {
        if (this.#worker === worker) this.#worker = undefined;
        settled();
        reject(errors.internal("the YAML document can't be parsed"));
      };
      const parsed = (answer: YamlAsJson): void => {
        settled();
        this.#idle = setTimeout(() => void this.stop(), idleMs);
        this.#idle.unref();
        resolve(answer);
      };
      const late = setTimeout(() => void worker.terminate(), longestMs);
      const settled = (): void => {
        clearTimeout(late);
        worker.off("message", parsed);
        worker.off("exit", failed);
      };
      worker.on("message", parsed);
      worker.on("exit", failed);
      worker.postMessage(bytes);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.workerFile, {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMebibytes },
    });
    // Its end follows, and is what counts.
    worker.on("error", () => undefined);
    worker.unref();
    return worker;
  }
}
