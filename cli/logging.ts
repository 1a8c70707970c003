// The process's log: one line a record on stderr, as readable text or as JSON (--logging-format), written synchronously
// so that nothing is lost when the process ends. --v: below 0 warnings, 0–3 info, 4–5 debug, 6 and more trace; --vmodule
// gives parts and controllers a verbosity of their own.
import pino, { type Logger } from "pino";
import { matchesGlob } from "../api/patterns/glob.ts";

interface LoggingOptions {
  format: "text" | "json";
  verbosity: number;
  /** `pattern=N` by the name of a part (agent, store …) or a controller, as records show it; the first that fits counts. */
  vmodule?: readonly string[];
}

const levelNames: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

function levelFor(verbosity: number): string {
  return verbosity < 0
    ? "warn"
    : verbosity >= 6
      ? "trace"
      : verbosity >= 4
        ? "debug"
        : "info";
}

interface LogError {
  message?: string;
  stack?: string;
}

/** `2006-01-02T15:04:05.000Z info  agent: pod started pod=default/web` */
function textLine(record: string): string {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(record) as Record<string, unknown>;
  } catch {
    return record;
  }
  const {
    level,
    time,
    msg,
    part,
    err,
    pid: _pid,
    hostname: _hostname,
    ...fields
  } = parsed;
  const when =
    typeof time === "number" ? new Date(time).toISOString() : String(time);
  let line = `${when} ${(levelNames[Number(level)] ?? String(level)).padEnd(5)} ${part ? `${String(part)}: ` : ""}${String(msg ?? "")}`;
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    line += ` ${name}=${/[\s"=]/.test(text) && typeof value === "string" ? JSON.stringify(text) : text}`;
  }
  if (err) {
    const { stack, message } = err as LogError;
    line += `\n  ${(stack ?? message ?? JSON.stringify(err)).replaceAll("\n", "\n  ")}`;
  }
  return `${line}\n`;
}

/** Lowers or raises a logger's level when one of its names fits a setting. */
function applySettings(
  logger: Logger,
  settings: readonly { pattern: string; level: string }[],
): void {
  const { part, controller } = logger.bindings();
  for (const { pattern, level } of settings)
    if (
      [part, controller].some(
        (name) => typeof name === "string" && matchesGlob(pattern, name),
      )
    ) {
      logger.level = level;
      return;
    }
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
    serializers: { err: pino.stdSerializers.err },
    ...(settings.length > 0
      ? { onChild: (child: Logger) => applySettings(child, settings) }
      : {}),
  };
  if (format === "json") return pino(options, sink);
  return pino(options, {
    write: (record: string) => void sink.write(textLine(record)),
  });
}
