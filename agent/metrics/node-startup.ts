// How long a node took from the machine's boot to its first readiness, step by step, with the reference's names. Only a Node
// that this agent has made counts: one that was there already did not start now. What is not known yet is 0, as there.
import type { Clock } from "../../api/clock.ts";
import { gauge } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

interface Running {
  /** Of the machine, in seconds. */
  readonly machineSeconds: number;
  /** Of this program, in seconds. */
  readonly programSeconds: number;
}

export class NodeStartup {
  /** Monotonic times in ms. */
  readonly #bootMs: number;
  readonly #startMs: number;
  #attemptMs: number | undefined;
  #registeredMs: number | undefined;
  #readyMs: number | undefined;

  constructor(
    private readonly clock: Clock,
    { machineSeconds, programSeconds }: Running,
  ) {
    const nowMs = clock.monotonic();
    this.#bootMs = nowMs - machineSeconds * 1000;
    this.#startMs = nowMs - programSeconds * 1000;
  }

  /** The Node is about to be made. */
  registers(): void {
    this.#attemptMs ??= this.clock.monotonic();
  }

  /** It was made. */
  registered(): void {
    this.#registeredMs ??= this.clock.monotonic();
  }

  /** The API server has heard that it is ready. */
  ready(): void {
    this.#readyMs ??= this.clock.monotonic();
  }

  families(): Family[] {
    const attemptMs = this.#attemptMs;
    const registeredMs = this.#registeredMs;
    const readyMs = registeredMs === undefined ? undefined : this.#readyMs;
    const step = (
      name: string,
      help: string,
      fromMs: number | undefined,
      toMs: number | undefined,
    ): Family =>
      gauge(
        `kubelet_node_startup${name}_duration_seconds`,
        help,
        registeredMs === undefined || fromMs === undefined || toMs === undefined
          ? 0
          : (toMs - fromMs) / 1000,
      );
    return [
      step(
        "_pre_kubelet",
        "From the machine's boot to the agent's start.",
        this.#bootMs,
        this.#startMs,
      ),
      step(
        "_pre_registration",
        "From the agent's start to the first try to make the Node.",
        this.#startMs,
        attemptMs,
      ),
      step(
        "_registration",
        "From the first try to make the Node to its making.",
        attemptMs,
        registeredMs,
      ),
      step(
        "_post_registration",
        "From the Node's making to its first readiness.",
        registeredMs,
        readyMs,
      ),
      step(
        "",
        "From the machine's boot to the node's first readiness.",
        this.#bootMs,
        readyMs,
      ),
    ];
  }
}
