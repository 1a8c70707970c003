// Whether a pod that was bound to this node may run on it: the node agent has the last word, because the scheduler may
// have been passed over or have known less. A refused pod becomes Failed with the reason. Invariants: a pod is asked
// about once, before anything of it is made; what the runtime already runs counts as admitted; static pods and those of
// the highest priorities are not refused for pressure, and less important pods end where there is no room for them.
import type { Node, Pod } from "../../api/types/core-v1.ts";
import { Counters } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import { matchesNodeAffinity } from "../../api/objects/node-affinity.ts";
import {
  podRequests,
  toResources,
  type Resources,
} from "../../api/objects/pod-resources.ts";
import { tolerates, untoleratedTaint } from "../../api/objects/taints.ts";
import type { WorkloadBackOff } from "../../eviction/workload-back-off.ts";
import type { NodePressure } from "../../eviction/pressure-state.ts";
import { isCriticalPod } from "../pods/shape/critical-pod.ts";
import { isStaticPod } from "../pods/shape/labels.ts";
import { qosClass } from "../../api/objects/pod-qos.ts";
import { appArmorRefusal } from "./app-armor.ts";
import { podsToPreempt } from "./preemption.ts";
import { sysctlRefusal } from "./sysctl-policy.ts";

interface Refusal {
  reason: string;
  message: string;
}

interface NodeAdmissionOptions {
  nodeName: string;
  /** As the API has it; undefined before it is registered and without an API. */
  node: () => Node | undefined;
  pressure: () => NodePressure;
  /** Holds pods whose workload was refused for pressure again and again. */
  pressureBackOff?: Pick<WorkloadBackOff, "hold">;
  shuttingDown: () => boolean;
  /** Device resource → how many containers hold: what runs keeps its devices when their plug-in is gone. */
  heldDevices: () => ReadonlyMap<string, number>;
  /** Sysctls beyond the safe ones; a name, or a prefix ending in `*`. */
  allowedUnsafeSysctls?: readonly string[];
  /** Of the kernel. */
  hasAppArmor: boolean;
  /** The runtime keeps to a pod's policy for supplemental groups. */
  keepsGroupsPolicy: () => boolean;
}

/** What is missing, by resource; there may be several. */
interface Shortage extends Refusal {
  readonly missing: ReadonlyMap<string, number>;
}

/** Refused, admitted as soon as these pods have ended, or to ask again later. */
type AdmissionAnswer = RoomAnswer | { readonly holdMs: number };
type RoomAnswer =
  | Refusal
  | {
      readonly preempt: readonly Pod[];
      /** The resource that is missing. */
      readonly signal: string;
    };

