// What controllers count: Jobs by mode and outcome, nodes by zone, slices by service, autoscalers by action, volumes.
import { FakeClock } from "../../support/fake-clock.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { Job } from "../../../api/types/batch-v1.ts";
import type { Node, Pod, Service } from "../../../api/types/core-v1.ts";
import { AutoscalerMetrics } from "../../../controllers/autoscaling/autoscaler-metrics.ts";
import { MirroringMetrics } from "../../../controllers/endpoints/mirroring-metrics.ts";
import { SliceMetrics } from "../../../controllers/endpoints/slice-metrics.ts";
import { JobMetrics } from "../../../controllers/job/job-metrics.ts";
import { NodeMetrics } from "../../../controllers/node/node-metrics.ts";
import { NodeIpamMetrics } from "../../../controllers/node-ipam/node-ipam-metrics.ts";
import { NodeRangePool } from "../../../controllers/node-ipam/node-ranges.ts";
import { volumeCounts } from "../../../controllers/volumes/volume-counts.ts";

const shows = (text: string, ...lines: string[]): void => {
  for (const line of lines) expect(text).toContain(`${line}\n`);
};
const job = (spec: Partial<Job["spec"]>, status: Job["status"] = {}): Job => ({
  metadata: { name: "j", namespace: "a" },
  spec: { template: {}, ...spec },
  status,
});

test("a Job's syncs, ends, pods and indexes", async () => {
  const metrics = new JobMetrics(new FakeClock());
  const plain = job({ completions: 2 });
  await metrics.timed(plain, (does) => {
    does("pods_created");
    return Promise.resolve();
  });
  await expect(
    metrics.timed(plain, () => Promise.reject(new Error("no"))),
  ).rejects.toThrow("no");
  metrics.made(plain, true);
  metrics.made(job({}, { failed: 1 }), false);
  metrics.counted(plain, { succeeded: 1 }, { succeeded: 2, failed: 1 });
  metrics.finished(plain, {
    conditions: [
      { type: "SuccessCriteriaMet", status: "True", reason: "x" },
      { type: "Complete", status: "True", reason: "CompletionsReached" },
    ],
  });
  const indexed = job({
    completionMode: "Indexed",
    completions: 4,
    backoffLimitPerIndex: 1,
  });
  metrics.counted(
    indexed,
    { completedIndexes: "0" },
    { completedIndexes: "0-2", failedIndexes: "3" },
  );
  metrics.handled("Ignore");
  const pod: Pod = {
    metadata: { name: "p", finalizers: ["batch.kubernetes.io/job-tracking"] },
    spec: { containers: [] },
    status: { phase: "Succeeded" },
  };
  metrics.podChanged(undefined, pod);
  metrics.podChanged(pod, pod);
  metrics.podChanged(pod, undefined);
  metrics.managedElsewhere("example.com/other");
  shows(
    metricsText(metrics.families()),
    'job_controller_job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    'job_controller_job_syncs_total{action="reconciling",completion_mode="NonIndexed",result="error"} 1',
    'job_controller_job_sync_duration_seconds_count{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    'job_controller_job_pods_creation_total{reason="new",status="succeeded"} 1',
    'job_controller_job_pods_creation_total{reason="recreate_terminating_or_failed",status="failed"} 1',
    'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 1',
    'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 1',
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"} 1',
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    'job_controller_job_finished_indexes_total{backoffLimit="perIndex",status="succeeded"} 2',
    'job_controller_job_finished_indexes_total{backoffLimit="perIndex",status="failed"} 1',
    'job_controller_pod_failures_handled_by_failure_policy_total{action="Ignore"} 1',
    'job_controller_terminated_pods_tracking_finalizer_total{event="add"} 1',
    'job_controller_terminated_pods_tracking_finalizer_total{event="delete"} 1',
    'job_controller_jobs_by_external_controller_total{controller_name="example.com/other"} 1',
  );
});

test("nodes by zone; evictions of a zone are there from its first node on", () => {
  const node = (name: string, zone: string, ready: string): Node => ({
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone } },
    spec: {},
    status: { conditions: [{ type: "Ready", status: ready }] },
  });
  const all = [
    node("a", "z", "True"),
    node("b", "z", "Unknown"),
    node("c", "", "True"),
  ];
  const metrics = new NodeMetrics(() => all);
  metrics.evicted(all[1]!);
  shows(
    metricsText(metrics.families()),
    'node_collector_zone_size{zone=":\0:z"} 2',
    'node_collector_zone_health{zone=":\0:z"} 50',
    'node_collector_unhealthy_nodes_in_zone{zone=":\0:z"} 1',
    'node_collector_evictions_total{zone=":\0:z"} 1',
    'node_collector_evictions_total{zone=""} 0',
  );
});

