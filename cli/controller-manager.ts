// `orbit controller-manager`: the controllers alone, against any conforming API server.
import * as os from "node:os";
import { systemClock } from "../api/clock.ts";
import { createControllerManager } from "../controllers/manager.ts";
import type { ControllerOptions } from "../controllers/options.ts";
import { guardProcess, notifySystemd, stopOnSignals } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { controllerManagerOptions } from "./options/controller-manager.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import { DependencyError, UsageError } from "./options/table.ts";
import { readOptionFile } from "./parts/agent-certificate.ts";
import { connectClient } from "./parts/connect.ts";
import { controllerOptions } from "./parts/controller-options.ts";
import { delegatedAccess, portTls } from "./parts/delegated-access.ts";
import { startHealthPort } from "./parts/health-port.ts";
import { PartMetrics } from "./parts/part-metrics.ts";
import { signingAuthorities } from "./parts/signing-authorities.ts";

/** What the options say about the controllers, files read. */
function chosenOptions(values: OptionValues): Partial<ControllerOptions> {
  if (
    values.number("leader-elect-renew-deadline") >=
    values.number("leader-elect-lease-duration")
  ) {
    throw new UsageError(
      "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration",
    );
  }
  const rootCaFile = values.optionalText("root-ca-file");
  return {
    ...controllerOptions(values),
    ...signingAuthorities(values),
    leaderElect: values.flag("leader-elect"),
    ...(rootCaFile
      ? { rootCa: readOptionFile("root-ca-file", rootCaFile) }
      : {}),
  };
}

export async function runControllerManager(
  argv: readonly string[],
): Promise<number | undefined> {
  if (wantsHelp(argv, controllerManagerOptions)) {
    process.stdout.write(
      helpText(
        "orbit controller-manager [options]",
        "The controllers, against any conforming API server.",
        controllerManagerOptions,
      ),
    );
    return 0;
  }
  const values = parseOptions(controllerManagerOptions, argv);
  const options = chosenOptions(values);
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
  let manager;
  try {
    manager = createControllerManager({
      client,
      clock: systemClock,
      logger,
      metrics,
      options,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const access = await delegatedAccess(values, logger);
  const port = values.number("secure-port");
  // The port first: a candidate that does not lead is healthy too.
  const health =
    port > 0
      ? await startHealthPort({
          address: values.text("bind-address"),
          port,
          tls: portTls(values, "controller-manager", os.hostname()),
          alwaysAllow: values.list("authorization-always-allow-paths"),
          ...access,
          healthy: () => Promise.resolve(),
          metrics: () => metrics.text(),
          what: "the controllers' port",
        })
      : undefined;
  await manager.start().catch((error: Error) => {
    throw new DependencyError(error.message);
  });
  let stopping = false;
  stopOnSignals(
    {
      async stop() {
        stopping = true;
        await health?.stop();
        await manager.stop();
        await access.close();
        await client.close();
      },
    },
    logger,
  );
  void manager.lost.then(() => {
    if (stopping) return;
    logger.error("leadership was lost: ending");
    process.exit(1);
  });
  logger.info(
    options.leaderElect
      ? "a candidate for leadership; the controllers run while this process leads"
      : `${manager.running.length} controllers run`,
  );
  notifySystemd("READY=1", logger);
  // Timers do not keep the process alive: the candidacy and the informers have to.
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}
