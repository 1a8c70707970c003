// The PodStatus the agent reports: phase, conditions, addresses, container statuses. Pure; transition times are kept
// from the previous status. Conditions that others own (readiness gates among them) are carried over untouched.
import { putCondition, transitionTime } from "../../api/objects/conditions.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { formatTime } from "../../api/clock.ts";
import type {
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
} from "../../api/types/core-v1.ts";
import { podContainers, isSidecar } from "../pods/shape/pod-shape.ts";
import { podAddresses } from "../pods/shape/pod-addresses.ts";
import { qosClass } from "../../api/objects/pod-qos.ts";
import type { ContainerStatus as RuntimeContainer } from "../../cri/runtime.ts";
import {
  latestContainer,
  readySandbox,
  type RuntimePod,
} from "../pods/runtime/runtime-pods.ts";
import {
  containerStatuses,
  type ContainerReadiness,
  type WaitingReason,
} from "./container-statuses.ts";
import { boundMessages } from "./message-bound.ts";
import { podPhase, type Phase } from "./phase.ts";

export interface PodStatusInputs {
  pod: Pod;
  runtimePod: RuntimePod;
  runtimeName: string;
  previous: PodStatus | undefined;
  waiting: ReadonlyMap<string, WaitingReason>;
  readiness: ContainerReadiness;
  nodeIPs: readonly string[];
  nowMs: number;
  startedAtMs: number;
  /** The pod ends or has ended: nothing will be started any more. */
  ended: boolean;
  /** Everything of the pod is gone: no container may be left waiting and the phase has to be a last one. */
  tornDown?: boolean;
  /** Its claims of devices are not given back yet: what has seen it end gives them to others, so that it has not ended. */
  holdsDevices?: boolean;
  /** The agent itself ends the pod (deadline, eviction, admission): phase, reason and message to report. */
  failure?: PodFailure | undefined;
  /** As containerStatuses() takes it. */
  mountsReadOnlyBelow?: boolean;
  resize?: ResizeReport | undefined;
}

export interface PodFailure {
  reason: string;
  message: string;
  /** Also of a pod whose containers all end with 0; without, that pod has succeeded, and only the condition says why it ended. */
  always?: boolean;
  /** Ended for the node's sake: a DisruptionTarget condition says so. */
  disruption?: boolean;
  /** What that condition says where it differs from the message. */
  disruptionMessage?: string;
}

/** What is said of a resize; absent where pods are not resized. */
export interface ResizeReport {
  /** undefined: none is under way. */
  statusOf(pod: Pod): string | undefined;
  reportOf(
    pod: Pod,
    container: string,
    current: RuntimeContainer,
    before: ContainerStatus | undefined,
  ): Pick<ContainerStatus, "resources" | "allocatedResources">;
}

export const ownConditions = new Set([
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
]);

