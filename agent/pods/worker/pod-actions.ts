// Decides, without doing anything, what a pod needs next: from its specification, what the runtime runs, probe results
// and back-off. Init containers run one after another, sidecars (restartable init containers) are started in their
// turn and kept running, app containers start when all of that is done. With a new sandbox everything starts again.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import { backOffKey, type BackOff } from "../../pacing/back-off.ts";
import {
  containerHash,
  containerRecord,
  type ContainerKind,
} from "../shape/labels.ts";
import { isSidecar } from "../shape/pod-shape.ts";
import { latestContainer, type RuntimePod } from "../runtime/runtime-pods.ts";

type KillReason = "liveness" | "startup" | "changed" | "resize" | "sandbox";

export interface PodActions {
  /** Stop every container and the sandboxes first: the sandbox is gone or wrong. */
  killPod: boolean;
  createSandbox: boolean;
  attempt: number;
  sandbox: SandboxStatus | undefined;
  containersToKill: {
    status: ContainerStatus;
    reason: KillReason;
    message: string;
    /** It is to be started again, whatever the restart policy says. */
    again: boolean;
  }[];
  /** In order; those that must wait for back-off are in waiting instead. */
  containersToStart: { container: Container; kind: ContainerKind }[];
  waiting: {
    container: Container;
    status: ContainerStatus;
    delayMs: number;
    remainingMs: number;
  }[];
  /** Nothing runs and nothing will be started again. */
  finished: boolean;
}

export interface ProbeResults {
  /** undefined: no such probe or no result yet. */
  liveness(containerId: string): "success" | "failure" | undefined;
  startup(containerId: string): "success" | "failure" | undefined;
}

interface ActionInputs {
  pod: Pod;
  runtimePod: RuntimePod;
  probes: ProbeResults;
  backOff: BackOff;
  nowMs: number;
  /** Ids of containers that were ended to be started again. */
  toRestart: ReadonlySet<string>;
  /** A running container gets the resources it was given by a restart only. */
  resizeRestarts: (container: Container, status: ContainerStatus) => boolean;
}

export function computePodActions(inputs: ActionInputs): PodActions {
  const { pod, runtimePod } = inputs;
  const sandbox = usableSandbox(pod, runtimePod);
  const latest = runtimePod.sandboxes[0];
  const actions: PodActions = {
    killPod: false,
    createSandbox: false,
    attempt: sandbox
      ? sandbox.metadata.attempt
      : latest
        ? latest.metadata.attempt + 1
        : 0,
    sandbox,
    containersToKill: [],
    containersToStart: [],
    waiting: [],
    finished: false,
  };
  const restartPolicy = pod.spec.restartPolicy ?? "Always";
  if (!sandbox) {
    if (everythingEnded(pod, runtimePod))
      return { ...actions, killPod: true, finished: true };
    if (restartPolicy === "Never" && latest && hasRun(pod, runtimePod))
      return { ...actions, killPod: true, finished: true };
    actions.createSandbox = true;
    actions.killPod = runtimePod.sandboxes.length > 0;
    planStart(inputs, actions, undefined);
    return actions;
  }
  planStart(inputs, actions, sandbox);
  if (!actions.finished) return actions;
  return {
    ...actions,
    killPod: true,
    containersToKill: [],
    containersToStart: [],
    waiting: [],
  };
}

function usableSandbox(
  pod: Pod,
  runtimePod: RuntimePod,
): SandboxStatus | undefined {
  // An older one that is ready, too, has another network than the pod's containers.
  const [sandbox, ...older] = runtimePod.sandboxes;
  if (!sandbox?.ready || older.some(({ ready }) => ready)) return undefined;
  return pod.spec.hostNetwork || sandbox.ips.length > 0 ? sandbox : undefined;
}

/** The containers of the present sandbox are what counts; of an older one only whether they succeeded. */
function planStart(
  inputs: ActionInputs,
  actions: PodActions,
  sandbox: SandboxStatus | undefined,
): void {
  const { pod, runtimePod } = inputs;
  const restartPolicy = pod.spec.restartPolicy ?? "Always";
  const mayRestart = (status: ContainerStatus): boolean =>
    inputs.toRestart.has(status.id) || restarts(restartPolicy, status);
  const current = (name: string): ContainerStatus | undefined =>
    sandbox
      ? runtimePod.containers.find(
          (c) => c.name === name && c.sandboxId === sandbox.id,
        )
      : undefined;
  const initialized =
    sandbox !== undefined &&
    pod.spec.containers.some(({ name }) => current(name) !== undefined);
  // Also one that ended for good in an older sandbox.
  const done = pod.spec.containers.every(({ name }) => {
    const status = current(name) ?? latestContainer(runtimePod, name);
    return status?.state === "exited" && !mayRestart(status);
  });
  if (done && (sandbox || pod.spec.containers.length > 0)) {
    // Only sidecars are left: they are ended with the pod.
    actions.finished = true;
    return;
  }
  planEphemeral(inputs, actions);
  const initContainers = pod.spec.initContainers ?? [];
  // Those before the last one that was made have succeeded or started, also when the runtime has them no more.
  const lastMade = initContainers.findLastIndex(({ name }) => current(name));
  for (const [index, container] of initContainers.entries()) {
    const sidecar = isSidecar(container);
    const status = current(container.name);
    const isPassed = initialized || index < lastMade;
    if (sidecar) {
      const runs = planKeep(
        inputs,
        actions,
        container,
        "sidecar",
        status,
        true,
      );
      if (isPassed) continue;
      const started =
        runs &&
        (!container.startupProbe ||
          inputs.probes.startup(status!.id) === "success");
      if (!started) return;
      continue;
    }
    if (isPassed) continue;
    if (!status) {
      start(
        inputs,
        actions,
        container,
        "init",
        latestContainer(runtimePod, container.name),
      );
      return;
    }
    if (status.state === "exited") {
      if (!hasFailed(status)) continue;
      if (restartPolicy === "Never") {
        actions.finished = true;
        return;
      }
      start(inputs, actions, container, "init", status);
      return;
    }
    if (status.state === "created" || status.state === "unknown")
      actions.containersToKill.push({
        status,
        reason: "changed",
        again: true,
        message: `Init container is in unexpected state, try killing it before restart`,
      });
    return;
  }
  for (const container of pod.spec.containers) {
    const status = current(container.name);
    const older = latestContainer(runtimePod, container.name);
    if (!status && older && older.state === "exited" && !mayRestart(older))
      continue;
    planKeep(
      inputs,
      actions,
      container,
      "app",
      status,
      status ? mayRestart(status) : true,
    );
  }
}

