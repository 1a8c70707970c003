// What is counted of pods' lives: from being seen to running, with pulls of images left out where the reference does.
import { metricsText } from "../../../../api/metrics/family.ts";
import type { Pod, PodStatus } from "../../../../api/types/core-v1.ts";
import { PodMetrics } from "../../../../agent/metrics/pod-metrics.ts";
import { workerFamilies } from "../../../../agent/metrics/worker-families.ts";

const madeMs = Date.parse("2026-01-01T00:00:00Z");
const pod = (annotations: Record<string, string> = {}): Pod => ({
  metadata: {
    name: "p",
    namespace: "a",
    uid: "u",
    creationTimestamp: "2026-01-01T00:00:00Z",
    annotations,
  },
  spec: { containers: [{ name: "c" }] },
});
const running: PodStatus = {
  phase: "Running",
  containerStatuses: [
    {
      name: "c",
      image: "",
      imageID: "",
      ready: true,
      restartCount: 0,
      state: { running: {} },
    },
  ],
};
const staticPod = pod({ "kubernetes.io/config.source": "file" });
const shows = (metrics: PodMetrics, ...lines: string[]): void => {
  const text = metricsText(metrics.families());
  for (const line of lines) expect(text).toContain(`${line}\n`);
};

test("a pod's start is counted once, pulls of its images left out of one figure", () => {
  const metrics = new PodMetrics();
  metrics.pulled("u", 20 * 2 ** 20, { fromMs: madeMs, toMs: madeMs + 4000 });
  metrics.pulled("u", 1, { fromMs: madeMs + 4000, toMs: madeMs + 5000 });
  const seen = { seenMs: madeMs + 1000, nowMs: madeMs + 7000 };
  metrics.reported(pod(), { phase: "Pending" }, { phase: "Pending" }, seen);
  metrics.reported(pod(), { phase: "Pending" }, running, seen);
  metrics.reported(pod(), running, running, seen);
  shows(
    metrics,
    "kubelet_pod_start_duration_seconds_sum 6",
    "kubelet_pod_start_duration_seconds_count 1",
    "kubelet_pod_start_total_duration_seconds_sum 7",
    "kubelet_pod_start_sli_duration_seconds_sum 2",
    "kubelet_pod_start_sli_duration_seconds_count 1",
    'kubelet_image_pull_duration_seconds_count{image_size_in_bytes="10MB-100MB"} 1',
    'kubelet_image_pull_duration_seconds_count{image_size_in_bytes="0-10MB"} 1',
  );
});

test("the first start of a pod with an address of its own is shown", () => {
  const metrics = new PodMetrics();
  const first = "kubelet_first_network_pod_start_sli_duration_seconds";
  const starts = (of: Pod, seconds: number): void =>
    metrics.reported(of, { phase: "Pending" }, running, {
      seenMs: madeMs,
      nowMs: madeMs + seconds * 1000,
    });
  starts({ ...pod(), spec: { ...pod().spec, hostNetwork: true } }, 1);
  shows(metrics, `${first} 0`);
  starts(pod(), 2);
  starts(pod(), 3);
  shows(metrics, `${first} 2`);
});

test("what ran before the agent began did not start now; static pods are made here", () => {
  const metrics = new PodMetrics();
  const seen = { seenMs: madeMs, nowMs: madeMs + 1000 };
  metrics.reported(pod(), running, running, seen);
  metrics.reported(staticPod, undefined, running, seen);
  shows(
    metrics,
    "kubelet_pod_start_duration_seconds_count 1",
    "kubelet_pod_start_total_duration_seconds_count 0",
  );
});

test("passes, containers, relists and refusals", () => {
  const metrics = new PodMetrics();
  metrics.workerBegan(0.1);
  metrics.passed("create", 0.1);
  metrics.came(pod());
  metrics.starts("init_container");
  metrics.startFailed("init_container", "ErrImagePull");
  metrics.rejected("OutOfcpu");
  metrics.orphaned();
  metrics.restarted(staticPod);
  metrics.statusWritten(0.02);
  metrics.relisted(1000, 1500);
  metrics.relisted(3000, 3000);
  metrics.runtimeSeen(5000);
  shows(
    metrics,
    "kubelet_pod_worker_start_duration_seconds_count 1",
    'kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1',
    'kubelet_containers_per_pod_count_bucket{le="1"} 1',
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_errors_total{code="ErrImagePull",container_type="init_container"} 1',
    'kubelet_admission_rejections_total{reason="OutOfcpu"} 1',
    "kubelet_orphaned_runtime_pods_total 1",
    'kubelet_restarted_pods_total{static="true"} 1',
    'kubelet_pod_status_sync_duration_seconds_bucket{le="0.05"} 1',
    "kubelet_pleg_relist_duration_seconds_sum 0.5",
    "kubelet_pleg_relist_interval_seconds_sum 2",
    "kubelet_pleg_last_seen_seconds 5",
  );
});

test("pods by how far they are and whether a source has them", () => {
  const workers = [
    { pod: pod(), phase: "syncing", removed: false, runtimeOnly: false },
    { pod: staticPod, phase: "terminating", removed: true, runtimeOnly: false },
    { pod: staticPod, phase: "terminating", removed: true, runtimeOnly: true },
  ] as const;
  const text = metricsText(workerFamilies(workers, workers, 1));
  for (const line of [
    'kubelet_working_pods{config="desired",lifecycle="sync",static=""} 1',
    'kubelet_working_pods{config="orphan",lifecycle="terminating",static="true"} 1',
    'kubelet_working_pods{config="orphan",lifecycle="terminated",static=""} 0',
    'kubelet_working_pods{config="runtime_only",lifecycle="terminating",static="unknown"} 1',
    'kubelet_working_pods{config="runtime_only",lifecycle="sync",static="unknown"} 0',
    'kubelet_desired_pods{static=""} 1',
    'kubelet_desired_pods{static="true"} 0',
    'kubelet_active_pods{static=""} 1',
    'kubelet_active_pods{static="true"} 0',
    "kubelet_managed_ephemeral_containers 0",
    "kubelet_mirror_pods 1",
  ])
    expect(text).toContain(`${line}\n`);
});