export class NodeAdmission {
  readonly #options: NodeAdmissionOptions;
  readonly #admitted = new Set<string>();
  readonly #preemptions = new Counters({
    name: "kubelet_preemptions",
    help: "Pods that ended so that a critical one has room, by what it lacked.",
    labels: ["preemption_signal"],
  });

  constructor(options: NodeAdmissionOptions) {
    this.#options = options;
  }

  families(): Family[] {
    return [this.#preemptions.family()];
  }

  /** What ran already when the agent started. */
  adopt(uids: Iterable<string>): void {
    for (const uid of uids) this.#admitted.add(uid);
  }

  counts(uid: string): boolean {
    return this.#admitted.has(uid);
  }

  release(uid: string): void {
    this.#admitted.delete(uid);
  }

  /**
   * undefined: it may run, and from now on counts. `live`: the pods that may use something of the node, not those that
   * ended; of them the admitted ones count. A critical pod counts from the moment on at which others are to end for it.
   */
  admit(pod: Pod, live: readonly Pod[]): AdmissionAnswer | undefined {
    const uid = pod.metadata.uid ?? "";
    if (this.#admitted.has(uid)) return undefined;
    const others = this.#othersOf(pod, live);
    const { allowedUnsafeSysctls = [], hasAppArmor } = this.#options;
    const pressed = this.#atShutdown() ? undefined : this.#underPressure(pod);
    const holdMs = pressed ? this.#options.pressureBackOff?.hold(pod) : 0;
    if (holdMs) return { holdMs };
    const answer =
      this.#atShutdown() ??
      pressed ??
      sysctlRefusal(pod, allowedUnsafeSysctls) ??
      ofAnotherSystem(pod) ??
      this.#unableRuntime(pod) ??
      this.#room(pod, others) ??
      appArmorRefusal(pod, hasAppArmor);
    if (!answer || "preempt" in answer) {
      // What must hold beside room is asked before others end for it.
      const refusal = answer && appArmorRefusal(pod, hasAppArmor);
      if (refusal) return rejected(refusal);
      this.#admitted.add(uid);
      if (answer) this.#preemptions.add(answer.preempt.length, answer.signal);
      return answer;
    }
    return rejected(answer);
  }

  /** Why a pod that runs, as it is now, has no room beside the others; no pod ends for it. */
  fits(pod: Pod, live: readonly Pod[]): Refusal | undefined {
    const others = this.#othersOf(pod, live);
    return this.#lacksResources(pod, others) ?? this.#doesNotFit(pod, others);
  }

  #othersOf(pod: Pod, live: readonly Pod[]): Pod[] {
    return live.filter(
      ({ metadata }) =>
        metadata.uid !== pod.metadata.uid &&
        this.#admitted.has(metadata.uid ?? ""),
    );
  }

  #room(pod: Pod, others: readonly Pod[]): RoomAnswer | undefined {
    const shortage = this.#lacksResources(pod, others);
    if (!shortage || !isCriticalPod(pod))
      return shortage ?? this.#doesNotFit(pod, others);
    const misfit = this.#doesNotFit(pod, others);
    if (misfit) return misfit;
    try {
      const [signal = ""] = shortage.missing.keys();
      return { preempt: podsToPreempt(pod, others, shortage.missing), signal };
    } catch (error) {
      return {
        reason: "UnexpectedAdmissionError",
        message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${(error as Error).message}`,
      };
    }
  }

  /** Merged groups would give the pod more than it asks for. */
  #unableRuntime({ spec }: Pod): Refusal | undefined {
    return spec.securityContext?.supplementalGroupsPolicy === "Strict" &&
      !this.#options.keepsGroupsPolicy()
      ? {
          reason: "SupplementalGroupsPolicyNotSupported",
          message:
            "SupplementalGroupsPolicy=Strict is not supported in this node",
        }
      : undefined;
  }

  #atShutdown(): Refusal | undefined {
    if (!this.#options.shuttingDown()) return undefined;
    return {
      reason: "NodeShutdown",
      message: "Pod was rejected as the node is shutting down.",
    };
  }

  #underPressure(pod: Pod): Refusal | undefined {
    const { memory, disk, pid } = this.#options.pressure();
    if ((!memory && !disk && !pid) || isCriticalPod(pod)) return undefined;
    if (memory && !disk && !pid) {
      if (qosClass(pod) !== "BestEffort") return undefined;
      const taint = {
        key: "node.kubernetes.io/memory-pressure",
        effect: "NoSchedule",
      };
      if (pod.spec.tolerations?.some((each) => tolerates(each, taint)))
        return undefined;
    }
    const names = [
      memory ? "MemoryPressure" : "",
      disk ? "DiskPressure" : "",
      pid ? "PIDPressure" : "",
    ].filter(Boolean);
    return {
      reason: "Evicted",
      message: `The node had condition: [${names.join(" ")}]. `,
    };
  }

  #lacksResources(pod: Pod, others: readonly Pod[]): Shortage | undefined {
    const node = this.#options.node();
    if (!node?.status?.allocatable) return undefined;
    const capacity = toResources(node.status.allocatable);
    for (const [name, held] of this.#options.heldDevices())
      capacity.set(name, Math.max(held, capacity.get(name) ?? 0));
    const used: Resources = new Map();
    for (const other of others)
      for (const [name, amount] of requestsOf(other))
        used.set(name, (used.get(name) ?? 0) + amount);
    const missing = new Map<string, number>();
    let first: Refusal | undefined;
    for (const [name, amount] of requestsOf(pod)) {
      const total = capacity.get(name);
      // A device that is not announced (any more) is its own admission's matter.
      if (total === undefined || amount === 0) continue;
      const already = used.get(name) ?? 0;
      if (already + amount <= total) continue;
      missing.set(name, already + amount - total);
      first ??= {
        reason: `OutOf${name}`,
        message: `Node didn't have enough resource: ${name}, requested: ${amount}, used: ${already}, capacity: ${total}`,
      };
    }
    return first && { ...first, missing };
  }

  #doesNotFit(pod: Pod, others: readonly Pod[]): Refusal | undefined {
    const { nodeName } = this.#options;
    const node = this.#options.node();
    const failed = (reason: string, why: string): Refusal => ({
      reason,
      message: `Predicate ${reason} failed: ${why}`,
    });
    if (pod.spec.nodeName && pod.spec.nodeName !== nodeName)
      return failed("NodeName", "node(s) didn't match the requested node name");
    if (node && !matchesNodeAffinity(pod.spec, node))
      return failed(
        "NodeAffinity",
        "node(s) didn't match Pod's node affinity/selector",
      );
    if (portsCollide(pod, others))
      return failed(
        "NodePorts",
        "node(s) didn't have free ports for the requested pod ports",
      );
    if (
      node &&
      !isStaticPod(pod) &&
      untoleratedTaint(node.spec?.taints, pod.spec.tolerations, ["NoExecute"])
    )
      return failed(
        "TaintToleration",
        "node(s) had taints that the pod didn't tolerate",
      );
    return undefined;
  }
}