/** They start whether the pod is initialized or not, and never again: also not in a new sandbox. */
function planEphemeral(
  { pod, runtimePod }: ActionInputs,
  actions: PodActions,
): void {
  for (const container of pod.spec.ephemeralContainers ?? [])
    if (!latestContainer(runtimePod, container.name))
      actions.containersToStart.push({
        container: container as Container,
        kind: "ephemeral",
      });
}

/** Starts what does not run and ends what must not; true when the container runs and stays. */
function planKeep(
  inputs: ActionInputs,
  actions: PodActions,
  container: Container,
  kind: ContainerKind,
  status: ContainerStatus | undefined,
  mayRestart: boolean,
): boolean {
  const { probes, pod, runtimePod } = inputs;
  if (!status || status.state === "exited") {
    if (!status || mayRestart)
      start(
        inputs,
        actions,
        container,
        kind,
        status ?? latestContainer(runtimePod, container.name),
      );
    return false;
  }
  if (status.state === "created" || status.state === "unknown") {
    // Made but never started, by an agent that was ended in between.
    actions.containersToKill.push({
      status,
      reason: "changed",
      again: true,
      message: `Container is in ${status.state} state, try killing it before restart`,
    });
    start(inputs, actions, container, kind, undefined);
    return false;
  }
  const restart =
    (pod.spec.restartPolicy ?? "Always") !== "Never" || kind === "sidecar";
  const record = containerRecord(status.annotations);
  let kill: { reason: KillReason; message: string } | undefined;
  let again = restart;
  if (record.hash !== "" && record.hash !== containerHash(container)) {
    kill = {
      reason: "changed",
      message: `Container ${container.name} definition changed`,
    };
    again = true;
  } else if (probes.liveness(status.id) === "failure")
    kill = {
      reason: "liveness",
      message: `Container ${container.name} failed liveness probe`,
    };
  else if (probes.startup(status.id) === "failure")
    kill = {
      reason: "startup",
      message: `Container ${container.name} failed startup probe`,
    };
  else if (kind === "app" && inputs.resizeRestarts(container, status)) {
    actions.containersToKill.push({
      status,
      reason: "resize",
      again: true,
      message: `Container ${container.name} resize requires restart`,
    });
    return false;
  }
  if (!kill) return true;
  const message = again ? `${kill.message}, will be restarted` : kill.message;
  actions.containersToKill.push({ status, again, ...kill, message });
  return false;
}

function start(
  { pod, backOff, nowMs }: ActionInputs,
  actions: PodActions,
  container: Container,
  kind: ContainerKind,
  last: ContainerStatus | undefined,
): void {
  if (last?.state === "exited") {
    const key = backOffKey(pod, container);
    const remainingMs = backOff.remainingMs(key, last.finishedAtMs, nowMs);
    if (remainingMs > 0) {
      actions.waiting.push({
        container,
        status: last,
        delayMs: backOff.delayMs(key),
        remainingMs,
      });
      return;
    }
  }
  actions.containersToStart.push({ container, kind });
}

function restarts(policy: string, status: ContainerStatus): boolean {
  return (
    policy === "Always" || (policy === "OnFailure" && status.exitCode !== 0)
  );
}

/** One that lost a process to the kernel failed, whatever it exits with. */
function hasFailed({ exitCode, reason }: ContainerStatus): boolean {
  return exitCode !== 0 || reason === "OOMKilled";
}

/** Never to be run again: an app container was made, or an init container failed. */
function hasRun({ spec }: Pod, runtimePod: RuntimePod): boolean {
  return (
    runtimePod.containers.some(
      ({ annotations }) => containerRecord(annotations).kind === "app",
    ) ||
    (spec.initContainers ?? []).some((container) => {
      const status = latestContainer(runtimePod, container.name);
      return (
        !isSidecar(container) && status?.state === "exited" && hasFailed(status)
      );
    })
  );
}

function everythingEnded(pod: Pod, runtimePod: RuntimePod): boolean {
  const policy = pod.spec.restartPolicy ?? "Always";
  if (policy === "Always") return false;
  return pod.spec.containers.every((container) => {
    const status = latestContainer(runtimePod, container.name);
    return status?.state === "exited" && !restarts(policy, status);
  });
}
