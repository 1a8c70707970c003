// `orbit scheduler`: the scheduler alone, against any conforming API server.
import { systemClock } from "../api/clock.ts";
import { guardProcess, notifySystemd, stopOnSignals } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import { schedulerOptions } from "./options/scheduler.ts";
import { connectClient } from "./parts/connect.ts";

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
  const { createScheduler } = await import("../scheduler/scheduler.ts");
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: logger.child({ part: "scheduler" }),
  });
  await scheduler.start();
  stopOnSignals(
    {
      async stop() {
        await scheduler.stop();
        await client.close();
      },
    },
    logger,
  );
  logger.info("the scheduler runs");
  notifySystemd("READY=1", logger);
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}
