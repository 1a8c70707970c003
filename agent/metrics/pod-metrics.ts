// What the agent counts of pods' lives: from being seen to running, passes of their workers, containers, pulls, statuses,
// relists. The reference's names and buckets. Of a pod that starts only its pulls are remembered, until it runs or is gone.
import {
  Counters,
  exponentialBounds,
  gauge,
  Histograms,
  usualSeconds,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Pod, PodStatus } from "../../api/types/core-v1.ts";
import { isStaticPod } from "../pods/shape/labels.ts";

const startBounds = [
  ...[0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300],
  ...[360, 480, 600, 900, 1200, 1800, 2700, 3600],
];
const pullBounds = [
  ...[1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900],
  ...[1200, 1800, 2700, 3600],
];
const mib = 2 ** 20;
const gib = 2 ** 30;
/** Images larger than this many bytes, largest first. */
const imageSizes: readonly (readonly [number, string])[] = [
  [100 * gib, "GT100GB"],
  [60 * gib, "60GB-100GB"],
  [40 * gib, "40GB-60GB"],
  [30 * gib, "30GB-40GB"],
  [20 * gib, "20GB-30GB"],
  [10 * gib, "10GB-20GB"],
  [5 * gib, "5GB-10GB"],
  [gib, "1GB-5GB"],
  [500 * mib, "500MB-1GB"],
  [100 * mib, "100MB-500MB"],
  [10 * mib, "10MB-100MB"],
  [0, "0-10MB"],
];
/** Pods whose pulls are remembered. */
const maxPulling = 4096;

type ContainerType = "container" | "init_container" | "ephemeral_container";
export type PassType = "create" | "update" | "sync" | "kill";

const timing = (
  name: string,
  help: string,
  bounds: readonly number[],
  ...labels: readonly string[]
): Histograms =>
  new Histograms({ name: `kubelet_${name}`, help, labels }, bounds);
const counting = (
  name: string,
  help: string,
  ...labels: readonly string[]
): Counters => new Counters({ name: `kubelet_${name}`, help, labels });

