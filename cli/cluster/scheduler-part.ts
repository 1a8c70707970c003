// The scheduler inside a composed cluster. A file of its own, so that its modules are read only where it runs.
import { createScheduler } from "../../scheduler/scheduler.ts";
import type { OptionValues } from "../options/parse.ts";
import {
  emulatedVersionOf,
  featureGatesOf,
} from "../parts/api/emulated-version.ts";
import { PartMetrics } from "../parts/part-metrics.ts";
import type { ClusterContext } from "./cluster-context.ts";
import { electionOf, startPart } from "./elected-part.ts";

/** @param options of --scheduler-arg */
export async function startScheduler(
  cluster: ClusterContext,
  options: OptionValues,
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
    lease: electionOf(values, options, "kube-scheduler"),
    create: () =>
      createScheduler({
        ...shared,
        // One program: what is on in the API server is on here, unless the scheduler's own option says otherwise.
        featureGates: {
          ...featureGatesOf(values, emulatedVersionOf(values), () => {}),
          ...featureGatesOf(options, "1.32", (text) => logger.warn(text)),
        },
        onAttempt: (result, durationMs) => metrics.attempt(result, durationMs),
      }),
  });
  await cluster.openPort({
    option: "scheduler-port",
    what: "the scheduler's port",
    metrics,
    values: options,
  });
}
