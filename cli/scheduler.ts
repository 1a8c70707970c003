// `orbit scheduler`: the scheduler alone, against any conforming API server. With leader election it works only while it
// holds the lease, and ends when it lost it.
import type { Logger } from "pino";
import { systemClock } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import {
  createLeaderElection,
  type LeaderElection,
} from "../client/leader-election.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, stopOnSignals } from "./lifecycle.ts";
import type { OptionValues } from "./options/parse.ts";
import { schedulerOptions } from "./options/scheduler.ts";
import { connectClient } from "./parts/connect.ts";
import { leaderLease } from "./parts/leader-lease.ts";
import { openOwnPort } from "./parts/own-port.ts";
import { gatesOfPart } from "./parts/api/emulated-version.ts";
import { PartMetrics } from "./parts/part-metrics.ts";

function candidacy(
  values: OptionValues,
  client: Client,
  logger: Logger,
): LeaderElection | undefined {
  if (!values.flag("leader-elect")) return undefined;
  return createLeaderElection({
    client,
    clock: systemClock,
    logger,
    ...leaderLease(values, "kube-scheduler"),
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
  const { values, logger } = start;
  const featureGates = gatesOfPart(values, (text) => logger.warn(text));
  const client = await connectClient(values, logger, featureGates);
  const metrics = new PartMetrics();
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: logger.child({ part: "scheduler" }),
    featureGates,
    onAttempt: (result, durationMs) => metrics.attempt(result, durationMs),
  });
  const election = candidacy(values, client, logger);
  const ownPort = await openOwnPort(values, logger, {
    name: "scheduler",
    what: "the scheduler's port",
    metrics,
  });
  let stopping = false;
  stopOnSignals(
    {
      async stop() {
        stopping = true;
        await ownPort.stop();
        await scheduler.stop();
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
        void scheduler.start();
        void election.lost.then(() => {
          if (stopping) return;
          logger.error("leadership was lost: ending");
          process.exit(1);
        });
      },
      () => undefined,
    );
  } else {
    await scheduler.start();
    logger.info("the scheduler runs");
  }
  notifySystemd("READY=1", logger);
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}
