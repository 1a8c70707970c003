// Makes a container's image present by its pull policy, with back-off after failures and pulls in turn when they are
// serialised. Errors carry the reason that the container's waiting state shows.
import type { Clock } from "../../api/clock.ts";
import { formatDuration } from "../../api/duration.ts";
import type {
  Container,
  ImageVolumeSource,
  Pod,
} from "../../api/types/core-v1.ts";
import {
  type ImageAuth,
  type ImageSummary,
  type Runtime,
  type SandboxConfig,
} from "../../cri/runtime.ts";
import {
  pullFailureText,
  runtimeStatusText,
} from "../../cri/runtime-error-text.ts";
import type { PodMetrics } from "../metrics/pod-metrics.ts";
import type { PodEvents } from "../events/pod-events.ts";
import { BackOff } from "../pacing/back-off.ts";
import { Turns } from "../pacing/turns.ts";
import { normalizeReference } from "./image-reference.ts";
import { pullFailure } from "./pull-failure.ts";
import type { PullProgress } from "./pull-progress.ts";

export class WaitingError extends Error {
  constructor(
    /** The reason of the container's waiting state. */
    readonly reason: string,
    message: string,
    /** Try again then; undefined: with the pod's own back-off. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
    this.name = "WaitingError";
  }
}

/**
 * After that a pull goes on beside the next ones: a registry that never answers, as any pod may name one, would keep the
 * images of all others from this node.
 */
const longestTurnMs = 60_000;

interface ImageManagerOptions {
  runtime: Runtime;
  clock: Clock;
  events: PodEvents;
  /** Pulls one after another. */
  serialized: boolean;
  /** 0: no bound. */
  maxParallel: number;
  /** Credentials for an image, in the order in which they are tried. */
  credentials: (pod: Pod, image: string) => Promise<ImageAuth[]>;
  /** Called before a pull; throws when there are too many at the moment. */
  mayPull: () => void;
  progress: Pick<PullProgress, "begin">;
  metrics?: Pick<PodMetrics, "pulled"> | undefined;
}

interface Pull {
  readonly resolved: string;
  readonly pullMs: number;
}

interface Wanted {
  readonly reference: string;
  readonly pullPolicy: string | undefined;
  readonly event: (
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ) => void;
}

export class ImageManager {
  readonly #options: ImageManagerOptions;
  readonly #backOff = new BackOff();
  readonly #failures = new Map<string, { atMs: number; message: string }>();
  readonly #asked = new Map<string, Promise<ImageSummary | undefined>>();
  readonly #pulling = new Map<string, Promise<Pull>>();
  readonly #turns: Turns;

  constructor(options: ImageManagerOptions) {
    this.#options = options;
    this.#turns = new Turns(
      options.serialized ? 1 : options.maxParallel || Infinity,
    );
  }

  /** Pods of one image that start together ask once. */
  #status(image: string): Promise<ImageSummary | undefined> {
    const asked = this.#asked.get(image);
    if (asked) return asked;
    const answer = this.#options.runtime
      .imageStatus(image)
      .finally(() => this.#asked.delete(image));
    this.#asked.set(image, answer);
    return answer;
  }

  /** Resolves to the image to run; rejects with a WaitingError. */
  async ensure(
    pod: Pod,
    container: Container,
    sandbox: SandboxConfig,
  ): Promise<ImageSummary> {
    return await this.#ensure(pod, sandbox, {
      reference: container.image ?? "",
      pullPolicy: container.imagePullPolicy,
      event: (type, reason, message) =>
        this.#options.events.container(
          pod,
          container.name,
          type,
          reason,
          message,
        ),
    });
  }

  /** The same of an image volume's; its events are the pod's. */
  async ensureVolume(
    pod: Pod,
    { reference = "", pullPolicy }: ImageVolumeSource,
    sandbox: SandboxConfig,
  ): Promise<ImageSummary> {
    return await this.#ensure(pod, sandbox, {
      reference,
      pullPolicy,
      event: (type, reason, message) =>
        this.#options.events.pod(pod, type, reason, message),
    });
  }

  async #ensure(
    pod: Pod,
    sandbox: SandboxConfig,
    { reference, pullPolicy, event }: Wanted,
  ): Promise<ImageSummary> {
    const { runtime, clock } = this.#options;
    let image: string;
    try {
      image = normalizeReference(reference);
    } catch (error) {
      const message = `Failed to apply default image tag "${reference}": couldn't parse image name "${reference}": ${(error as Error).message}`;
      event("Warning", "InspectFailed", message);
      throw new WaitingError("InvalidImageName", message);
    }
    const policy =
      pullPolicy ?? (/:latest$/.test(image) ? "Always" : "IfNotPresent");
    // One that is pulled in any case is not looked for.
    const present =
      policy === "Always"
        ? undefined
        : await this.#status(image).catch((error: unknown) => {
            const message = `Failed to inspect image "${reference}": ${runtimeStatusText(error)}`;
            event("Warning", "InspectFailed", message);
            throw new WaitingError("ImageInspectError", message);
          });
    if (present) {
      event(
        "Normal",
        "Pulled",
        `Container image "${reference}" already present on machine`,
      );
      return present;
    }
    if (policy === "Never") {
      const message = `Container image "${reference}" is not present with pull policy of Never`;
      event("Warning", "ErrImageNeverPull", message);
      throw new WaitingError("ErrImageNeverPull", message);
    }
    const key = `${pod.metadata.uid ?? ""}_${image}`;
    const failure = this.#failures.get(key);
    const remainingMs = failure
      ? this.#backOff.remainingMs(key, failure.atMs, clock.monotonic())
      : 0;
    if (failure && remainingMs > 0) {
      const message = `Back-off pulling image "${reference}"`;
      event("Normal", "BackOff", message);
      throw new WaitingError(
        "ImagePullBackOff",
        `${message}: ${failure.message}`,
        remainingMs,
      );
    }
    event("Normal", "Pulling", `Pulling image "${reference}"`);
    const startedMs = clock.monotonic();
    const fromMs = clock.now();
    try {
      const { resolved, pullMs } = await this.#pull(image, pod, sandbox);
      this.#failures.delete(key);
      this.#backOff.reset(key);
      const summary = await runtime.imageStatus(resolved);
      const times = { fromMs, toMs: clock.now() };
      this.#options.metrics?.pulled(
        pod.metadata.uid ?? "",
        summary?.sizeBytes ?? 0,
        times,
      );
      const waitedMs = clock.monotonic() - startedMs;
      const [took, waited] = [pullMs, waitedMs].map((ms) =>
        formatDuration(Math.floor(ms)),
      );
      event(
        "Normal",
        "Pulled",
        `Successfully pulled image "${reference}" in ${took} (${waited} including waiting). Image size: ${summary?.sizeBytes ?? 0} bytes.`,
      );
      return (
        summary ?? {
          id: resolved,
          repoTags: [],
          repoDigests: [],
          sizeBytes: 0,
          pinned: false,
        }
      );
    } catch (error) {
      const text = pullFailureText(error);
      const { reason, message } = pullFailure(reference, text);
      if (this.#failures.size > 4096) this.#failures.clear();
      const atMs = clock.monotonic();
      this.#backOff.next(key, atMs, atMs);
      this.#failures.set(key, {
        atMs,
        message: `${reason}: ${message}`,
      });
      event(
        "Warning",
        "Failed",
        `Failed to pull image "${reference}": ${text}`,
      );
      throw new WaitingError(reason, message, this.#backOff.delayMs(key));
    }
  }

  forgetPod(uid: string): void {
    this.#backOff.resetPrefix(`${uid}_`);
    for (const key of this.#failures.keys())
      if (key.startsWith(`${uid}_`)) this.#failures.delete(key);
  }

  /** Pulls of the same image at the same time are one; `pullMs` is without the wait for its turn. */
  async #pull(image: string, pod: Pod, sandbox: SandboxConfig): Promise<Pull> {
    const secrets = await this.#options.credentials(pod, image);
    const key =
      secrets.length > 0 ? `${pod.metadata.namespace ?? ""} ${image}` : image;
    const running = this.#pulling.get(key);
    if (running) return await running;
    const pull = this.#turns
      .run(async (endTurn) => {
        const { mayPull, progress, clock } = this.#options;
        mayPull();
        const done = progress.begin(image);
        const turn = clock.after(longestTurnMs, endTurn);
        const startedMs = clock.monotonic();
        try {
          const resolved = await this.#pullWith(secrets, image, sandbox);
          return { resolved, pullMs: clock.monotonic() - startedMs };
        } finally {
          turn.cancel();
          done();
        }
      })
      .finally(() => this.#pulling.delete(key));
    this.#pulling.set(key, pull);
    return await pull;
  }

  /** The first credentials that the registry takes; rejects with what it said to each. */
  async #pullWith(
    secrets: readonly ImageAuth[],
    image: string,
    sandbox: SandboxConfig,
  ): Promise<string> {
    const errors: unknown[] = [];
    for (const auth of secrets.length > 0 ? secrets : [undefined]) {
      try {
        return await this.#options.runtime.pullImage(image, auth, sandbox);
      } catch (error) {
        errors.push(error);
      }
    }
    const texts = [...new Set(errors.map(pullFailureText))];
    throw texts.length === 1 ? errors[0] : new Error(`[${texts.join(", ")}]`);
  }
}