export function podStatus(inputs: PodStatusInputs): PodStatus {
  const { pod, previous, ended, failure } = inputs;
  const all = podContainers(pod);
  const ofKind = (...kinds: string[]): typeof all =>
    all.filter(({ kind }) => kinds.includes(kind));
  const build = (
    chosen: typeof all,
    before: readonly ContainerStatus[] | undefined,
  ): ContainerStatus[] =>
    containerStatuses({ ...inputs, previous: before ?? [] }, chosen);
  const initStatuses = build(
    ofKind("init", "sidecar"),
    previous?.initContainerStatuses,
  );
  const statuses = byName(build(ofKind("app"), previous?.containerStatuses));
  const ephemeral = byName(
    build(ofKind("ephemeral"), previous?.ephemeralContainerStatuses),
  );
  boundMessages(pod, [...initStatuses, ...statuses, ...ephemeral]);
  if (inputs.resize) addResources(inputs, inputs.resize, statuses);
  if (inputs.tornDown) endMissing(pod, initStatuses, statuses);
  const stopped = [...initStatuses, ...statuses].every(
    ({ state }) => !state?.running,
  );
  let phase: Phase = podPhase(pod, initStatuses, statuses, ended && stopped);
  if (previous && isPodTerminal({ status: previous }))
    phase = previous.phase as Phase;
  // Not before its containers have ended, sidecars too: who sees it over gives what it uses to others.
  else if (
    (inputs.holdsDevices || !stopped) &&
    isPodTerminal({ status: { phase } })
  )
    phase = (previous?.phase as Phase | undefined) ?? "Running";
  // Nor this one: clients that wait for a failed pod's end rely on it.
  const failed =
    stopped &&
    !inputs.holdsDevices &&
    (failure?.always || phase !== "Succeeded")
      ? failure
      : undefined;
  if (failed || (inputs.tornDown && phase !== "Succeeded")) phase = "Failed";

  const status: PodStatus = { phase };
  // They say why it is in this phase.
  const kept = previous?.phase === phase ? previous : undefined;
  const message = failed?.message ?? kept?.message;
  const reason = failed?.reason ?? kept?.reason;
  if (message) status.message = message;
  if (reason) status.reason = reason;
  status.conditions = conditions(inputs, phase, initStatuses, statuses);
  const hostIP = inputs.nodeIPs[0];
  if (hostIP) {
    status.hostIP = hostIP;
    status.hostIPs = inputs.nodeIPs.map((ip) => ({ ip }));
  }
  const ips = podIPs(inputs);
  if (ips.length > 0) {
    status.podIP = ips[0]!;
    status.podIPs = ips.map((ip) => ({ ip }));
  }
  status.startTime = previous?.startTime ?? formatTime(inputs.startedAtMs);
  if (initStatuses.length > 0) status.initContainerStatuses = initStatuses;
  status.containerStatuses = statuses;
  if (ephemeral.length > 0) status.ephemeralContainerStatuses = ephemeral;
  status.qosClass = previous?.qosClass ?? qosClass(pod);
  if (previous?.nominatedNodeName)
    status.nominatedNodeName = previous.nominatedNodeName;
  if (previous?.resourceClaimStatuses)
    status.resourceClaimStatuses = previous.resourceClaimStatuses;
  const resize = inputs.resize?.statusOf(pod);
  if (resize && !isPodTerminal({ status })) status.resize = resize;
  return status;
}

/** As the reference reports all but those of init containers, which are in the order in which they run. */
const byName = (statuses: ContainerStatus[]): ContainerStatus[] =>
  statuses.sort((a, b) => (a.name < b.name ? -1 : 1));

function addResources(
  { pod, runtimePod, previous }: PodStatusInputs,
  report: ResizeReport,
  statuses: ContainerStatus[],
): void {
  for (const status of statuses) {
    const current = latestContainer(runtimePod, status.name);
    if (!current) continue;
    const before = previous?.containerStatuses?.find(
      ({ name }) => name === status.name,
    );
    Object.assign(status, report.reportOf(pod, status.name, current, before));
  }
}

/**
 * What never started will not: app containers of an initialized pod end as unknown, and so do the first init container and
 * those before one that did start.
 */
function endMissing(
  { spec: { initContainers = [] } }: Pod,
  initStatuses: ContainerStatus[],
  statuses: ContainerStatus[],
): void {
  const ran = ({ state, lastState }: ContainerStatus): boolean =>
    Boolean(state?.running ?? state?.terminated ?? lastState?.terminated);
  const end = (status: ContainerStatus): void => {
    if (!status.state?.terminated)
      status.state = {
        terminated: {
          exitCode: 137,
          reason: "ContainerStatusUnknown",
          message:
            "The container could not be located when the pod was terminated",
        },
      };
  };
  const started = statuses.some(ran);
  const lastRan = initStatuses.findLastIndex(ran);
  const last = initStatuses.at(-1);
  const lastContainer = initContainers.at(-1);
  const isLastSidecar = lastContainer !== undefined && isSidecar(lastContainer);
  const initialized =
    started ||
    !last ||
    // A runtime may still report an init container as running that has ended.
    (isLastSidecar
      ? last.started === true
      : [last.state, last.lastState].some(
          (state) => state?.terminated?.exitCode === 0,
        ));
  if (initialized) statuses.forEach(end);
  initStatuses.slice(0, Math.max(1, lastRan + 1)).forEach(end);
}

function podIPs({
  pod,
  runtimePod,
  previous,
  nodeIPs,
  ended,
}: PodStatusInputs): string[] {
  if (pod.spec.hostNetwork)
    return runtimePod.sandboxes.length > 0 || previous?.podIP
      ? [...nodeIPs]
      : [];
  const ips = podAddresses(readySandbox(runtimePod)?.ips ?? [], nodeIPs);
  if (ips.length > 0) return ips;
  // A pod that ends keeps the address it had.
  if (ended || previous?.podIP)
    return (previous?.podIPs ?? []).map(({ ip }) => ip);
  return [];
}

