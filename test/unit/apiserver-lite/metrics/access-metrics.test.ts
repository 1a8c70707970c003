// How requests passed authentication and authorization; users can't make series by their names.
import { AccessMetrics } from "../../../../apiserver-lite/metrics/access-metrics.ts";
import { metricsText } from "../../../../api/metrics/family.ts";

test("results are counted, users by a few kinds", () => {
  const metrics = new AccessMetrics();
  for (const user of ["admin", "a@b.c", "eve", "mallory", 'x"} 1\nevil 1'])
    metrics.authenticated("success", user, performance.now());
  metrics.authenticated("error", undefined, performance.now());
  metrics.authorized("allowed", performance.now());
  metrics.authorized("no-opinion", performance.now());
  const text = metricsText(metrics.families());
  for (const line of [
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 3',
    'authentication_attempts{result="success"} 5',
    'authentication_attempts{result="error"} 1',
    'authentication_duration_seconds_count{result="success"} 5',
    'authorization_attempts_total{result="allowed"} 1',
    'authorization_duration_seconds_count{result="no-opinion"} 1',
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain("evil");
});
