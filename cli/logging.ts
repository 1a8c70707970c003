// The process's log: one line a record on stderr, as readable text or as JSON (--logging-format), written synchronously
// so that nothing is lost when the process ends. --v: below 0 warnings, 0–3 info, 4–5 debug, 6 and more trace.
import pino, { type Logger } from "pino";

interface LoggingOptions {
  format: "text" | "json";
  verbosity: number;
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

export function createLogger({ format, verbosity }: LoggingOptions): Logger {
  const sink = pino.destination({ fd: 2, sync: true });
  const options = {
    level: levelFor(verbosity),
    base: null,
    serializers: { err: pino.stdSerializers.err },
  };
  if (format === "json") return pino(options, sink);
  return pino(options, {
    write: (record: string) => void sink.write(textLine(record)),
  });
}
