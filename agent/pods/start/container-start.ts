// Starts one container: image, configuration, create, start, postStart. Each step that fails has its own reason for the
// container's waiting state, thrown as a WaitingError.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { crashPoint } from "../../../api/crash-point.ts";
import type {
  Container,
  EphemeralContainer,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { SandboxConfig, SandboxStatus } from "../../../cri/runtime.ts";
import { containerConfig } from "./container-config.ts";
import { endContainer } from "../end/container-end.ts";
import { containerEnvironment, type Environment } from "./environment.ts";
import { runtimeErrorText } from "../../../cri/runtime.ts";
import { WaitingError } from "./image-manager.ts";
import { containerRecord, type ContainerKind } from "../shape/labels.ts";
import { orAborted } from "../end/lifecycle-hooks.ts";
import { containerResources } from "../../resources/linux-resources.ts";
import type { PodContext } from "../worker/pod-context.ts";
import { backOffKey } from "../worker/pod-actions.ts";
import { graceSeconds } from "../shape/pod-shape.ts";
import { latestContainer, type RuntimePod } from "../runtime/runtime-pods.ts";

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

/** Resolves when the container runs and its postStart is through; without effect when the signal came before create. */
export async function startContainer(
  context: PodContext,
  inputs: StartInputs,
): Promise<void> {
  const { runtime, events, clock } = context;
  const { pod, container, kind, sandbox, sandboxConfig, runtimePod, signal } =
    inputs;
  const uid = pod.metadata.uid ?? "";
  const image = await orAborted(
    context.images
      .ensure(pod, container, sandboxConfig)
      .catch((error: unknown) => {
        if (error instanceof WaitingError)
          events.container(
            pod,
            container.name,
            "Warning",
            "Failed",
            `Error: ${error.reason}`,
          );
        throw error;
      }),
    signal,
  );
  if (!image || signal.aborted) return;

  const last = latestContainer(runtimePod, container.name);
  const restartCount = last
    ? containerRecord(last.annotations).restartCount + 1
    : Math.max(
        await context.hostFiles.nextLogNumber(pod, container.name),
        knownRestarts(context, pod, container.name),
      );

  let environment: Environment;
  let config;
  try {
    environment = await containerEnvironment(
      pod,
      container,
      context.environment,
    );
    for (const { source, keys } of environment.invalidKeys)
      events.pod(
        pod,
        "Warning",
        "InvalidEnvironmentVariableNames",
        `Keys [${keys.join(", ")}] from the EnvFrom ${source} were skipped since they are considered invalid environment variable names.`,
      );
    const values = new Map(
      environment.variables.map(({ name, value }) => [name, value]),
    );
    const [mounts, hostsFile, terminationLog] = await Promise.all([
      context.volumes.containerMounts(pod, container, (name) =>
        values.get(name),
      ),
      context.hostFiles.writeHosts(pod, sandbox.ips),
      context.hostFiles.terminationLog(
        pod,
        container.name,
        `${restartCount}-${sandbox.id.slice(0, 8)}`,
      ),
      context.hostFiles.containerLogDirectory(pod, container.name),
    ]);
    const targetName = (container as EphemeralContainer).targetContainerName;
    const targetId =
      kind === "ephemeral" && targetName
        ? latestContainer(runtimePod, targetName)?.id
        : undefined;
    config = containerConfig({
      pod,
      container,
      kind,
      restartCount,
      image,
      environment: environment.variables,
      mounts,
      hostsFile,
      terminationLog,
      resources: containerResources(pod, container, context.resourceLimits()),
      seccompDefault: context.config.seccompDefault,
      owner: context.config.rootDirectory,
      ...(targetId === undefined ? {} : { targetId }),
    });
  } catch (error) {
    throw failed(context, pod, container, "CreateContainerConfigError", error);
  }
  if (signal.aborted) return;

  // A log of that number may be left from before a reboot: the runtime would append to it.
  const logPath = join(sandboxConfig.logDirectory, config.logPath);
  if (!last) await rm(logPath, { force: true });
  let id: string;
  try {
    id = await runtime.createContainer(sandbox.id, config, sandboxConfig);
  } catch (error) {
    throw failed(context, pod, container, "CreateContainerError", error);
  }
  crashPoint("podworker.container.created");
  context.runtimePods.adopt(uid, id);
  events.container(
    pod,
    container.name,
    "Normal",
    "Created",
    `Created container: ${container.name}`,
  );
  if (last?.state === "exited")
    context.restartBackOff.next(
      backOffKey(pod, container),
      last.finishedAtMs,
      clock.now(),
    );
  try {
    await runtime.startContainer(id);
  } catch (error) {
    context.runtimePods.markDirty(uid);
    throw failed(context, pod, container, "RunContainerError", error);
  }
  crashPoint("podworker.container.started");
  await context.runtimePods.addContainer(uid, id);
  events.container(
    pod,
    container.name,
    "Normal",
    "Started",
    `Started container ${container.name}`,
  );
  context.hostFiles
    .linkContainerLog(pod, container.name, id, logPath)
    .catch((error: unknown) =>
      context.logger.warn(
        { err: error, pod: pod.metadata.name },
        "can't link the container's log",
      ),
    );

  const postStart = container.lifecycle?.postStart;
  if (!postStart) return;
  try {
    await context.hooks.run(
      pod,
      container,
      id,
      postStart,
      sandbox.ips[0] ?? context.nodeIPs()[0] ?? "127.0.0.1",
      signal,
    );
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    events.container(
      pod,
      container.name,
      "Warning",
      "FailedPostStartHook",
      `PostStartHook failed: ${text}`,
    );
    const refreshed = await context.runtimePods.refresh(uid, {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? "default",
    });
    const status = refreshed.containers.find(
      (candidate) => candidate.id === id,
    );
    const deadlineMs = clock.monotonic() + graceSeconds(pod) * 1000;
    if (status)
      await endContainer(context, pod, status, refreshed, {
        remainingSeconds: () =>
          Math.max(0, (deadlineMs - clock.monotonic()) / 1000),
        message: "FailedPostStartHook",
      });
    throw new WaitingError(
      "PostStartHookError",
      `PostStartHook failed: ${text}`,
    );
  }
}

function knownRestarts(context: PodContext, pod: Pod, name: string): number {
  const status = context.status.get(pod);
  const known = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ].find((candidate) => candidate.name === name);
  // It had run before: this is one more.
  return known?.containerID ? known.restartCount + 1 : 0;
}

function failed(
  context: PodContext,
  pod: Pod,
  container: Container,
  reason: string,
  error: unknown,
): WaitingError {
  const text = runtimeErrorText(error);
  context.events.container(
    pod,
    container.name,
    "Warning",
    "Failed",
    `Error: ${text}`,
  );
  return new WaitingError(reason, text);
}
