// ContainerStatus objects from what the runtime reports, with the reference's states and reasons. Pure: the same inputs
// give the same statuses.
import { formatTime } from "../../api/clock.ts";
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Pod,
  VolumeMount,
  VolumeMountStatus,
} from "../../api/types/core-v1.ts";
import type { ContainerStatus as RuntimeContainer } from "../../cri/runtime.ts";
import { recursiveReadOnly } from "../pods/shape/recursive-read-only.ts";
import { containerRecord, type ContainerKind } from "../pods/shape/labels.ts";
import type { RuntimePod } from "../pods/runtime/runtime-pods.ts";

export interface WaitingReason {
  reason: string;
  message: string;
}

export interface ContainerReadiness {
  /** A running container's startup probe succeeded, or it has none. */
  started(container: Container, containerId: string): boolean;
  /** A running, started container's readiness probe succeeded, or it has none. */
  ready(container: Container, containerId: string): boolean;
}

interface ContainerStatusInputs {
  pod: Pod;
  runtimePod: RuntimePod;
  runtimeName: string;
  /** By container name: why it does not run. */
  waiting: ReadonlyMap<string, WaitingReason>;
  readiness: ContainerReadiness;
  previous: readonly ContainerStatus[];
  /** The pod will not be started (again). */
  ended: boolean;
  /** Read-only mounts may cover what is mounted below them. */
  mountsReadOnlyBelow?: boolean;
}

export function containerStatuses(
  inputs: ContainerStatusInputs,
  containers: readonly { container: Container; kind: ContainerKind }[],
): ContainerStatus[] {
  return containers.map(({ container, kind }) =>
    containerStatus(inputs, container, kind),
  );
}

function containerStatus(
  inputs: ContainerStatusInputs,
  container: Container,
  kind: ContainerKind,
): ContainerStatus {
  const { pod, runtimePod, runtimeName, waiting, readiness } = inputs;
  const runs = runtimePod.containers.filter(
    ({ name }) => name === container.name,
  );
  const current = runs[0];
  const previous = inputs.previous.find(({ name }) => name === container.name);
  const status: ContainerStatus = {
    name: container.name,
    image: container.image ?? "",
    imageID: "",
    ready: false,
    restartCount: current
      ? containerRecord(current.annotations).restartCount
      : (previous?.restartCount ?? 0),
    // No probe looks at an ephemeral container.
    ...(kind === "ephemeral" ? {} : { started: false }),
    state: {},
    lastState: {},
    ...volumeMounts(container, inputs.mountsReadOnlyBelow ?? false),
  };
  if (!current) {
    withoutContainer(inputs, status, previous, container);
    return status;
  }
  status.containerID = `${runtimeName}://${current.id}`;
  status.image = current.image || status.image;
  status.imageID = current.imageRef;
  const why = waiting.get(container.name);
  if (current.state === "running") {
    status.state = { running: { startedAt: formatTime(current.startedAtMs) } };
    if (kind !== "ephemeral")
      status.started = readiness.started(container, current.id);
    status.ready =
      (kind === "app" || kind === "sidecar") &&
      status.started === true &&
      readiness.ready(container, current.id);
    if (runs[1]?.state === "exited")
      status.lastState = terminated(runs[1], runtimeName);
    else if (
      previous?.restartCount === status.restartCount &&
      previous.lastState
    )
      status.lastState = previous.lastState;
    return status;
  }
  if (current.state === "exited") {
    if (why && !inputs.ended && isRestarted(pod, kind, current)) {
      status.state = { waiting: { ...why } };
      status.lastState = terminated(current, runtimeName);
    } else {
      status.state = terminated(current, runtimeName);
      if (runs[1]?.state === "exited")
        status.lastState = terminated(runs[1], runtimeName);
      else if (
        previous?.restartCount === status.restartCount &&
        previous.lastState
      )
        status.lastState = previous.lastState;
      if (kind === "init") status.ready = current.exitCode === 0;
    }
    return status;
  }
  // Created, not started yet (or the start failed and says why).
  status.state = {
    waiting: why ? { ...why } : { reason: defaultWaiting(pod) },
  };
  if (runs[1]?.state === "exited")
    status.lastState = terminated(runs[1], runtimeName);
  return status;
}

/** One that could not be started counts as one that ended: without a restart that is its state. */
function isRestarted(
  { spec }: Pod,
  kind: ContainerKind,
  { exitCode }: RuntimeContainer,
): boolean {
  if (kind === "sidecar") return true;
  if (kind === "init" && exitCode === 0) return false;
  const policy = spec.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** The runtime knows no such container: not made yet, or removed behind our back. */
function withoutContainer(
  inputs: ContainerStatusInputs,
  status: ContainerStatus,
  previous: ContainerStatus | undefined,
  container: Container,
): void {
  const why = inputs.waiting.get(container.name);
  const before = previous?.state;
  if (before?.terminated && !why) {
    // Its remains were collected; what was reported stays.
    Object.assign(status, { ...previous, name: status.name });
    return;
  }
  if (before?.running && previous) {
    const lost: ContainerState = {
      terminated: {
        exitCode: 137,
        reason: "ContainerStatusUnknown",
        message: inputs.ended
          ? "The container could not be located when the pod was terminated"
          : "The container could not be located when the pod was deleted.  The container used to be Running",
        ...(previous.containerID ? { containerID: previous.containerID } : {}),
      },
    };
    if (inputs.ended) status.state = lost;
    else {
      status.lastState = lost;
      status.state = {
        waiting: why ? { ...why } : { reason: defaultWaiting(inputs.pod) },
      };
      status.restartCount = previous.restartCount + 1;
    }
    return;
  }
  if (previous?.lastState) status.lastState = previous.lastState;
  status.state = {
    waiting: why ? { ...why } : { reason: defaultWaiting(inputs.pod) },
  };
}

function defaultWaiting(pod: Pod): string {
  return (pod.spec.initContainers?.length ?? 0) > 0
    ? "PodInitializing"
    : "ContainerCreating";
}

function terminated(
  container: RuntimeContainer,
  runtimeName: string,
): ContainerState {
  const reason =
    container.reason || (container.exitCode === 0 ? "Completed" : "Error");
  return {
    terminated: {
      exitCode: container.exitCode,
      reason,
      ...(container.message ? { message: container.message } : {}),
      // A container that never ran says so by the epoch, as the reference's does.
      startedAt: formatTime(container.startedAtMs),
      finishedAt: formatTime(container.finishedAtMs),
      containerID: `${runtimeName}://${container.id}`,
    } as ContainerState["terminated"] & object,
  };
}

function volumeMounts(
  container: Container,
  supported: boolean,
): {
  volumeMounts?: VolumeMountStatus[];
} {
  const mounts = (container.volumeMounts ?? []).map(
    (mount): VolumeMountStatus => ({
      name: mount.name,
      mountPath: mount.mountPath,
      ...(mount.readOnly
        ? {
            readOnly: true,
            recursiveReadOnly: readsOnlyBelow(mount, supported)
              ? "Enabled"
              : "Disabled",
          }
        : {}),
    }),
  );
  return mounts.length > 0 ? { volumeMounts: mounts } : {};
}

/** A mount that insists and can't have it keeps its container from starting, which says why. */
function readsOnlyBelow(mount: VolumeMount, supported: boolean): boolean {
  try {
    return recursiveReadOnly(mount, supported);
  } catch {
    return false;
  }
}