test("slices: what was planned and written, until the service is gone", async () => {
  const metrics = new SliceMetrics();
  const service: Service = {
    metadata: { name: "s", namespace: "a" },
    spec: { trafficDistribution: "example.com/near" },
  };
  const endpoints = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => ({
    addresses: [address],
  }));
  const plan = {
    ...{ create: [], update: [], delete: [] },
    ...{ added: 3, removed: 0, updated: 0 },
  };
  metrics.planned(
    "a/s",
    service,
    [{ addressType: "IPv4", ports: [], endpoints }],
    plan,
    { existing: 1, maxPerSlice: 2 },
  );
  metrics.written("update");
  metrics.changed(service, 1, false);
  await metrics.sync(() => Promise.resolve());
  await expect(
    metrics.sync(() => Promise.reject(new Error("no"))),
  ).rejects.toThrow("no");
  shows(
    metricsText(metrics.families()),
    "endpoint_slice_controller_endpoints_desired 3",
    "endpoint_slice_controller_num_endpoint_slices 1",
    "endpoint_slice_controller_desired_endpoint_slices 2",
    "endpoint_slice_controller_endpoints_added_per_sync_sum 3",
    'endpoint_slice_controller_changes{operation="update"} 1',
    'endpoint_slice_controller_syncs{result="success"} 1',
    'endpoint_slice_controller_syncs{result="error"} 1',
    'endpoint_slice_controller_services_count_by_traffic_distribution{traffic_distribution="ImplementationSpecific"} 1',
  );
  metrics.forget("a/s");
  shows(
    metricsText(metrics.families()),
    "endpoint_slice_controller_endpoints_desired 0",
  );
});

test("mirrored slices: what was planned, left out and written", async () => {
  const clock = new FakeClock();
  const metrics = new MirroringMetrics(clock);
  const plan = {
    ...{ create: [], update: [], delete: [] },
    ...{ added: 1, removed: 0, updated: 2 },
  };
  await metrics.timed(() => {
    clock.advance(3000);
    metrics.planned(
      "a/s",
      [{ addressType: "IPv4", ports: [], endpoints: [{ addresses: ["1"] }] }],
      plan,
      { existing: 1, maxPerSlice: 1000, skipped: 5 },
    );
    metrics.written("update");
    return Promise.resolve();
  });
  const subsystem = "endpoint_slice_mirroring_controller";
  shows(
    metricsText(metrics.families()),
    `${subsystem}_endpoints_added_per_sync_sum 1`,
    `${subsystem}_endpoints_updated_per_sync_sum 2`,
    `${subsystem}_endpoints_removed_per_sync_count 1`,
    `${subsystem}_addresses_skipped_per_sync_sum 5`,
    `${subsystem}_endpoints_sync_duration_sum 3`,
    `${subsystem}_endpoints_desired 1`,
    `${subsystem}_num_endpoint_slices 1`,
    `${subsystem}_desired_endpoint_slices 1`,
    `${subsystem}_changes{operation="update"} 1`,
  );
  metrics.forget("a/s");
  shows(metricsText(metrics.families()), `${subsystem}_num_endpoint_slices 0`);
});

test("ranges of nodes by cluster range", () => {
  const metrics = new NodeIpamMetrics(() => [pool]);
  const pool = new NodeRangePool("10.42.0.0/22", 24, (parts) =>
    metrics.tried("10.42.0.0/22", parts),
  );
  pool.occupy("10.42.0.0/23");
  // What is taken already counts once.
  pool.occupy("10.42.0.0/24");
  expect(pool.take()).toBe("10.42.2.0/24");
  pool.release("10.42.0.0/24");
  shows(
    metricsText(metrics.families()),
    'node_ipam_controller_cidrset_cidrs_allocations_total{clusterCIDR="10.42.0.0/22"} 3',
    'node_ipam_controller_cidrset_cidrs_releases_total{clusterCIDR="10.42.0.0/22"} 1',
    'node_ipam_controller_cirdset_max_cidrs{clusterCIDR="10.42.0.0/22"} 4',
    'node_ipam_controller_cidrset_usage_cidrs{clusterCIDR="10.42.0.0/22"} 0.5',
    'node_ipam_controller_cidrset_allocation_tries_per_request_sum{clusterCIDR="10.42.0.0/22"} 3',
  );
});

test("autoscalers: syncs, and what single metrics ask for", () => {
  const metrics = new AutoscalerMetrics(new FakeClock());
  metrics.began()("scale_up");
  metrics.began("Resource")("none", true);
  shows(
    metricsText(metrics.families()),
    'horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="none"} 1',
    'horizontal_pod_autoscaler_controller_metric_computation_total{action="none",error="internal",metric_type="Resource"} 1',
  );
});

test("volumes and claims, bound and not", () => {
  shows(
    metricsText(
      volumeCounts(
        [
          {
            metadata: { name: "v" },
            spec: { storageClassName: "fast" },
            status: { phase: "Bound" },
          },
        ],
        [
          {
            metadata: { name: "c", namespace: "a" },
            spec: { storageClassName: "fast" },
            status: { phase: "Pending" },
          },
        ],
      ),
    ),
    'pv_collector_bound_pv_count{storage_class="fast"} 1',
    'pv_collector_unbound_pvc_count{namespace="a",storage_class="fast",volume_attributes_class=""} 1',
  );
});
