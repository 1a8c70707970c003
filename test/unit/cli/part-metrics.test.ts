// What the ports of controllers and scheduler show of a part, and that no gauge is called a total.
import { Family, metricsText } from "../../../api/metrics/family.ts";
import { PartMetrics } from "../../../cli/parts/part-metrics.ts";
import { processFamilies } from "../../../http-kit/process-metrics.ts";

test("the work queues, and what the part counts itself", () => {
  const metrics = new PartMetrics();
  for (const count of [2, 3])
    metrics.add("own", () => [
      new Family("own_total", "counter", "Own.").add({}, count),
    ]);
  const queue = metrics.queue("job", { length: 2, workingForMs: [1000] });
  queue.added();
  const text = metricsText(metrics.families());
  for (const line of [
    'workqueue_adds_total{name="job"} 1',
    'workqueue_depth{name="job"} 2',
    'workqueue_unfinished_work_seconds{name="job"} 1',
    "own_total 3",
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain("own_total 2");
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
