// Starts one container: image, configuration, create, start, postStart. Each step that fails has its own reason for the
// container's waiting state, thrown as a WaitingError.
import { join } from "node:path";
import type { Logger } from "pino";
import { crashPoint } from "../../../api/crash-point.ts";
import type {
  Container,
  LifecycleHandler,
  Pod,
  PodStatus,
} from "../../../api/types/core-v1.ts";
import {
  type ContainerConfig,
  type ContainerStatus,
  type ImageSummary,
  type Mount,
  type Runtime,
  type SandboxConfig,
  type SandboxStatus,
} from "../../../cri/runtime.ts";
import { runtimeErrorText } from "../../../cri/runtime-error-text.ts";
import type { MoveLock } from "../../cgroups/move-lock.ts";
import type { PodMetrics } from "../../metrics/pod-metrics.ts";
import { endContainer, type EndingContext } from "../end/container-end.ts";
import { orAborted } from "../end/lifecycle-hooks.ts";
import {
  latestContainer,
  type RuntimePod,
  type RuntimePods,
} from "../runtime/runtime-pods.ts";
import { containerRecord, type ContainerKind } from "../shape/labels.ts";
import { graceSeconds } from "../shape/pod-shape.ts";
import { backOffKey, type BackOff } from "../../pacing/back-off.ts";
import type { MountedImages } from "../../volumes/container-mounts.ts";
import { setUpContainer, type SetupContext } from "./container-setup.ts";
import type { HostFiles } from "./host-files.ts";
import {
  assertUsers,
  withPodUsers,
  type PodUsersContext,
} from "./pod-users.ts";
import { WaitingError, type ImageManager } from "../../images/image-manager.ts";

export interface ContainerStartContext {
  readonly runtime: Pick<Runtime, "createContainer" | "startContainer">;
  readonly runtimePods: Pick<
    RuntimePods,
    "adopt" | "addContainer" | "markDirty" | "refresh"
  >;
  readonly images: Pick<ImageManager, "ensure" | "ensureVolume">;
  readonly setup: SetupContext;
  readonly users: PodUsersContext;
  readonly files: Pick<HostFiles, "nextLogNumber" | "linkContainerLog">;
  /** The pod's last status. */
  readonly status: { get(pod: Pod): PodStatus | undefined };
  readonly restartBackOff: BackOff;
  readonly moves: Pick<MoveLock, "during">;
  /** Hooks, events and clock, and what a container whose postStart failed is ended with. */
  readonly ending: EndingContext;
  readonly logger: Logger;
  readonly metrics?: Pick<PodMetrics, "starts" | "startFailed"> | undefined;
}

interface StartInputs {
  /** With the addresses in its status. */
  pod: Pod;
  container: Container;
  kind: ContainerKind;
  sandbox: SandboxStatus;
  sandboxConfig: SandboxConfig;
  runtimePod: RuntimePod;
  signal: AbortSignal;
}

/** As the reference names them; a sidecar is an init container. */
const typeOf = (kind: ContainerKind) =>
  (
    ({
      app: "container",
      init: "init_container",
      sidecar: "init_container",
      ephemeral: "ephemeral_container",
    }) as const
  )[kind];

/** Resolves when the container runs and its postStart is through; without effect when the signal came before create. */
export async function startContainer(
  context: ContainerStartContext,
  inputs: StartInputs,
): Promise<void> {
  const type = typeOf(inputs.kind);
  context.metrics?.starts(type);
  try {
    await start(context, inputs);
  } catch (error) {
    const code = error instanceof WaitingError ? error.reason : "Unknown";
    context.metrics?.startFailed(type, code);
    throw error;
  }
}

async function start(
  context: ContainerStartContext,
  inputs: StartInputs,
): Promise<void> {
  const { pod, container, sandbox, runtimePod, signal } = inputs;
  const found = await orAborted(ensureImages(context, inputs), signal);
  if (!found || signal.aborted) return;

  const last = latestContainer(runtimePod, container.name);
  let config, sandboxConfig;
  try {
    const restartCount = last
      ? containerRecord(last.annotations).restartCount + 1
      : Math.max(
          await context.files.nextLogNumber(pod, container.name),
          knownRestarts(context, pod, container.name),
        );
    sandboxConfig = await withPodUsers(
      context.users,
      pod,
      sandbox.runtimeHandler,
      inputs.sandboxConfig,
    );
    assertUsers(sandbox, sandboxConfig);
    config = await setUpContainer(context.setup, {
      ...inputs,
      restartCount,
      ...found,
    });
  } catch (error) {
    // What is kept from the pod's users.
    if (error instanceof Error && error.cause !== undefined)
      context.logger.warn(
        { err: error, pod: pod.metadata.name, container: container.name },
        "can't set up the container",
      );
    throw failed(context, pod, container, "CreateContainerConfigError", error);
  }
  if (signal.aborted) return;

  const logPath = join(sandboxConfig.logDirectory, config.logPath);
  const id = await context.moves.during(() =>
    createAndStart(context, { ...inputs, sandboxConfig }, config, last),
  );
  context.files
    .linkContainerLog(pod, container.name, id, logPath)
    .catch((error: unknown) =>
      context.logger.warn(
        { err: error, pod: pod.metadata.name },
        "can't link the container's log",
      ),
    );
  const postStart = container.lifecycle?.postStart;
  if (postStart) await runPostStart(context, inputs, id, postStart);
}

