// How long admission took, by step and plug-in, and whether it refused.
import { AdmissionMetrics } from "../../../../apiserver-lite/admission/admission-metrics.ts";
import { metricsText } from "../../../../api/metrics/family.ts";

test("steps and plug-ins are counted by operation and whether they refused", () => {
  const metrics = new AdmissionMetrics();
  const beganMs = performance.now();
  const nextMs = metrics.plugin("Quota", "validate", "CREATE", beganMs, false);
  expect(nextMs).toBeGreaterThanOrEqual(beganMs);
  metrics.plugin("Quota", "validate", "CREATE", beganMs, true);
  metrics.step("validate", "CREATE", beganMs, true);
  const text = metricsText(metrics.families());
  for (const line of [
    'apiserver_admission_controller_admission_duration_seconds_count{name="Quota",operation="CREATE",rejected="false",type="validate"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="Quota",operation="CREATE",rejected="true",type="validate"} 1',
    'apiserver_admission_step_admission_duration_seconds_bucket{operation="CREATE",rejected="true",type="validate",le="+Inf"} 1',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});
