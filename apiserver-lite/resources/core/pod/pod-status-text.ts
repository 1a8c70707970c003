// The STATUS, READY and RESTARTS cells of a pod: phase, overridden by what its containers are doing, as kubectl shows.
import { whole, type Wanted } from "../../../printing/json-projection.ts";
import { isPodTerminal } from "../../../../api/objects/pod-state.ts";
import type { ContainerStatus, Pod } from "../../../../api/types/core-v1.ts";
import { formatAge, orNone } from "../../../printing/age.ts";

interface Tally {
  ready: number;
  restarts: number;
  /** RFC 3339; the latest end of a container that was restarted. */
  lastRestart: string;
}

function count(tally: Tally, status: ContainerStatus): void {
  tally.restarts += status.restartCount;
  const finished = status.lastState?.terminated?.finishedAt;
  if (finished && finished > tally.lastRestart) tally.lastRestart = finished;
}

function conditionIsTrue(pod: Pod, type: string): boolean {
  return (
    pod.status?.conditions?.some(
      (condition) => condition.type === type && condition.status === "True",
    ) ?? false
  );
}

/** What the init containers say: undefined once they are done. Sidecars count towards ready and restarts. */
function initText(pod: Pod, all: Tally, sidecars: Tally): string | undefined {
  const total = pod.spec.initContainers?.length ?? 0;
  const restartable = new Set<string>();
  for (const { name, restartPolicy } of pod.spec.initContainers ?? []) {
    if (restartPolicy === "Always") restartable.add(name);
  }
  for (const [index, status] of (
    pod.status?.initContainerStatuses ?? []
  ).entries()) {
    count(all, status);
    const { terminated, waiting } = status.state ?? {};
    if (restartable.has(status.name)) count(sidecars, status);
    if (terminated?.exitCode === 0) continue;
    if (restartable.has(status.name) && status.started) {
      if (status.ready) all.ready++;
      continue;
    }
    if (terminated) {
      if (terminated.reason) return `Init:${terminated.reason}`;
      return terminated.signal
        ? `Init:Signal:${terminated.signal}`
        : `Init:ExitCode:${terminated.exitCode}`;
    }
    if (waiting?.reason && waiting.reason !== "PodInitializing")
      return `Init:${waiting.reason}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
}

/** The text of the STATUS column and the numbers beside it. */
function podStatusText(pod: Pod): {
  text: string;
  ready: number;
  total: number;
  restarts: Tally;
} {
  const { spec, status, metadata } = pod;
  let text = status?.reason || status?.phase || "";
  if (
    status?.conditions?.some(
      ({ type, reason }) =>
        type === "PodScheduled" && reason === "SchedulingGated",
    )
  ) {
    text = "SchedulingGated";
  }
  const all: Tally = { ready: 0, restarts: 0, lastRestart: "" };
  const sidecars: Tally = { ready: 0, restarts: 0, lastRestart: "" };
  const initializing = initText(pod, all, sidecars);
  let restarts = all;
  if (initializing !== undefined) text = initializing;
  if (initializing === undefined || conditionIsTrue(pod, "Initialized")) {
    restarts = sidecars;
    let running = false;
    const statuses = status?.containerStatuses ?? [];
    // From the last to the first: the first container with something to say has the last word.
    for (let index = statuses.length - 1; index >= 0; index--) {
      const container = statuses[index]!;
      count(restarts, container);
      const { waiting, terminated, running: alive } = container.state ?? {};
      if (waiting?.reason) text = waiting.reason;
      else if (terminated?.reason) text = terminated.reason;
      else if (terminated) {
        text = terminated.signal
          ? `Signal:${terminated.signal}`
          : `ExitCode:${terminated.exitCode}`;
      } else if (container.ready && alive) {
        running = true;
        all.ready++;
      }
    }
    if (text === "Completed" && running)
      text = conditionIsTrue(pod, "Ready") ? "Running" : "NotReady";
  }
  if (metadata.deletionTimestamp) {
    if (status?.reason === "NodeLost") text = "Unknown";
    else if (!isPodTerminal(pod)) text = "Terminating";
  }
  const sidecarCount =
    spec.initContainers?.filter(
      ({ restartPolicy }) => restartPolicy === "Always",
    ).length ?? 0;
  return {
    text,
    ready: all.ready,
    total: spec.containers.length + sidecarCount,
    restarts,
  };
}

const containerStatuses: Wanted = {
  name: whole,
  restartCount: whole,
  lastState: whole,
  state: whole,
  ready: whole,
  started: whole,
};

/** Of a pod's members those that its row shows. */
export const podRowReads: Wanted = {
  metadata: {
    name: whole,
    creationTimestamp: whole,
    deletionTimestamp: whole,
  },
  spec: {
    containers: {},
    initContainers: { name: whole, restartPolicy: whole },
    nodeName: whole,
    readinessGates: whole,
  },
  status: {
    phase: whole,
    reason: whole,
    conditions: { type: whole, status: whole, reason: whole },
    containerStatuses,
    initContainerStatuses: containerStatuses,
    nominatedNodeName: whole,
    podIP: whole,
    podIPs: whole,
  },
};

export function podRow(pod: Pod, now: number): (string | number)[] {
  const { text, ready, total, restarts } = podStatusText(pod);
  const { metadata, spec, status } = pod;
  const gates = spec.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) =>
    conditionIsTrue(pod, conditionType),
  ).length;
  const since =
    restarts.restarts > 0 && restarts.lastRestart
      ? ` (${formatAge(restarts.lastRestart, now)} ago)`
      : "";
  return [
    metadata.name,
    `${ready}/${total}`,
    text,
    `${restarts.restarts}${since}`,
    formatAge(metadata.creationTimestamp, now),
    orNone(status?.podIPs?.[0]?.ip ?? status?.podIP),
    orNone(spec.nodeName),
    orNone(status?.nominatedNodeName),
    gates.length === 0 ? "<none>" : `${open}/${gates.length}`,
  ];
}
