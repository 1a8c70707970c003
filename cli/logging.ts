// The process's log: one line a record on stderr, as readable text or as JSON (--logging-format), written synchronously
// so that nothing is lost when the process ends. --v: below 0 warnings, 0–3 info, 4–5 debug, 6 and more trace; --vmodule
// gives parts and controllers a verbosity of their own. The verbosity can be changed while the process runs.
import pino, { type Logger } from "pino";
import { matchesGlob } from "../api/patterns/glob.ts";
import { describedError, textLine } from "./log-text.ts";

interface LoggingOptions {
  format: "text" | "json";
  verbosity: number;
  /** `pattern=N` by the name of a part (agent, store …) or a controller, as records show it; the first that fits counts. */
  vmodule?: readonly string[];
}

function levelFor(verbosity: number): string {
  return verbosity < 0
    ? "warn"
    : verbosity >= 6
      ? "trace"
      : verbosity >= 4
        ? "debug"
        : "info";
}

/** Lowers or raises a logger's level when one of its names fits a setting; whether one does. */
function applySettings(
  logger: Logger,
  settings: readonly { pattern: string; level: string }[],
): boolean {
  if (settings.length === 0) return false;
  const { part, controller } = logger.bindings();
  for (const { pattern, level } of settings)
    if (
      [part, controller].some(
        (name) => typeof name === "string" && matchesGlob(pattern, name),
      )
    ) {
      logger.level = level;
      return true;
    }
  return false;
}

/** Loggers that follow --v, the children of loggers among them; a child's level is its own, so that each must be set. */
let following: WeakRef<Logger>[] = [];
let pruneAt = 64;

function follow(logger: Logger): void {
  following.push(new WeakRef(logger));
  if (following.length < pruneAt) return;
  following = following.filter((each) => each.deref() !== undefined);
  pruneAt = Math.max(64, following.length * 2);
}

/**
 * Sets the verbosity of this process's loggers that have none of their own by --vmodule.
 * @returns what to answer to who asked, as the reference does
 * @throws Error for a text that is no 32-bit whole number
 */
export function setVerbosity(text: string): string {
  const refuse = (why: string): never => {
    throw new Error(
      `failed set klog.logging.verbosity ${text}: strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`,
    );
  };
  if (!/^[+-]?\d+$/.test(text)) refuse("invalid syntax");
  if (Math.abs(Number(text)) > 0x7fffffff) refuse("value out of range");
  const level = levelFor(Number(text));
  for (const each of following) {
    const logger = each.deref();
    if (logger) logger.level = level;
  }
  return `successfully set klog.logging.verbosity to ${text}`;
}

export function createLogger({
  format,
  verbosity,
  vmodule = [],
}: LoggingOptions): Logger {
  const settings = vmodule.map((setting) => {
    const [pattern = "", level = "0"] = setting.split("=");
    return { pattern, level: levelFor(Number(level)) };
  });
  const sink = pino.destination({ fd: 2, sync: true });
  const options = {
    level: levelFor(verbosity),
    base: null,
    serializers: { err: describedError },
    onChild: (child: Logger) => {
      if (!applySettings(child, settings)) follow(child);
    },
  };
  const logger =
    format === "json"
      ? pino(options, sink)
      : pino(options, {
          write: (record: string) => void sink.write(textLine(record)),
        });
  follow(logger);
  return logger;
}
