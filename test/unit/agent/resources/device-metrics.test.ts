import { metricsText } from "../../../../api/metrics/family.ts";
import { DeviceMetrics } from "../../../../agent/resources/devices/device-metrics.ts";

test("registrations and answered allocations are counted by resource", async () => {
  const metrics = new DeviceMetrics();
  metrics.registered("a.b/c");
  metrics.registered("a.b/c");
  expect(await metrics.timedAllocation("a.b/c", Promise.resolve(7))).toBe(7);
  const failing = metrics.timedAllocation(
    "a.b/d",
    Promise.reject(new Error("no")),
  );
  await expect(failing).rejects.toThrow("no");
  const text = metricsText(metrics.families());
  expect(text).toContain(
    'kubelet_device_plugin_registration_total{resource_name="a.b/c"} 2\n',
  );
  expect(text).toContain(
    'kubelet_device_plugin_alloc_duration_seconds_count{resource_name="a.b/c"} 1\n',
  );
  expect(text).not.toContain("a.b/d");
});
