// `orbit scheduler`: the scheduler alone, against any conforming API server. With leader election it works only while it
// holds the lease, and ends when it lost it.
import type { Logger } from "pino";
import { systemClock } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import { ClientMetrics } from "../client/metrics/client-metrics.ts";
import {
  createLeaderElection,
  type LeaderElection,
} from "../client/leader-election/leader-election.ts";
import { LeaderMetrics } from "../client/leader-election/leader-metrics.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { resourcesPath } from "../scheduler/metrics/pod-resources.ts";
import { SchedulerMetrics } from "../scheduler/metrics/scheduler-metrics.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, stopOnSignals } from "./lifecycle.ts";
import type { OptionValues } from "./options/parse.ts";
import { schedulerOptions } from "./options/scheduler.ts";
import { connectClient } from "./parts/connect.ts";
import { leaderLease } from "./parts/leader-lease.ts";
import { openOwnPort } from "./parts/serving/own-port.ts";
import { gatesOfPart } from "./parts/api/emulated-version.ts";
import { PartMetrics } from "./parts/part-metrics.ts";
import {
  planScheduler,
  writeConfiguration,
} from "./parts/scheduler/scheduler-plan.ts";

function candidacy(
  values: OptionValues,
  client: Client,
  logger: Logger,
  metrics: LeaderMetrics,
): LeaderElection | undefined {
  if (!values.flag("leader-elect")) return undefined;
  return createLeaderElection({
    client,
    clock: systemClock,
    logger,
    ...leaderLease(values, "kube-scheduler"),
    metrics,
  });
}

export async function runScheduler(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: schedulerOptions,
    usage: "orbit scheduler [options]",
    about: "The scheduler, against any conforming API server.",
  });
  if (!start) return 0;
  const { logger } = start;
  const featureGates = gatesOfPart(start.values, (text) => logger.warn(text));
  const plan = await planScheduler(start.values, featureGates);
  const { values, configuration } = plan;
  for (const warning of plan.warnings) logger.warn(warning);
  const writeTo = values.optionalText("write-config-to");
  if (writeTo !== undefined) {
    writeConfiguration(writeTo, configuration);
    return 0;
  }
  const asked = new ClientMetrics();
  const client = await connectClient(values, logger, featureGates, asked);
  const counted = new SchedulerMetrics();
  let current: Scheduler | undefined;
  const metrics = new PartMetrics();
  metrics.add("client", () => asked.families());
  metrics.add("scheduler", () => counted.families());
  const leads = new LeaderMetrics();
  metrics.add("leader-election", () => leads.families());
  // What it needs to know is read as soon as there is a scheduler, even while another one leads.
  const make = (): Scheduler => {
    const made = createScheduler({
      client,
      clock: systemClock,
      logger: logger.child({ part: "scheduler" }),
      featureGates,
      configuration,
      initialBackoffMs: plan.initialBackoffMs,
      maxUnschedulableMs: plan.maxUnschedulableMs,
      metrics: counted,
    });
    current = made;
    return made;
  };
  let scheduler = configuration.delayCacheUntilActive ? undefined : make();
  const election = candidacy(values, client, logger, leads);
  const ownPort = await openOwnPort(values, logger, {
    name: "scheduler",
    what: "the scheduler's port",
    metrics,
    moreMetrics: { [resourcesPath]: () => current?.podResources() ?? [] },
  });
  let stopping = false;
  stopOnSignals(
    {
      async stop() {
        stopping = true;
        await ownPort.stop();
        await scheduler?.stop();
        await election?.stop();
        await client.close();
      },
    },
    logger,
  );
  if (election) {
    logger.info("a candidate for leadership");
    void election.lead().then(
      () => {
        if (stopping) return;
        logger.info("leads; the scheduler runs");
        void (scheduler ??= make()).start();
        void election.lost.then(() => {
          if (stopping) return;
          logger.error("leadership was lost: ending");
          process.exit(1);
        });
      },
      () => undefined,
    );
  } else {
    await (scheduler ??= make()).start();
    logger.info("the scheduler runs");
  }
  notifySystemd("READY=1", logger);
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}
