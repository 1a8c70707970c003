// /metrics/probes: results and durations by container and type, gone with the container.
import { ProbeMetrics } from "../../../../agent/probes/probe-metrics.ts";
import { metricsText } from "../../../../api/metrics/family.ts";

test("results are counted by type until the container is forgotten", () => {
  const metrics = new ProbeMetrics();
  const labels = {
    container: "c",
    namespace: "default",
    pod: "p",
    pod_uid: "u",
  };
  const probe = { containerId: "id", type: "liveness", labels };
  metrics.count(probe, "successful", 0.02);
  metrics.count(probe, "successful", 0.02);
  metrics.count(probe, "failed", 2);
  metrics.count({ ...probe, type: "startup" }, "unknown", undefined);
  const text = metricsText(metrics.families());
  expect(text).toContain(
    'prober_probe_total{container="c",namespace="default",pod="p",pod_uid="u",probe_type="Liveness",result="successful"} 2\n',
  );
  expect(text).toContain('probe_type="Liveness",result="failed"} 1\n');
  expect(text).toContain('probe_type="Startup",result="unknown"} 1\n');
  expect(text).toContain(
    'prober_probe_duration_seconds_count{container="c",namespace="default",pod="p",probe_type="Liveness"} 3\n',
  );
  metrics.forget("id");
  expect(metricsText(metrics.families())).not.toContain('container="c"');
});