/** Those of its volumes, and its own. */
async function ensureImages(
  { images, ending }: ContainerStartContext,
  { pod, container, sandboxConfig }: StartInputs,
): Promise<{ images: MountedImages; image: ImageSummary }> {
  try {
    const mounted = new Map<string, NonNullable<Mount["image"]>>();
    const names = new Set(container.volumeMounts?.map(({ name }) => name));
    for (const { name, image: source } of pod.spec.volumes ?? []) {
      if (!source || !names.has(name)) continue;
      const { id } = await images.ensureVolume(pod, source, sandboxConfig);
      mounted.set(name, { id, reference: source.reference ?? "" });
    }
    return {
      images: mounted,
      image: await images.ensure(pod, container, sandboxConfig),
    };
  } catch (error) {
    if (error instanceof WaitingError)
      ending.events.container(
        pod,
        container.name,
        "Warning",
        "Failed",
        `Error: ${error.reason}`,
      );
    throw error;
  }
}

/** Resolves to the container's id when it runs. */
async function createAndStart(
  context: ContainerStartContext,
  { pod, container, sandbox, sandboxConfig }: StartInputs,
  config: ContainerConfig,
  last: ContainerStatus | undefined,
): Promise<string> {
  const { runtime, runtimePods, restartBackOff } = context;
  const { events, clock } = context.ending;
  const uid = pod.metadata.uid ?? "";
  const { name } = container;
  let id: string;
  try {
    id = await runtime.createContainer(sandbox.id, config, sandboxConfig);
  } catch (error) {
    throw failed(context, pod, container, "CreateContainerError", error);
  }
  crashPoint("podworker.container.created");
  runtimePods.adopt(uid, id);
  events.container(
    pod,
    name,
    "Normal",
    "Created",
    `Created container: ${name}`,
  );
  if (last?.state === "exited")
    restartBackOff.next(
      backOffKey(pod, container),
      last.finishedAtMs,
      clock.now(),
    );
  try {
    await runtime.startContainer(id);
  } catch (error) {
    runtimePods.markDirty(uid);
    throw failed(context, pod, container, "RunContainerError", error);
  }
  crashPoint("podworker.container.started");
  await runtimePods.addContainer(uid, id);
  events.container(pod, name, "Normal", "Started", `Started container ${name}`);
  return id;
}

/** A container whose postStart fails is ended. */
async function runPostStart(
  context: ContainerStartContext,
  { pod, container, sandbox, signal }: StartInputs,
  id: string,
  handler: LifecycleHandler,
): Promise<void> {
  const { hooks, events, clock, nodeIPs } = context.ending;
  try {
    const podIP = sandbox.ips[0] ?? nodeIPs()[0] ?? "127.0.0.1";
    await hooks.run(pod, container, id, handler, podIP, signal);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    events.container(
      pod,
      container.name,
      "Warning",
      "FailedPostStartHook",
      "PostStartHook failed",
    );
    const refreshed = await context.runtimePods.refresh(
      pod.metadata.uid ?? "",
      {
        name: pod.metadata.name,
        namespace: pod.metadata.namespace ?? "default",
      },
    );
    const status = refreshed.containers.find(
      (candidate) => candidate.id === id,
    );
    const deadlineMs = clock.monotonic() + graceSeconds(pod) * 1000;
    if (status)
      await endContainer(context.ending, pod, status, refreshed, {
        remainingSeconds: () =>
          Math.max(0, (deadlineMs - clock.monotonic()) / 1000),
        message: "FailedPostStartHook",
      });
    throw new WaitingError("PostStartHookError", text);
  }
}

function knownRestarts(
  { status }: ContainerStartContext,
  pod: Pod,
  name: string,
): number {
  const last = status.get(pod);
  const known = [
    ...(last?.initContainerStatuses ?? []),
    ...(last?.containerStatuses ?? []),
  ].find((candidate) => candidate.name === name);
  // It had run before: this is one more. Without a container the status counts the start that is to come.
  return (known?.restartCount ?? 0) + (known?.containerID ? 1 : 0);
}

function failed(
  { ending }: ContainerStartContext,
  pod: Pod,
  container: Container,
  reason: string,
  error: unknown,
): WaitingError {
  const text = runtimeErrorText(error);
  ending.events.container(
    pod,
    container.name,
    "Warning",
    "Failed",
    `Error: ${text}`,
  );
  return new WaitingError(reason, text);
}
