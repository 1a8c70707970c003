// A record of the log as text. What users, registries and containers say is in it: none of it begins a line of its own,
// moves a terminal's cursor, or is without end.
import pino from "pino";

const levelNames: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

interface LogError {
  message?: string;
  stack?: string;
}

const maxTextLength = 4096;
const maxErrorLength = 16_384;

function bounded(text: string, length: number): string {
  return text.length > length
    ? `${text.slice(0, length)}… (${text.length} characters)`
    : text;
}

// eslint-disable-next-line no-control-regex -- these are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** In one line, without what a terminal obeys. */
function plain(text: string): string {
  return text.replace(controls, (character) =>
    character === "\n"
      ? "\\n"
      : character === "\t"
        ? "\\t"
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** As pino's, but its texts, those of its causes in its stack among them, have an end. */
export function describedError(error: Error): object {
  const described = pino.stdSerializers.err(error) as unknown as object;
  if (!(error instanceof Error)) return described;
  return Object.fromEntries(
    Object.entries(described).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "string"
        ? bounded(value, maxErrorLength)
        : typeof value === "object" &&
            (JSON.stringify(value)?.length ?? 0) > maxErrorLength
          ? "…"
          : value,
    ]),
  );
}

/** `2006-01-02T15:04:05.000Z info  agent: pod started pod=default/web` */
export function textLine(record: string): string {
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
  let line = `${when} ${(levelNames[Number(level)] ?? String(level)).padEnd(5)} ${part ? `${String(part)}: ` : ""}${plain(bounded(String(msg ?? ""), maxTextLength))}`;
  for (const [name, value] of Object.entries(fields)) {
    const text = bounded(
      typeof value === "string" ? value : JSON.stringify(value),
      maxTextLength,
    );
    line += ` ${name}=${plain(/[\s"=]/.test(text) && typeof value === "string" ? JSON.stringify(text) : text)}`;
  }
  if (err) {
    const { stack, message } = err as LogError;
    line += `\n  ${(stack ?? message ?? JSON.stringify(err)).split("\n").map(plain).join("\n  ")}`;
  }
  return `${line}\n`;
}
