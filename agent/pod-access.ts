// What the agent's ports do with a pod from outside: logs, exec, attach, port-forward, checkpoints. Pods are found by namespace and
// name, static pods by their mirror's name. Errors are ApiErrors with the reference's texts.
import type { Duplex, Readable } from "node:stream";
import type { Clock } from "../api/clock.ts";
import type { ExecOptions, ExecSession, LogOptions } from "../api/contracts.ts";
import { ApiError } from "../api/errors.ts";
import type { ContainerState, Pod } from "../api/types/core-v1.ts";
import {
  RuntimeError,
  type ContainerStatus,
  type Runtime,
} from "../cri/runtime.ts";
import { ContainerCheckpoints } from "./container-checkpoint.ts";
import { findContainer } from "./pods/shape/pod-shape.ts";
import { readySandbox, type RuntimePod } from "./pods/runtime/runtime-pods.ts";

interface PodAccessOptions {
  runtime: Runtime;
  /** Checkpoints lie below it. */
  rootDirectory: string;
  clock: Clock;
  /** With status. */
  pod: (namespace: string, name: string) => Pod | undefined;
  refresh: (pod: Pod) => Promise<RuntimePod>;
  /** Calls back on each change of the pod's containers; returns a disposer. */
  onChange: (uid: string, listener: () => void) => () => void;
}

export class PodAccess {
  readonly #options: PodAccessOptions;
  readonly #checkpoints: ContainerCheckpoints;

  constructor(options: PodAccessOptions) {
    this.#options = options;
    this.#checkpoints = new ContainerCheckpoints(options);
  }

  find(namespace: string, name: string): Pod | undefined {
    return this.#options.pod(namespace, name);
  }

  async logs(
    namespace: string,
    name: string,
    options: LogOptions,
  ): Promise<Readable> {
    const pod = this.#pod(namespace, name);
    const containerName = this.#containerName(pod, options.container);
    const runtimePod = await this.#options.refresh(pod);
    const runs = runtimePod.containers.filter(
      (container) => container.name === containerName,
    );
    const chosen = options.previous
      ? previousRun(runs, pod, containerName)
      : currentRun(runs, pod, containerName);
    if (!chosen.logPath)
      throw badRequest(
        `container "${containerName}" in pod "${name}" has no log`,
      );
    const uid = pod.metadata.uid ?? "";
    let state = chosen.state;
    const sinceMs =
      options.sinceTime !== undefined
        ? Date.parse(options.sinceTime)
        : options.sinceSeconds !== undefined
          ? Date.now() - options.sinceSeconds * 1000
          : undefined;
    return this.#options.runtime.logs.open(chosen, {
      follow: options.follow && !options.previous,
      timestamps: options.timestamps,
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(options.tailLines === undefined
        ? {}
        : { tailLines: options.tailLines }),
      ...(options.limitBytes === undefined
        ? {}
        : { limitBytes: options.limitBytes }),
      ...(options.stream === "Stdout"
        ? { stream: "stdout" as const }
        : options.stream === "Stderr"
          ? { stream: "stderr" as const }
          : {}),
      isRunning: () => state === "running" || state === "created",
      onStateChange: (notify) =>
        this.#options.onChange(uid, () => {
          this.#options
            .refresh(pod)
            .then((fresh) => {
              state =
                fresh.containers.find(({ id }) => id === chosen.id)?.state ??
                "exited";
              notify();
            })
            .catch(() => undefined);
        }),
    });
  }

  async exec(
    namespace: string,
    name: string,
    options: ExecOptions,
  ): Promise<ExecSession> {
    const pod = this.#pod(namespace, name);
    const status = await this.#running(pod, options.container);
    return await this.#entered(
      status,
      this.#options.runtime.exec(status.id, options.command, options),
    );
  }

  async attach(
    namespace: string,
    name: string,
    options: Omit<ExecOptions, "command">,
  ): Promise<ExecSession> {
    const pod = this.#pod(namespace, name);
    const status = await this.#running(pod, options.container);
    const container = findContainer(pod, status.name)?.container;
    return await this.#entered(
      status,
      this.#options.runtime.attach(status.id, {
        ...options,
        tty: container?.tty ?? false,
        stdin: options.stdin && (container?.stdin ?? false),
        stdinOnce: container?.stdinOnce ?? false,
      }),
    );
  }

  async portForward(
    namespace: string,
    name: string,
    port: number,
  ): Promise<Duplex> {
    const pod = this.#pod(namespace, name);
    const sandbox = readySandbox(await this.#options.refresh(pod));
    if (!sandbox) throw badRequest(`pod "${name}" has no running sandbox`);
    return await asApiError(
      this.#options.runtime.portForward(sandbox.id, port),
    );
  }

  checkpoint(
    namespace: string,
    name: string,
    container: string,
    timeoutSeconds: number,
  ): Promise<string> {
    const pod = this.#pod(namespace, name);
    return this.#checkpoints.take(pod, container, timeoutSeconds);
  }

  #pod(namespace: string, name: string): Pod {
    const found = this.find(namespace, name);
    if (!found)
      throw new ApiError({
        code: 404,
        reason: "NotFound",
        message: `pod "${name}" does not exist`,
      });
    return found;
  }

  #containerName(pod: Pod, name: string): string {
    if (name === "" && pod.spec.containers.length === 1)
      return pod.spec.containers[0]!.name;
    if (findContainer(pod, name)) return name;
    throw new ApiError({
      code: 404,
      reason: "NotFound",
      message: `container "${name}" not found in pod "${pod.metadata.name}"`,
    });
  }

  async #running(pod: Pod, containerName: string): Promise<ContainerStatus> {
    const wanted = this.#containerName(pod, containerName);
    const runtimePod = await this.#options.refresh(pod);
    const status = runtimePod.containers.find(
      (container) => container.name === wanted,
    );
    if (status?.state !== "running") throw notRunning(wanted);
    return status;
  }

  /** A container may end before its event comes: one that the runtime refuses to enter is looked at again. */
  async #entered(
    { id, name }: ContainerStatus,
    session: Promise<ExecSession>,
  ): Promise<ExecSession> {
    try {
      return await session;
    } catch (error) {
      if (error instanceof RuntimeError && !(await this.#runs(id)))
        throw notRunning(name);
      return await asApiError(Promise.reject(error));
    }
  }

  async #runs(id: string): Promise<boolean> {
    const { runtime } = this.#options;
    try {
      return (await runtime.containerStatus(id)).state === "running";
    } catch (error) {
      return !(error instanceof RuntimeError && error.code === "not-found");
    }
  }
}

