// From the text of an option to its value, with the limits of its table entry. Problems are UsageErrors that name the option.
import { parseDurationMs } from "../../../api/duration.ts";
import { UsageError, type OptionSpec, type OptionValue } from "../table.ts";

/** Milliseconds of a duration as options write it: 5m0s, 1.5h, 100ms, 0. undefined when it is none. */
export function optionDurationMs(text: string): number | undefined {
  try {
    return parseDurationMs(text);
  } catch {
    return undefined;
  }
}

const trueTexts = ["1", "t", "T", "true", "TRUE", "True"];
const falseTexts = ["0", "f", "F", "false", "FALSE", "False"];

function fail(spec: OptionSpec, text: string, why: string): never {
  throw new UsageError(
    `invalid argument "${text}" for "--${spec.name}": ${why}`,
  );
}

function inRange(
  spec: OptionSpec,
  text: string,
  value: number,
  shown = (bound: number): string => String(bound),
): number {
  if (spec.min !== undefined && value < spec.min)
    fail(spec, text, `must be at least ${shown(spec.min)}`);
  if (spec.max !== undefined && value > spec.max)
    fail(spec, text, `must be at most ${shown(spec.max)}`);
  return value;
}

function oneOf(spec: OptionSpec, text: string, value: string): string {
  if (spec.values && !spec.values.includes(value))
    fail(spec, text, `must be one of ${spec.values.join(", ")}`);
  return value;
}

function parse(spec: OptionSpec, text: string): OptionValue {
  switch (spec.type) {
    case "string":
      return oneOf(spec, text, text);
    case "strings":
      return text === ""
        ? []
        : text.split(",").map((part) => oneOf(spec, text, part.trim()));
    case "repeated":
      return [text];
    case "int":
      if (!/^[-+]?\d+$/.test(text)) fail(spec, text, "must be a whole number");
      return inRange(spec, text, Number(text));
    case "float":
      if (text.trim() === "" || !Number.isFinite(Number(text)))
        fail(spec, text, "must be a number");
      return inRange(spec, text, Number(text));
    case "bool":
      if (trueTexts.includes(text)) return true;
      if (falseTexts.includes(text)) return false;
      return fail(spec, text, "must be true or false");
    case "duration": {
      const valueMs = optionDurationMs(text);
      if (valueMs === undefined)
        fail(spec, text, "must be a duration such as 300ms, 10s or 1h30m");
      return inRange(spec, text, valueMs!, (ms) => `${ms / 1000}s`);
    }
    case "quantity":
      if (!/^\d+(\.\d+)?([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d+)?$/.test(text))
        fail(spec, text, "must be an amount such as 10Mi");
      return text;
    case "map": {
      const pairs: Record<string, string> = {};
      for (const part of text === "" ? [] : text.split(",")) {
        const equals = part.search(/[=<]/);
        if (equals < 1) fail(spec, text, `"${part}" must be written key=value`);
        // Thresholds (memory.available<100Mi) keep their operator: it is not always the same.
        pairs[part.slice(0, equals).trim()] =
          part[equals] === "="
            ? part.slice(equals + 1).trim()
            : part.slice(equals).trim();
      }
      return pairs;
    }
  }
}

/** The value of one option's text, checked. */
export function parseOptionValue(spec: OptionSpec, text: string): OptionValue {
  return checkedOptionValue(spec, text, parse(spec, text));
}

/** A value that was not read from a text, checked as one that was. @param shown it in a message */
export function checkedOptionValue(
  spec: OptionSpec,
  shown: string,
  value: OptionValue,
): OptionValue {
  const problem = spec.check?.(value);
  if (problem) fail(spec, shown, problem);
  return value;
}

/** The value after the option was given again: lists and maps grow, the rest is replaced. */
export function mergeOptionValue(
  spec: OptionSpec,
  before: OptionValue | undefined,
  next: OptionValue,
): OptionValue {
  if (before === undefined) return next;
  if (Array.isArray(before) && Array.isArray(next))
    return [...(before as string[]), ...(next as string[])];
  if (spec.type === "map")
    return {
      ...(before as Record<string, string>),
      ...(next as Record<string, string>),
    };
  return next;
}
