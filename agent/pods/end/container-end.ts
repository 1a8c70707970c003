// Ends containers: Killing event, preStop within the grace, then the runtime's stop with what is left of it, at least two
// seconds. All preStop handlers run at once; then app containers end together, sidecars after them one by one in reverse
// order, until the grace is over: then all that is left ends at once. One PodEnding is one ending of a pod; its deadline can
// only move forward in time (a second delete with less grace).
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import {
  RuntimeError,
  type ContainerStatus,
  type Runtime,
} from "../../../cri/runtime.ts";
import type {
  Container,
  LifecycleHandler,
  Pod,
} from "../../../api/types/core-v1.ts";
import { containerRecord } from "../shape/labels.ts";
import { findContainer } from "../shape/pod-shape.ts";
import {
  readySandbox,
  type RuntimePod,
  type RuntimePods,
} from "../runtime/runtime-pods.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import { orAborted, type HookRunner } from "./lifecycle-hooks.ts";

/** However little of the grace is left, a container gets this long. */
export const minimumGraceSeconds = 2;

/** What ending a container needs of the agent. */
export interface EndingContext {
  readonly runtime: Pick<Runtime, "stopContainer">;
  readonly runtimePods: Pick<RuntimePods, "markDirty">;
  readonly clock: Clock;
  readonly hooks: HookRunner;
  readonly events: Pick<PodEvents, "container">;
  readonly nodeIPs: () => readonly string[];
  readonly logger: Logger;
}

export class PodEnding {
  readonly #context: EndingContext;
  readonly #pod: Pod;
  #deadlineMs: number;
  readonly #shortened = new Set<() => void>();

  constructor(context: EndingContext, pod: Pod, graceSeconds: number) {
    this.#context = context;
    this.#pod = pod;
    this.#deadlineMs = context.clock.monotonic() + graceSeconds * 1000;
  }

  shorten(graceSeconds: number): void {
    const deadlineMs = this.#context.clock.monotonic() + graceSeconds * 1000;
    if (deadlineMs >= this.#deadlineMs) return;
    this.#deadlineMs = deadlineMs;
    for (const notify of this.#shortened) notify();
  }

  /** Ends every running container; rejects when the runtime could not end one. */
  async run(runtimePod: RuntimePod): Promise<void> {
    const alive = runtimePod.containers.filter(
      ({ state }) =>
        state === "running" || state === "created" || state === "unknown",
    );
    const sidecars = alive.filter((status) => this.#kind(status) === "sidecar");
    const others = alive.filter((status) => this.#kind(status) !== "sidecar");
    const endings = others.map((status) => this.#end(status, runtimePod));
    const apps = endings.filter(
      (_ending, index) => this.#kind(others[index]!) === "app",
    );
    const order = (this.#pod.spec.initContainers ?? []).map(({ name }) => name);
    sidecars.sort((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
    let turn: Promise<unknown> = Promise.allSettled(apps);
    for (const status of sidecars) {
      const ending = this.#end(status, runtimePod, turn);
      endings.push(ending);
      turn = Promise.allSettled([turn, ending]);
    }
    await all(endings);
  }

  #kind(status: ContainerStatus): string {
    return (
      findContainer(this.#pod, status.name)?.kind ??
      containerRecord(status.annotations).kind
    );
  }

  async #end(
    status: ContainerStatus,
    runtimePod: RuntimePod,
    turn?: Promise<unknown>,
  ): Promise<void> {
    const { clock } = this.#context;
    const remainingSeconds = (): number =>
      Math.max(0, (this.#deadlineMs - clock.monotonic()) / 1000);
    await endContainer(this.#context, this.#pod, status, runtimePod, {
      remainingSeconds,
      ...(turn ? { turn } : {}),
      message: `Stopping container ${status.name}`,
      onShorten: (notify) => {
        this.#shortened.add(notify);
        return () => this.#shortened.delete(notify);
      },
    });
  }
}

interface ContainerEnding {
  remainingSeconds: () => number;
  message: string;
  /** Those that end before it have ended. */
  turn?: Promise<unknown>;
  /** Registers what to do when the deadline moved; returns a disposer. */
  onShorten?: (notify: () => void) => () => void;
}

/** Ends one container; a container that is gone already is fine. */
export async function endContainer(
  context: EndingContext,
  pod: Pod,
  status: ContainerStatus,
  runtimePod: RuntimePod,
  ending: ContainerEnding,
): Promise<void> {
  const { runtime, events } = context;
  const container: Container = findContainer(pod, status.name)?.container ?? {
    name: status.name,
  };
  events.container(pod, status.name, "Normal", "Killing", ending.message);
  const preStop = container.lifecycle?.preStop ?? recordedPreStop(status);
  if (preStop && status.state === "running" && ending.remainingSeconds() > 0)
    await runPreStop(
      context,
      pod,
      container,
      status,
      preStop,
      runtimePod,
      ending,
    );
  if (ending.turn)
    await beforeDeadline(context, ending, () => ending.turn!.then(() => {}));
  const graceSeconds = (): number =>
    Math.max(minimumGraceSeconds, Math.ceil(ending.remainingSeconds() - 0.05));
  let shorter: Promise<void> | undefined;
  const unregister = ending.onShorten?.(() => {
    shorter = runtime
      .stopContainer(status.id, graceSeconds())
      .catch(ignoreGone);
  });
  try {
    await runtime.stopContainer(status.id, graceSeconds()).catch(ignoreGone);
    await shorter;
  } finally {
    unregister?.();
    context.runtimePods.markDirty(pod.metadata.uid ?? "", status.id);
  }
}

async function runPreStop(
  context: EndingContext,
  pod: Pod,
  container: Container,
  status: ContainerStatus,
  handler: LifecycleHandler,
  runtimePod: RuntimePod,
  ending: ContainerEnding,
): Promise<void> {
  const podIP =
    readySandbox(runtimePod)?.ips[0] ?? context.nodeIPs()[0] ?? "127.0.0.1";
  try {
    await beforeDeadline(context, ending, (signal) =>
      context.hooks.run(pod, container, status.id, handler, podIP, signal),
    );
  } catch (error) {
    context.logger.debug(
      { err: error, pod: pod.metadata.name, container: container.name },
      "a preStop handler failed",
    );
    context.events.container(
      pod,
      container.name,
      "Warning",
      "FailedPreStopHook",
      "PreStopHook failed",
    );
  }
}

/** Resolves with the work or at the deadline, which may come closer meanwhile; the work hears of it by its signal. */
async function beforeDeadline(
  { clock }: EndingContext,
  ending: ContainerEnding,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  const arm = (): Timer =>
    clock.after(ending.remainingSeconds() * 1000, () => abort.abort());
  let timer = arm();
  const unregister = ending.onShorten?.(() => {
    timer.cancel();
    timer = arm();
  });
  try {
    await orAborted(work(abort.signal), abort.signal);
  } finally {
    timer.cancel();
    unregister?.();
  }
}

function recordedPreStop(
  status: ContainerStatus,
): LifecycleHandler | undefined {
  const text = containerRecord(status.annotations).preStop;
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as LifecycleHandler;
  } catch {
    return undefined;
  }
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof RuntimeError && error.code === "not-found"))
    throw error;
}

/** Waits for all, then rejects with the first failure. */
async function all(works: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works))
    if (result.status === "rejected") throw result.reason;
}
