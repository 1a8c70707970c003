// What the scheduler's port shows of pods that wait and of attempts, and that no gauge is called a total.
import { metricsText } from "../../../api/metrics/family.ts";
import { PartMetrics } from "../../../cli/parts/part-metrics.ts";
import { processFamilies } from "../../../http-kit/process-metrics.ts";

test("pods that wait, and how often a pod was tried", () => {
  const metrics = new PartMetrics();
  expect(metricsText(metrics.families())).not.toContain("scheduler_");
  metrics.followPending(() => ({ active: 2, gated: 0 }));
  metrics.attempt("unschedulable", 1, "default-scheduler", 1);
  metrics.attempt("scheduled", 1, "default-scheduler", 3);
  const text = metricsText(metrics.families());
  for (const line of [
    'scheduler_pending_pods{queue="active"} 2',
    'scheduler_pending_pods{queue="gated"} 0',
    'scheduler_pod_scheduling_attempts_bucket{le="2"} 0',
    'scheduler_pod_scheduling_attempts_bucket{le="4"} 1',
    "scheduler_pod_scheduling_attempts_count 1",
    'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});

test("gauges of the process are not called totals", async () => {
  const families = await processFamilies();
  expect(families.length).toBeGreaterThan(10);
  expect(
    families.filter(
      ({ name, type }) => type === "gauge" && name.endsWith("_total"),
    ),
  ).toEqual([]);
});