function rejected({ reason, message }: Refusal): Refusal {
  return { reason, message: `Pod was rejected: ${message}` };
}

/** By its label, or by what it says of itself. */
function ofAnotherSystem({ metadata, spec }: Pod): Refusal | undefined {
  if ((metadata.labels?.["kubernetes.io/os"] ?? "linux") !== "linux")
    return {
      reason: "PodOSSelectorNodeLabelDoesNotMatch",
      message:
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  if ((spec.os?.name ?? "linux") !== "linux")
    return {
      reason: "PodOSNotSupported",
      message: "Failed to admit pod as the OS field doesn't match node OS",
    };
  return undefined;
}

/** In the order in which what is missing is said: the first of it is the reason. */
const askedFirst = ["cpu", "memory", "ephemeral-storage"];

function requestsOf(pod: Pod): Resources {
  const requests = podRequests(pod.spec);
  const ordered: Resources = new Map([["pods", 1]]);
  for (const name of [...askedFirst, ...requests.keys()]) {
    const amount = requests.get(name);
    if (amount !== undefined) ordered.set(name, amount);
  }
  return ordered;
}

interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

function hostPorts(pod: Pod): HostPort[] {
  return [
    ...pod.spec.containers,
    ...(pod.spec.initContainers ?? []).filter(
      ({ restartPolicy }) => restartPolicy === "Always",
    ),
  ].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, protocol, hostIP }) =>
      hostPort
        ? [
            {
              port: hostPort,
              protocol: protocol ?? "TCP",
              ip: hostIP || "0.0.0.0",
            },
          ]
        : [],
    ),
  );
}

function portsCollide(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const any = "0.0.0.0";
  return others
    .flatMap(hostPorts)
    .some((taken) =>
      wanted.some(
        ({ port, protocol, ip }) =>
          port === taken.port &&
          protocol === taken.protocol &&
          (ip === taken.ip || ip === any || taken.ip === any),
      ),
    );
}
