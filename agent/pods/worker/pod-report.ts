// What the worker of one pod reports of it: the status computed from what the runtime runs, handed to the status sink.
import { formatTime, type Clock } from "../../../api/clock.ts";
import { qosClass } from "../../../api/objects/pod-qos.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type {
  ContainerReadiness,
  WaitingReason,
} from "../../status/container-statuses.ts";
import type { PodMetrics } from "../../metrics/pod-metrics.ts";
import {
  podStatus,
  type PodFailure,
  type ResizeReport,
} from "../../status/pod-status.ts";
import {
  mountsReadOnlyBelow,
  type NodeFeatures,
} from "../start/node-features.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";

export interface StatusSink {
  /** Last status set, else what the API server has. */
  get(pod: Pod): PodStatus | undefined;
  set(pod: Pod, status: PodStatus): void;
  /** All of the pod is torn down: report the last status, then remove the object if it is being deleted. */
  finish(pod: Pod): void;
  forget(uid: string): void;
}

export interface ReportContext {
  readonly status: StatusSink;
  readonly runtimeName: string;
  readonly readiness: ContainerReadiness;
  /** Absent: pods are not resized. */
  readonly resize?: ResizeReport | undefined;
  /** Whether claims of the pod are prepared. */
  readonly holdsDevices: (uid: string) => boolean;
  readonly nodeIPs: () => readonly string[];
  /** Of the runtime. */
  readonly features: () => NodeFeatures;
  readonly clock: Clock;
  readonly metrics?: Pick<PodMetrics, "reported"> | undefined;
}

/** How far the pod is: running; ending, when nothing is started any more; torn down, when this is the last status. */
type ReportStage = "running" | "ending" | "torn-down";

export class PodReport {
  readonly #context: ReportContext;
  readonly firstSeenMs: number;

  constructor(context: ReportContext) {
    this.#context = context;
    this.firstSeenMs = context.clock.now();
  }

  last(pod: Pod): PodStatus | undefined {
    return this.#context.status.get(pod);
  }

  report(
    pod: Pod,
    runtimePod: RuntimePod,
    waiting: ReadonlyMap<string, WaitingReason>,
    stage: ReportStage,
    failure?: PodFailure,
  ): void {
    const { status, runtimeName, readiness, nodeIPs, clock, resize } =
      this.#context;
    const { holdsDevices, features } = this.#context;
    const handler = runtimePod.sandboxes[0]?.runtimeHandler;
    const previous = status.get(pod);
    const nowMs = clock.now();
    const made = podStatus({
      pod,
      runtimePod,
      runtimeName,
      previous,
      waiting,
      readiness,
      nodeIPs: nodeIPs(),
      nowMs,
      startedAtMs: this.firstSeenMs,
      ended: stage !== "running",
      tornDown: stage === "torn-down",
      holdsDevices: holdsDevices(pod.metadata.uid ?? ""),
      failure,
      mountsReadOnlyBelow:
        handler !== undefined && mountsReadOnlyBelow(features(), handler),
      resize,
    });
    const seen = { seenMs: this.firstSeenMs, nowMs };
    this.#context.metrics?.reported(pod, previous, made, seen);
    status.set(pod, made);
  }

  /** The node refused the pod: nothing of it was made. */
  refused(pod: Pod, { reason, message }: PodFailure): void {
    this.#context.status.set(pod, {
      ...pod.status,
      phase: "Failed",
      reason,
      message,
      qosClass: qosClass(pod),
      startTime: pod.status?.startTime ?? formatTime(this.firstSeenMs),
    });
  }

  finish(pod: Pod): void {
    this.#context.status.finish(pod);
  }
}
