// How the container runtime is, as the node reports it: asked at each look, with the reference's texts for what keeps it
// from running pods. A runtime that hangs instead of refusing is put up with for a while, as a busy one may be slow.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { within } from "../../cri/deadline.ts";
import {
  RuntimeError,
  type ImageSummary,
  type Runtime,
} from "../../cri/runtime.ts";

import type { NodeFeatures } from "../pods/start/node-features.ts";

export type RuntimeState =
  | { readonly state: "unknown" }
  | { readonly state: "ready" }
  /** It answers that it, or its network, is not ready. */
  | {
      readonly state: "not-ready";
      readonly problems: readonly string[];
      /** Of its network, among the others. */
      readonly network: string | undefined;
    }
  /** It refuses connections, or was silent for too long. */
  | { readonly state: "down"; readonly reason: string };

/** Why only pods of the host's network can be started, as far as it is known. */
export function networkProblem(state: RuntimeState): string | undefined {
  return state.state === "not-ready" ? state.network : undefined;
}

interface RuntimeHealthOptions {
  runtime: Pick<Runtime, "status" | "version" | "listImages">;
  clock: Clock;
  logger: Logger;
}

/** How long one look may take, and how long silence is put up with. */
const statusTimeoutMs = 10_000;
const silencePatienceMs = 30_000;
const imagesEveryMs = 60_000;

export class RuntimeHealth {
  readonly #options: RuntimeHealthOptions;
  #state: RuntimeState = { state: "unknown" };
  #images: readonly ImageSummary[] = [];
  #features: NodeFeatures = { handlers: [], supplementalGroupsPolicy: false };
  #imagesAtMs = -Infinity;
  #version: string | undefined;
  /** When the runtime answered last; undefined before the first time. */
  #answeredAtMs: number | undefined;
  /** It did not answer in time, but for so short that it does not count yet. */
  #silent = false;

  constructor(options: RuntimeHealthOptions) {
    this.#options = options;
  }

  get state(): RuntimeState {
    return this.#state;
  }

  /** Nothing has to be looked at again soon. */
  get well(): boolean {
    return this.#state.state === "ready" && !this.#silent;
  }

  /** Why the runtime can't run pods; empty when it can. */
  get problems(): readonly string[] {
    switch (this.#state.state) {
      case "unknown":
        return ["container runtime status check may not have completed yet"];
      case "ready":
        return [];
      case "not-ready":
        return this.#state.problems;
      case "down":
        return [`container runtime is down: ${this.#state.reason}`];
    }
  }

  /** As the Node names it, `containerd://1.7.2`; undefined while it is not known. */
  get version(): string | undefined {
    return this.#version;
  }

  /** As reported last. */
  get features(): NodeFeatures {
    return this.#features;
  }

  get images(): readonly ImageSummary[] {
    return this.#images;
  }

  /** Resolves to true when the runtime answers again after it was down. */
  async look(): Promise<boolean> {
    const { clock, logger } = this.#options;
    let next: RuntimeState;
    let recovered = false;
    try {
      const { problems, network } = await within(
        clock,
        statusTimeoutMs,
        this.#ask(),
      );
      recovered = this.#state.state === "down";
      this.#answeredAtMs = clock.monotonic();
      this.#silent = false;
      next =
        problems.length === 0
          ? { state: "ready" }
          : { state: "not-ready", problems, network };
    } catch (error) {
      const silentMs = clock.monotonic() - (this.#answeredAtMs ?? -Infinity);
      if (isTimeout(error) && silentMs < silencePatienceMs) {
        logger.warn({ err: error, silentMs }, "the container runtime is slow");
        this.#silent = true;
        return false;
      }
      this.#version = undefined;
      this.#silent = false;
      next = {
        state: "down",
        reason: error instanceof Error ? error.message : String(error),
      };
    }
    const before = this.problems.join();
    this.#state = next;
    const problems = this.problems;
    if (problems.length > 0 && problems.join() !== before)
      logger.warn({ problems }, "the container runtime is not ready");
    return recovered;
  }

  /** Resolves to what keeps it from running pods, as it says itself; rejects when it can't be asked. */
  async #ask(): Promise<{ problems: string[]; network: string | undefined }> {
    const { runtime, clock } = this.#options;
    const problems: string[] = [];
    const status = await runtime.status();
    const { handlers = [], supplementalGroupsPolicy = false } = status;
    this.#features = { handlers, supplementalGroupsPolicy };
    if (!status.runtime.ready)
      problems.push(
        `container runtime not ready: ${text("RuntimeReady", status.runtime)}`,
      );
    const network = status.network.ready
      ? undefined
      : `container runtime network not ready: ${text("NetworkReady", status.network)}`;
    if (network) problems.push(network);
    if (this.#version === undefined) {
      const version = await runtime.version();
      this.#version = `${version.runtimeName}://${version.runtimeVersion.replace(/^v/, "")}`;
    }
    const nowMs = clock.monotonic();
    if (nowMs - this.#imagesAtMs > imagesEveryMs) {
      this.#images = await runtime.listImages();
      this.#imagesAtMs = nowMs;
    }
    return { problems, network };
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof RuntimeError && error.code === "timeout";
}

function text(
  name: string,
  condition: { reason: string; message: string },
): string {
  return `${name}=false reason:${condition.reason} message:${condition.message}`;
}
