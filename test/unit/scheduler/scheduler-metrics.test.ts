// What a scheduler counts while it places, refuses and makes room, and what pods ask for.
import { metricsText } from "../../../api/metrics/family.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { podResourceFamilies } from "../../../scheduler/metrics/pod-resources.ts";
import { SchedulerMetrics } from "../../../scheduler/metrics/scheduler-metrics.ts";

test("attempts, points, queues, and what waits", () => {
  const metrics = new SchedulerMetrics();
  const profile = "default-scheduler";
  metrics.attempt("unschedulable", 1, profile, 1);
  metrics.attempt("scheduled", 1, profile, 3);
  metrics.bound(3, 0.02);
  metrics.bound(40, 0.02);
  metrics.point("Filter", "Success", profile, 0.001);
  metrics.plugin("NodePorts", "Filter", "Unschedulable", 0.00001);
  metrics.preempts(profile, true, performance.now());
  metrics.victims(2);
  metrics.queued("active", "UnschedulablePodAdd");
  metrics.follow({
    pending: () => ({ active: 2, gated: 0 }),
    sizes: () => ({ nodes: 3 }),
    unschedulable: () => [{ profile, plugin: "NodePorts", pods: 2 }],
  });
  const text = metricsText(metrics.families());
  for (const line of [
    'scheduler_pending_pods{queue="active"} 2',
    'scheduler_pending_pods{queue="gated"} 0',
    'scheduler_scheduler_cache_size{type="nodes"} 3',
    'scheduler_unschedulable_pods{plugin="NodePorts",profile="default-scheduler"} 2',
    'scheduler_pod_scheduling_attempts_bucket{le="2"} 0',
    'scheduler_pod_scheduling_attempts_bucket{le="4"} 1',
    "scheduler_pod_scheduling_attempts_count 1",
    'scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="3",le="0.02"} 1',
    'scheduler_pod_scheduling_sli_duration_seconds_count{attempts="15+"} 1',
    'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1',
    'scheduler_framework_extension_point_duration_seconds_count{extension_point="Filter",profile="default-scheduler",status="Success"} 1',
    'scheduler_plugin_execution_duration_seconds_count{extension_point="Filter",plugin="NodePorts",status="Unschedulable"} 1',
    "scheduler_preemption_attempts_total 1",
    'scheduler_preemption_victims_bucket{le="2"} 1',
    'scheduler_queue_incoming_pods_total{event="UnschedulablePodAdd",queue="active"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});

test("pods ask for their resources with units, until they have ended on their node", () => {
  const pod = (name: string, phase: string, nodeName?: string): Pod => ({
    metadata: { name, namespace: "a" },
    spec: {
      schedulerName: "default-scheduler",
      priority: 7,
      ...(nodeName ? { nodeName } : {}),
      containers: [
        {
          name: "c",
          resources: {
            requests: { cpu: "100m", memory: "1Ki", "example.com/x": "2" },
            limits: { memory: "2Ki", cpu: "0" },
          },
        },
      ],
    },
    status: { phase },
  });
  const text = metricsText(
    podResourceFamilies([
      pod("runs", "Running", "n"),
      pod("waits", "Pending"),
      pod("ended", "Succeeded", "n"),
    ]),
  );
  const labels = (name: string, node: string, rest: string): string =>
    `{namespace="a",node="${node}",pod="${name}",priority="7",${rest}}`;
  for (const line of [
    `kube_pod_resource_request${labels("runs", "n", 'resource="cpu",scheduler="default-scheduler",unit="cores"')} 0.1`,
    `kube_pod_resource_request${labels("waits", "", 'resource="memory",scheduler="default-scheduler",unit="bytes"')} 1024`,
    `kube_pod_resource_request${labels("runs", "n", 'resource="example.com/x",scheduler="default-scheduler",unit=""')} 2`,
    `kube_pod_resource_limit${labels("runs", "n", 'resource="memory",scheduler="default-scheduler",unit="bytes"')} 2048`,
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain("ended");
  expect(text).not.toMatch(/kube_pod_resource_limit.*cpu/);
});
