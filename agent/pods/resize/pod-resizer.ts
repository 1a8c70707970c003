// Resizes pods in place (gate InPlacePodVerticalScaling): decides whether the node has room for what a pod asks for now,
// records what it was given, has running containers brought to that (resize-containers.ts), and says what is reported. What
// fails is tried again by the pod's next pass.
import { sameValue } from "../../../api/objects/json-equality.ts";
import { qosClass } from "../../../api/objects/pod-qos.ts";
import {
  podRequests,
  toResources,
} from "../../../api/objects/pod-resources.ts";
import type {
  Container,
  ContainerStatus,
  Node,
  Pod,
} from "../../../api/types/core-v1.ts";
import type {
  ContainerStatus as RuntimeContainer,
  LinuxResources,
  Runtime,
} from "../../../cri/runtime.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";
import { isStaticPod } from "../shape/labels.ts";
import { backOffKey, type BackOff } from "../../pacing/back-off.ts";
import type { AllocatedResources } from "./allocated-resources.ts";
import { readContainerLimits } from "./container-cgroup.ts";
import {
  actualResources,
  amountIn,
  containerResize,
  hasAllocated,
  reportedResources,
  type ActualResources,
} from "./container-resources.ts";
import {
  resizeContainers,
  type Change,
  type ResizeActuation,
} from "./resize-containers.ts";

type ResizeStatus = "InProgress" | "Deferred" | "Infeasible";

export interface ResizerContext extends ResizeActuation {
  readonly runtime: Pick<
    Runtime,
    "containerStatus" | "updateContainerResources"
  >;
  readonly allocated: AllocatedResources;
  readonly admission: {
    /** Why the pod as it is now has no room beside the others. */
    fits(
      pod: Pod,
      others: readonly Pod[],
    ): { reason: string; message: string } | undefined;
  };
  readonly node: () => Node | undefined;
  readonly restartBackOff: BackOff;
  readonly events: Pick<PodEvents, "pod">;
  /** Report what was given beside what is used. */
  readonly reportsAllocated: boolean;
  /** Why pods of the class Guaranteed can't be resized on this node; undefined: they can. */
  readonly guaranteedRefusal: string | undefined;
}

/** One pass's view of a pod. */
export interface ResizeView {
  /** With the resources it was given. */
  readonly pod: Pod;
  /** By container id. */
  readonly actual: ReadonlyMap<string, ActualResources>;
  /** It was given other resources just now: there may be room for other pods. */
  readonly changed: boolean;
}

export class PodResizer {
  readonly #context: ResizerContext;
  /** What running containers have, by pod uid and id; forgotten when it is changed. */
  readonly #actual = new Map<string, Map<string, ActualResources>>();
  readonly #statuses = new Map<
    string,
    { status: ResizeStatus; message: string }
  >();

  constructor(context: ResizerContext) {
    this.#context = context;
  }

  /** The pod with what it was given. */
  applied(pod: Pod): Pod {
    return isStaticPod(pod) ? pod : this.#context.allocated.apply(pod);
  }

  waits(uid: string): boolean {
    return this.#statuses.get(uid)?.status === "Deferred";
  }

  /** Decides about a resize that is asked for. `others`: what else the node runs, with what it was given. */
  async look(
    pod: Pod,
    runtimePod: RuntimePod,
    others: () => readonly Pod[],
  ): Promise<ResizeView> {
    if (isStaticPod(pod)) return { pod, actual: new Map(), changed: false };
    const uid = pod.metadata.uid ?? "";
    const { allocated } = this.#context;
    if (!allocated.of(uid)) await allocated.allocate(pod);
    const actual = await this.#look(pod, runtimePod);
    const before = allocated.apply(pod);
    const given =
      before === pod ? pod : await this.#decide(pod, before, others);
    if (given === pod) {
      if (hasAll(pod, runtimePod, actual)) this.#statuses.delete(uid);
      else this.#statuses.set(uid, { status: "InProgress", message: "" });
    }
    return { pod: given, actual, changed: given !== before };
  }

