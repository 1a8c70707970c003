// The scheduler inside a composed cluster. A file of its own, so that its modules are read only where it runs.
import { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import { createScheduler, type Scheduler } from "../../scheduler/scheduler.ts";
import { resourcesPath } from "../../scheduler/metrics/pod-resources.ts";
import { SchedulerMetrics } from "../../scheduler/metrics/scheduler-metrics.ts";
import { PartMetrics } from "../parts/part-metrics.ts";
import type { SchedulerPlan } from "../parts/scheduler/scheduler-plan.ts";
import type { ClusterContext } from "./cluster-context.ts";
import { electionOf, startPart } from "./elected-part.ts";

export async function startScheduler(
  cluster: ClusterContext,
  plan: SchedulerPlan,
): Promise<void> {
  const { values, clock, logger, started } = cluster;
  const counted = new SchedulerMetrics();
  let current: Scheduler | undefined;
  const metrics = new PartMetrics();
  const asked = new ClientMetrics();
  metrics.add("client", () => asked.families());
  metrics.add("scheduler", () => counted.families());
  const shared = {
    client: cluster.clientFor("system:kube-scheduler", asked),
    clock,
    logger: logger.child({ part: "scheduler" }),
  };
  await startPart(started, {
    ...shared,
    metrics,
    lease: electionOf(values, plan.values, "kube-scheduler"),
    create: () => {
      const scheduler = createScheduler({
        ...shared,
        featureGates: plan.gates,
        configuration: plan.configuration,
        initialBackoffMs: plan.initialBackoffMs,
        maxUnschedulableMs: plan.maxUnschedulableMs,
        metrics: counted,
      });
      current = scheduler;
      return scheduler;
    },
  });
  await cluster.openPort({
    option: "scheduler-port",
    what: "the scheduler's port",
    metrics,
    moreMetrics: { [resourcesPath]: () => current?.podResources() ?? [] },
    gates: plan.gates,
    values: plan.values,
  });
}
