// Static pods from an HTTP address, read every http-check-frequency. A failing read keeps what was read last.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import {
  FieldProblems,
  maxManifestBytes,
  takeManifests,
} from "./manifest-reader.ts";
import type { ObjectRules } from "./field-problem.ts";
import { staticPod } from "./static-pod.ts";

interface UrlSourceOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  nodeName: string;
  checkFrequencyMs: number;
  clock: Clock;
  logger: Logger;
  onPods: (pods: readonly Pod[]) => void;
  onProblem: (url: string, message: string) => void;
  rules: ObjectRules;
  podLevelResources: boolean;
}

export class UrlSource {
  readonly #options: UrlSourceOptions;
  readonly #abort = new AbortController();
  #timer: Timer | undefined;
  #text: string | undefined;
  #problem: string | undefined;

  constructor(options: UrlSourceOptions) {
    this.#options = options;
  }

  /** Resolves after the first try; true when it succeeded. */
  async start(): Promise<void> {
    await this.#read();
    if (!this.#abort.signal.aborted)
      this.#timer = this.#options.clock.after(
        this.#options.checkFrequencyMs,
        () => void this.start(),
      );
  }

  stop(): void {
    this.#abort.abort();
    this.#timer?.cancel();
  }

  async #read(): Promise<void> {
    const { url, headers, nodeName, clock } = this.#options;
    try {
      const { request } = await import("undici");
      const response = await request(url, {
        headers,
        signal: this.#abort.signal,
        headersTimeout: 10_000,
        bodyTimeout: 10_000,
      });
      const text = await bounded(response.body);
      if (response.statusCode !== 200)
        throw new Error(`answered ${response.statusCode}`);
      if (text.trim() === "") throw new Error("zero-length data received");
      if (text === this.#text) return;
      const nowMs = clock.now();
      const pods = await takeManifests(text, url, (object) => {
        if (object.kind !== "Pod")
          throw new FieldProblems([
            {
              field: "kind",
              detail: `Unsupported value: "${object.kind ?? ""}"`,
            },
          ]);
        return staticPod(object as unknown as Pod, {
          nodeName,
          source: "http",
          origin: url,
          nowMs,
          rules: this.#options.rules,
          podLevelResources: this.#options.podLevelResources,
        });
      });
      this.#text = text;
      this.#problem = undefined;
      this.#options.onPods(pods);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#problem)
        this.#options.onProblem(
          url,
          message.startsWith(url) ? message : `${url}: ${message}`,
        );
      this.#problem = message;
    }
  }
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxManifestBytes)
      throw new Error(`is more than ${maxManifestBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