  async #decide(
    pod: Pod,
    given: Pod,
    others: () => readonly Pod[],
  ): Promise<Pod> {
    const { allocated, events, restartBackOff } = this.#context;
    const uid = pod.metadata.uid ?? "";
    const refusal = this.#refusal(pod, others);
    if (!refusal) {
      await allocated.allocate(pod);
      pod.spec.containers.forEach((container, index) => {
        const before = given.spec.containers[index]?.resources ?? {};
        if (!sameValue(container.resources ?? {}, before))
          restartBackOff.reset(backOffKey(pod, container));
      });
      return pod;
    }
    const known = this.#statuses.get(uid);
    this.#statuses.set(uid, refusal);
    if (known?.status !== refusal.status || known.message !== refusal.message)
      events.pod(pod, "Warning", `Resize${refusal.status}`, refusal.message);
    return given;
  }

  #refusal(
    pod: Pod,
    others: () => readonly Pod[],
  ): { status: "Deferred" | "Infeasible"; message: string } | undefined {
    const { admission, guaranteedRefusal } = this.#context;
    if (guaranteedRefusal !== undefined && qosClass(pod) === "Guaranteed")
      return { status: "Infeasible", message: guaranteedRefusal };
    const capacity = toResources(this.#context.node()?.status?.allocatable);
    const wanted = podRequests(pod.spec);
    for (const name of ["memory", "cpu"]) {
      const total = capacity.get(name);
      const amount = wanted.get(name) ?? 0;
      if (total !== undefined && amount > total)
        return {
          status: "Infeasible",
          message: `Node didn't have enough capacity: ${name}, requested: ${amount}, capacity: ${total}`,
        };
    }
    const deferred = admission.fits(pod, others());
    return deferred && { status: "Deferred", message: deferred.message };
  }

  async #look(
    pod: Pod,
    runtimePod: RuntimePod,
  ): Promise<ReadonlyMap<string, ActualResources>> {
    const uid = pod.metadata.uid ?? "";
    const before = this.#actual.get(uid);
    const actual = new Map<string, ActualResources>();
    await Promise.all(
      runningContainers(pod, runtimePod).map(async ({ status: { id } }) => {
        const known = before?.get(id);
        const read = known ? undefined : await this.#read(pod, id);
        const has = known ?? (read && actualResources(read));
        if (has) actual.set(id, has);
      }),
    );
    this.#actual.set(uid, actual);
    return new Map(actual);
  }

  /** From the runtime, else from the kernel. */
  async #read(pod: Pod, id: string): Promise<LinuxResources | undefined> {
    const { runtime, cgroups, files } = this.#context;
    const { resources } = await runtime.containerStatus(id);
    return (
      resources ?? (await readContainerLimits(files, cgroups.podPath(pod), id))
    );
  }

  /** Must the container be ended, to be started with what it was given? */
  restarts(
    { actual }: ResizeView,
    container: Container,
    status: RuntimeContainer,
  ): boolean {
    const has = actual.get(status.id);
    return (
      has !== undefined && containerResize(container, has)?.restart === true
    );
  }

  /** Brings running containers to what they were given; true when something was changed. Rejects when that failed. */
  async actuate(view: ResizeView, runtimePod: RuntimePod): Promise<boolean> {
    const { pod, actual } = view;
    const changes: Change[] = [];
    for (const { container, status } of runningContainers(pod, runtimePod)) {
      const has = actual.get(status.id);
      const change = has && containerResize(container, has);
      if (change && !change.restart)
        changes.push({ ...change, id: status.id, container });
    }
    if (changes.length === 0) return false;
    await resizeContainers(this.#context, {
      pod,
      changes,
      actual,
      read: (id) => this.#read(pod, id),
      onUpdate: (id) => this.#actual.get(pod.metadata.uid ?? "")?.delete(id),
    });
    return true;
  }

  /** For the status: of the pod, undefined where no resize is under way. */
  statusOf(pod: Pod): string | undefined {
    return this.#statuses.get(pod.metadata.uid ?? "")?.status;
  }

  /** For the status of an app container; nothing of others, which are not resized. */
  reportOf(
    pod: Pod,
    name: string,
    current: RuntimeContainer,
    before: ContainerStatus | undefined,
  ): Pick<ContainerStatus, "resources" | "allocatedResources"> {
    const given = this.#context.allocated.of(pod.metadata.uid ?? "")?.[name];
    if (!given) return {};
    const sameRun = before?.containerID?.endsWith(`//${current.id}`) === true;
    const resources =
      current.state === "running"
        ? reportedResources(
            given,
            this.#actual.get(pod.metadata.uid ?? "")?.get(current.id),
            sameRun ? before.resources : undefined,
          )
        : given;
    return {
      resources,
      ...(this.#context.reportsAllocated && given.requests
        ? { allocatedResources: given.requests }
        : {}),
    };
  }

  forget(uid: string): void {
    this.#statuses.delete(uid);
    this.#actual.delete(uid);
    this.#context.allocated.forget(uid);
  }
}

function runningContainers(
  pod: Pod,
  runtimePod: RuntimePod,
): { container: Container; status: RuntimeContainer }[] {
  return pod.spec.containers.flatMap((container) => {
    const status = runtimePod.containers.find(
      ({ name }) => name === container.name,
    );
    return status?.state === "running" ? [{ container, status }] : [];
  });
}

function hasAll(
  pod: Pod,
  runtimePod: RuntimePod,
  actual: ReadonlyMap<string, ActualResources>,
): boolean {
  return runningContainers(pod, runtimePod).every(({ container, status }) => {
    const has = actual.get(status.id);
    if (has) return hasAllocated(container, has);
    const { limits, requests } = container.resources ?? {};
    // Without a report a resize is not taken for done.
    return (
      amountIn(requests, "cpu") +
        amountIn(limits, "cpu") +
        amountIn(limits, "memory") ===
      0
    );
  });
}
