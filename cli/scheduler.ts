// `orbit scheduler`: the scheduler alone, against any conforming API server. With leader election it works only while it
// holds the lease, and ends when it lost it.
import * as os from "node:os";
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { systemClock } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import {
  createLeaderElection,
  type LeaderElection,
} from "../client/leader-election.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { guardProcess, notifySystemd, stopOnSignals } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import { schedulerOptions } from "./options/scheduler.ts";
import { UsageError } from "./options/table.ts";
import { connectClient } from "./parts/connect.ts";
import { delegatedAccess, portTls } from "./parts/delegated-access.ts";
import { startHealthPort } from "./parts/health-port.ts";
import { PartMetrics } from "./parts/part-metrics.ts";

function candidacy(
  values: OptionValues,
  client: Client,
  logger: Logger,
): LeaderElection | undefined {
  if (!values.flag("leader-elect")) return undefined;
  const leaseDurationMs = values.number("leader-elect-lease-duration");
  const renewDeadlineMs = values.number("leader-elect-renew-deadline");
  if (renewDeadlineMs >= leaseDurationMs)
    throw new UsageError(
      "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration",
    );
  return createLeaderElection({
    client,
    clock: systemClock,
    logger,
    namespace: values.text("leader-elect-resource-namespace"),
    name: values.optionalText("leader-elect-resource-name") ?? "kube-scheduler",
    identity: `${os.hostname()}_${randomUUID()}`,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs: values.number("leader-elect-retry-period"),
  });
}

export async function runScheduler(
  argv: readonly string[],
): Promise<number | undefined> {
  if (wantsHelp(argv, schedulerOptions)) {
    process.stdout.write(
      helpText(
        "orbit scheduler [options]",
        "The scheduler, against any conforming API server.",
        schedulerOptions,
      ),
    );
    return 0;
  }
  const values = parseOptions(schedulerOptions, argv);
  const logger = createLogger({
    format: values.text("logging-format") as "text" | "json",
    verbosity: values.number("v"),
  });
  guardProcess(logger);
  const unused = values.withoutEffect();
  if (unused.length > 0)
    logger.warn(
      { options: unused },
      "these options are accepted but have no effect yet",
    );
  const client = await connectClient(values, logger);
  const metrics = new PartMetrics();
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: logger.child({ part: "scheduler" }),
    onAttempt: (result, durationMs) => metrics.attempt(result, durationMs),
  });
  const election = candidacy(values, client, logger);
  const access = await delegatedAccess(values, logger);
  const port = values.number("secure-port");
  const health =
    port > 0
      ? await startHealthPort({
          address: values.text("bind-address"),
          port,
          tls: portTls(values, "scheduler", os.hostname()),
          alwaysAllow: values.list("authorization-always-allow-paths"),
          ...access,
          healthy: () => Promise.resolve(),
          metrics: () => metrics.text(),
          what: "the scheduler's port",
        })
      : undefined;
  let stopping = false;
  stopOnSignals(
    {
      async stop() {
        stopping = true;
        await health?.stop();
        await scheduler.stop();
        await election?.stop();
        await access.close();
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