function conditions(
  inputs: PodStatusInputs,
  phase: Phase,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
): PodCondition[] {
  const { pod, runtimePod, previous, tornDown } = inputs;
  const sandbox = readySandbox(runtimePod);
  // What was torn down is not looked at once more: its sandbox was ready before.
  const sandboxReady =
    sandbox !== undefined &&
    !tornDown &&
    (pod.spec.hostNetwork === true || sandbox.ips.length > 0);
  const result: PodCondition[] = [
    condition(inputs, "PodReadyToStartContainers", { ok: sandboxReady }),
    condition(
      inputs,
      "Initialized",
      initialized(pod, phase, initStatuses, statuses),
    ),
  ];
  const containersReady = readiness(pod, phase, initStatuses, statuses);
  const gatesOpen = openGates(
    pod,
    previous?.conditions ?? pod.status?.conditions ?? [],
  );
  result.push(
    condition(
      inputs,
      "Ready",
      containersReady.ok && gatesOpen ? gatesOpen : containersReady,
    ),
  );
  result.push(condition(inputs, "ContainersReady", containersReady));
  result.push(condition(inputs, "PodScheduled", { ok: true }));
  const others = (previous?.conditions ?? []).filter(
    ({ type }) => !ownConditions.has(type),
  );
  const { disruption, message, disruptionMessage } = inputs.failure ?? {};
  // A pod that outlives the agent that was to end it was not disrupted.
  if (!disruption || !isPodTerminal({ status: { phase } }))
    return [...result, ...others];
  const target = condition(inputs, "DisruptionTarget", {
    ok: true,
    reason: kubeletDisruption,
    message: disruptionMessage ?? message ?? "",
  });
  return [...result, ...putCondition(others, target)];
}

export const kubeletDisruption = "TerminationByKubelet";

interface Verdict {
  ok: boolean;
  reason?: string;
  message?: string;
}

function initialized(
  pod: Pod,
  phase: Phase,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
): Verdict {
  if (phase === "Succeeded") return { ok: true, reason: "PodCompleted" };
  // Once an app container was started the pod stays initialized, until another sandbox begins with its init containers.
  if (statuses.some(({ state }) => state?.running || state?.terminated))
    return { ok: true };
  const incomplete = (pod.spec.initContainers ?? [])
    .filter((container) => {
      const status = initStatuses.find(({ name }) => name === container.name);
      return isSidecar(container) ? !status?.started : !status?.ready;
    })
    .map(({ name }) => name);
  if (incomplete.length === 0) return { ok: true };
  return {
    ok: false,
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${incomplete.join(" ")}]`,
  };
}

function readiness(
  pod: Pod,
  phase: Phase,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
): Verdict {
  if (phase === "Succeeded") return { ok: false, reason: "PodCompleted" };
  if (phase === "Failed") return { ok: false, reason: "PodFailed" };
  const unready = [
    ...(pod.spec.initContainers ?? [])
      .filter(isSidecar)
      .filter(
        ({ name }) =>
          !initStatuses.find((status) => status.name === name)?.ready,
      ),
    ...pod.spec.containers.filter(
      ({ name }) => !statuses.find((status) => status.name === name)?.ready,
    ),
  ].map(({ name }) => name);
  if (unready.length === 0) return { ok: true };
  return {
    ok: false,
    reason: "ContainersNotReady",
    message: `containers with unready status: [${unready.join(" ")}]`,
  };
}

/** undefined where the pod has no readiness gates. */
function openGates(
  pod: Pod,
  present: readonly PodCondition[],
): Verdict | undefined {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return undefined;
  const messages: string[] = [];
  for (const { conditionType } of gates) {
    const found = present.find(({ type }) => type === conditionType);
    if (!found)
      messages.push(
        `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
      );
    else if (found.status !== "True")
      messages.push(
        `the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`,
      );
  }
  if (messages.length === 0) return { ok: true };
  return {
    ok: false,
    reason: "ReadinessGatesNotReady",
    message: messages.join(", "),
  };
}

function condition(
  inputs: PodStatusInputs,
  type: string,
  verdict: Verdict,
): PodCondition {
  const status = verdict.ok ? "True" : "False";
  const before = inputs.previous?.conditions?.find(
    (candidate) => candidate.type === type,
  );
  return {
    type,
    status,
    ...(verdict.reason ? { reason: verdict.reason } : {}),
    ...(verdict.message ? { message: verdict.message } : {}),
    lastProbeTime: null as unknown as string,
    lastTransitionTime: transitionTime(
      before,
      status,
      formatTime(inputs.nowMs),
    ),
  };
}
