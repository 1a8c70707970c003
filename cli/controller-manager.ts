// `orbit controller-manager`: the controllers alone, against any conforming API server.
import { readFileSync } from "node:fs";
import { systemClock } from "../api/clock.ts";
import { guardProcess, notifySystemd, stopOnSignals } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { controllerManagerOptions } from "./options/controller-manager.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import { DependencyError, UsageError } from "./options/table.ts";
import { connectClient } from "./parts/connect.ts";

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
  if (
    values.number("leader-elect-renew-deadline") >=
    values.number("leader-elect-lease-duration")
  ) {
    throw new UsageError(
      "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration",
    );
  }
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
  const [{ createControllerManager }, { controllerOptions }] =
    await Promise.all([
      import("../controllers/manager.ts"),
      import("./parts/controller-options.ts"),
    ]);
  const rootCaFile = values.optionalText("root-ca-file");
  let rootCa: string | undefined;
  try {
    rootCa = rootCaFile && readFileSync(rootCaFile, "utf8");
  } catch (error) {
    throw new UsageError(`--root-ca-file: ${(error as Error).message}`);
  }
  let manager;
  try {
    manager = createControllerManager({
      client,
      clock: systemClock,
      logger,
      options: {
        ...controllerOptions(values),
        leaderElect: values.flag("leader-elect"),
        ...(rootCa ? { rootCa } : {}),
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  await manager.start().catch((error: Error) => {
    throw new DependencyError(error.message);
  });
  stopOnSignals(
    {
      async stop() {
        await manager.stop();
        await client.close();
      },
    },
    logger,
  );
  void manager.lost.then(() => {
    logger.error("leadership was lost: ending");
    process.exit(1);
  });
  logger.info({ controllers: manager.running.length }, "the controllers run");
  notifySystemd("READY=1", logger);
  // Timers do not keep the process alive: the candidacy and the informers have to.
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}