function notRunning(container: string): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: `container not found ("${container}")`,
  });
}

function currentRun(
  runs: readonly ContainerStatus[],
  pod: Pod,
  name: string,
): ContainerStatus {
  const found = runs.find(
    ({ state }) => state === "running" || state === "exited",
  );
  if (found) return found;
  const state = containerState(pod, name);
  const removed = state?.terminated?.containerID;
  if (removed)
    throw badRequest(`unable to retrieve container logs for ${removed}`);
  const reason = state?.waiting?.reason ?? "ContainerCreating";
  const why =
    reason === "ErrImagePull" || reason === "ImagePullBackOff"
      ? "trying and failing to pull image"
      : reason;
  throw badRequest(
    `container "${name}" in pod "${pod.metadata.name}" is waiting to start: ${why}`,
  );
}

function previousRun(
  runs: readonly ContainerStatus[],
  pod: Pod,
  name: string,
): ContainerStatus {
  const exited = runs.filter(({ state }) => state === "exited");
  // While it waits for its restart, the run that ended last is the previous one only from the next start on.
  const found =
    runs[0]?.state === "exited" && containerState(pod, name)?.terminated
      ? exited[1]
      : exited[0];
  if (!found)
    throw badRequest(
      `previous terminated container "${name}" in pod "${pod.metadata.name}" not found`,
    );
  return found;
}

function containerState(pod: Pod, name: string): ContainerState | undefined {
  const all = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  return all.find((status) => status.name === name)?.state;
}

function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: "BadRequest", message });
}

async function asApiError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const code =
      error.code === "not-found"
        ? 404
        : error.code === "unavailable"
          ? 503
          : 500;
    throw new ApiError({
      code,
      reason:
        code === 404
          ? "NotFound"
          : code === 503
            ? "ServiceUnavailable"
            : "InternalError",
      message: error.message,
    });
  }
}
