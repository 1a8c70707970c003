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
  type?: string;
  message?: string;
  stack?: string;
}

/** What the engine throws: a fault of this program, whose place is needed to find it. */
const faults = new Set([
  "TypeError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "AssertionError",
]);
const errorLevel = 50;
const maxCauses = 8;

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

/** The error's text and those of its causes that say more. */
function messageOf(error: Error): string {
  let text = error.message;
  let { cause } = error;
  for (let n = 0; n < maxCauses && cause instanceof Error; n++) {
    // gRPC's errors begin with their code: what follows is mostly what the outer one says already.
    const further = cause.message.replace(/^\d+ [A-Z_]+: /, "");
    if (!text.includes(further)) text += `: ${further}`;
    ({ cause } = cause);
  }
  return text;
}

/** As pino's, but its texts, those of its causes in its stack among them, have an end. */
export function describedError(error: Error): object {
  const described = pino.stdSerializers.err(error) as unknown as object;
  if (!(error instanceof Error)) return described;
  return Object.fromEntries(
    Object.entries({ ...described, message: messageOf(error) }).map(
      ([name, value]: [string, unknown]) => [
        name,
        typeof value === "string"
          ? bounded(value, maxErrorLength)
          : typeof value === "object" &&
              (JSON.stringify(value)?.length ?? 0) > maxErrorLength
            ? "…"
            : value,
      ],
    ),
  );
}

/**
 * `2006-01-02T15:04:05.000Z info  agent: pod started pod=default/web`. An error that came with a warning is a field of it: what
 * others refuse or lack happens again and again. Errors above, and faults of this program, are shown with their stack.
 */
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
    ...rest
  } = parsed;
  const { type, message, stack } = (err ?? {}) as LogError;
  const short = message ?? JSON.stringify(err);
  const isShort = Number(level) < errorLevel && !faults.has(type ?? "");
  const fields = err && isShort ? { ...rest, error: short } : rest;
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
  if (err && !isShort)
    line += `\n  ${(stack ?? short).split("\n").map(plain).join("\n  ")}`;
  return `${line}\n`;
}