export class PodMetrics {
  readonly #pulls = new Map<string, { fromMs: number; toMs: number }>();
  #relistedMs: number | undefined;
  #seenMs: number | undefined;
  #firstNetworkSeconds: number | undefined;
  readonly #timings = {
    passes: timing(
      "pod_worker_duration_seconds",
      "How long passes of pods' workers took, by their kind.",
      usualSeconds,
      "operation_type",
    ),
    workerStarts: timing(
      "pod_worker_start_duration_seconds",
      "How long after pods were seen their workers' first pass began.",
      usualSeconds,
    ),
    starts: timing(
      "pod_start_duration_seconds",
      "How long after pods were seen they ran.",
      startBounds,
    ),
    sliStarts: timing(
      "pod_start_sli_duration_seconds",
      "How long after pods were made all their containers had started, pulls of images left out.",
      startBounds,
    ),
    totalStarts: timing(
      "pod_start_total_duration_seconds",
      "How long after pods were made all their containers had started.",
      startBounds,
    ),
    statuses: timing(
      "pod_status_sync_duration_seconds",
      "How long after a pod's status changed the API server had it.",
      [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
    ),
    containers: timing(
      "containers_per_pod_count",
      "Containers of pods when they come.",
      exponentialBounds(1, 2, 5),
    ),
    relists: timing(
      "pleg_relist_duration_seconds",
      "How long it took to list what the runtime runs.",
      usualSeconds,
    ),
    relistIntervals: timing(
      "pleg_relist_interval_seconds",
      "How long there was between lists of what the runtime runs.",
      usualSeconds,
    ),
    pulls: timing(
      "image_pull_duration_seconds",
      "How long pulls of images took, by the image's size.",
      pullBounds,
      "image_size_in_bytes",
    ),
  };
  readonly #counts = {
    started: counting(
      "started_containers_total",
      "Containers that were started, or tried to be.",
      "container_type",
    ),
    startErrors: counting(
      "started_containers_errors_total",
      "Containers that could not be started, by the reason.",
      "container_type",
      "code",
    ),
    rejections: counting(
      "admission_rejections_total",
      "Pods that the node refused, by the reason.",
      "reason",
    ),
    orphans: counting(
      "orphaned_runtime_pods_total",
      "Pods that ran and were of no source.",
    ),
    restarts: counting(
      "restarted_pods_total",
      "Pods that came again with the same uid while they still ended.",
      "static",
    ),
  };

  /** A pass of a worker is over. */
  passed(type: PassType, seconds: number): void {
    this.#timings.passes.observe(seconds, type);
  }

  workerBegan(seconds: number): void {
    this.#timings.workerStarts.observe(seconds);
  }

  came({ spec }: Pod): void {
    this.#timings.containers.observe(spec.containers.length);
  }

  /** A status was made. @param seenMs when the pod was first seen here; both are epoch ms */
  reported(
    pod: Pod,
    before: PodStatus | undefined,
    now: PodStatus,
    { seenMs, nowMs }: { seenMs: number; nowMs: number },
  ): void {
    const runs = now.phase === "Running";
    if (runs && (before?.phase ?? "Pending") === "Pending")
      this.#timings.starts.observe((nowMs - seenMs) / 1000);
    if (isStaticPod(pod) || hasStarted(pod, before) || !hasStarted(pod, now))
      return;
    const madeMs = Date.parse(pod.metadata.creationTimestamp ?? "");
    if (Number.isNaN(madeMs)) return;
    const uid = pod.metadata.uid ?? "";
    const pulls = this.#pulls.get(uid);
    const pullMs = pulls ? pulls.toMs - pulls.fromMs : 0;
    this.#timings.totalStarts.observe((nowMs - madeMs) / 1000);
    const sliSeconds = Math.max(0, nowMs - madeMs - pullMs) / 1000;
    this.#timings.sliStarts.observe(sliSeconds);
    if (!pod.spec.hostNetwork) this.#firstNetworkSeconds ??= sliSeconds;
    this.#pulls.delete(uid);
  }

  /** An image was pulled for the pod. @param bytes 0: not known; times are epoch ms */
  pulled(
    uid: string,
    bytes: number,
    { fromMs, toMs }: { fromMs: number; toMs: number },
  ): void {
    const size = imageSizes.find(([least]) => bytes > least)?.[1] ?? "";
    this.#timings.pulls.observe((toMs - fromMs) / 1000, size);
    const known = this.#pulls.get(uid);
    if (known) known.toMs = toMs;
    else if (this.#pulls.size < maxPulling)
      this.#pulls.set(uid, { fromMs, toMs });
  }

  forget(uid: string): void {
    this.#pulls.delete(uid);
  }

  statusWritten(seconds: number): void {
    this.#timings.statuses.observe(seconds);
  }

  starts(type: ContainerType): void {
    this.#counts.started.count(type);
  }

  startFailed(type: ContainerType, code: string): void {
    this.#counts.startErrors.count(type, code);
  }

  rejected(reason: string): void {
    this.#counts.rejections.count(reason);
  }

  orphaned(): void {
    this.#counts.orphans.count();
  }

  restarted(pod: Pod): void {
    this.#counts.restarts.count(isStaticPod(pod) ? "true" : "");
  }

  /** What the runtime runs was listed; monotonic ms. */
  relisted(startMs: number, endMs: number): void {
    this.#timings.relists.observe((endMs - startMs) / 1000);
    if (this.#relistedMs !== undefined)
      this.#timings.relistIntervals.observe(
        (startMs - this.#relistedMs) / 1000,
      );
    this.#relistedMs = startMs;
  }

  /** The runtime answered or sent an event; epoch ms. */
  runtimeSeen(nowMs: number): void {
    this.#seenMs = nowMs;
  }

  families(): Family[] {
    return [
      ...Object.values(this.#timings).map((each) => each.family()),
      ...Object.values(this.#counts).map((each) => each.family()),
      gauge(
        "kubelet_first_network_pod_start_sli_duration_seconds",
        "How long after the first pod of the pod network was made its containers had started, pulls of images left out.",
        this.#firstNetworkSeconds ?? 0,
      ),
      gauge(
        "kubelet_pleg_last_seen_seconds",
        "When the runtime was last heard of, in seconds since 1970.",
        this.#seenMs === undefined ? undefined : this.#seenMs / 1000,
      ),
    ];
  }
}

/** All containers have run, whether they still do or not. */
function hasStarted({ spec }: Pod, status: PodStatus | undefined): boolean {
  const { containerStatuses = [] } = status ?? {};
  return (
    containerStatuses.length >= spec.containers.length &&
    containerStatuses.every(({ state }) => state?.running ?? state?.terminated)
  );
}
