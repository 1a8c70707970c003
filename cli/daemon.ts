// What every daemon of the program does first: --help, options, its logger, and a warning about options without effect.
import type { Logger } from "pino";
import { guardProcess, type FailureCount } from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import type { OptionTable } from "./options/table.ts";

interface DaemonStart {
  readonly values: OptionValues;
  readonly logger: Logger;
  readonly failures: FailureCount;
  /** Logs the seconds since the daemon began, as `ready in 0.42s`. */
  ready(fields?: object): void;
}

/** Options read from the command line alone, or with those of a file below them. */
type OptionReader = (
  argv: readonly string[],
) => Promise<{ values: OptionValues; withoutEffect: readonly string[] }>;

/**
 * @returns undefined when only help was asked for, which is printed then
 * @throws UsageError naming a bad option, or one that restricts and has no effect yet
 */
export async function beginDaemon(
  argv: readonly string[],
  daemon: {
    table: OptionTable;
    /** `orbit scheduler [options]` */
    usage: string;
    about: string;
    read?: OptionReader;
  },
): Promise<DaemonStart | undefined> {
  const startedMs = performance.now();
  const { table } = daemon;
  if (wantsHelp(argv, table)) {
    process.stdout.write(helpText(daemon.usage, daemon.about, table));
    return undefined;
  }
  let values: OptionValues;
  let withoutEffect: readonly string[];
  if (daemon.read) ({ values, withoutEffect } = await daemon.read(argv));
  else {
    values = parseOptions(table, argv);
    values.refuseUnbuilt();
    withoutEffect = values.withoutEffect();
  }
  const logger = createLogger({
    format: values.text("logging-format") as "text" | "json",
    verbosity: values.number("v"),
    vmodule: values.list("vmodule"),
  });
  const failures = guardProcess(logger);
  if (withoutEffect.length > 0)
    logger.warn(
      { options: withoutEffect },
      "these options are accepted but have no effect yet",
    );
  return {
    values,
    logger,
    failures,
    ready(fields = {}) {
      const seconds = (performance.now() - startedMs) / 1000;
      logger.info(fields, `ready in ${seconds.toFixed(2)}s`);
    },
  };
}
