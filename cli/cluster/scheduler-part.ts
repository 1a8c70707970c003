// The scheduler inside a composed cluster. A file of its own, so that its modules are read only where it runs.
import { createScheduler } from "../../scheduler/scheduler.ts";
import { PartMetrics } from "../parts/part-metrics.ts";
import type { SchedulerPlan } from "../parts/scheduler/scheduler-plan.ts";
import type { ClusterContext } from "./cluster-context.ts";
import { electionOf, startPart } from "./elected-part.ts";

export async function startScheduler(
  cluster: ClusterContext,
  plan: SchedulerPlan,
): Promise<void> {
  const { values, clock, logger, started } = cluster;
  const metrics = new PartMetrics();
  const shared = {
    client: cluster.clientFor("system:kube-scheduler"),
    clock,
    logger: logger.child({ part: "scheduler" }),
  };
  await startPart(started, {
    ...shared,
    lease: electionOf(values, plan.values, "kube-scheduler"),
    create: () => {
      const scheduler = createScheduler({
        ...shared,
        featureGates: plan.gates,
        configuration: plan.configuration,
        initialBackoffMs: plan.initialBackoffMs,
        maxUnschedulableMs: plan.maxUnschedulableMs,
        onAttempt: (result, durationMs, profile, attempts) =>
          metrics.attempt(result, durationMs, profile, attempts),
      });
      metrics.followPending(() => scheduler.pending());
      return scheduler;
    },
  });
  await cluster.openPort({
    option: "scheduler-port",
    what: "the scheduler's port",
    metrics,
    gates: plan.gates,
    values: plan.values,
  });
}
