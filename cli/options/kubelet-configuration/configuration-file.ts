// What a KubeletConfiguration asks for (configuration-fields.ts reads it): each field that an option of the table names
// with `file` becomes that option's value; flags win.
// A problem is a UsageError naming file, line and field; all problems at once. A field that restricts and has no effect
// yet is such a problem, by the rules of its option or of kubelet-fields.ts.
import { isDeepStrictEqual } from "node:util";
import { isMap } from "./configuration-document.ts";
import {
  isSection,
  optionsByField,
  type ConfigurationFields,
} from "./configuration-fields.ts";
import { isUnset, kubeletFields } from "./kubelet-fields.ts";
import { asksForNothing, refusedText } from "../refusal.ts";
import {
  UsageError,
  type OptionSpec,
  type OptionTable,
  type OptionValue,
} from "../table.ts";
import { checkedOptionValue, parseOptionValue } from "../values/value.ts";

export interface ConfigurationFile {
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Options whose field, or a section above it, is there and says nothing. */
  readonly unset: ReadonlySet<string>;
  /** Known fields without effect that were set. */
  readonly withoutEffect: readonly string[];
}

/** Whole numbers of 64 bits; those of all other fields have 32, as the reference's types. */
const longFields: ReadonlySet<string> = new Set([
  "maxOpenFiles",
  "podPidsLimit",
]);

/** The JSON types of a field by its option's. */
function typeProblem(
  spec: OptionSpec,
  path: string,
  value: unknown,
): string | undefined {
  switch (spec.type) {
    case "bool":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "int":
      if (typeof value !== "number") return "must be a number";
      return isTooLong(path, value)
        ? `${value} does not fit into 32 bits`
        : undefined;
    case "float":
      return typeof value === "number" ? undefined : "must be a number";
    case "strings":
    case "repeated":
      return Array.isArray(value) ? undefined : "must be a list";
    case "map":
      return isMap(value) ? undefined : "must be a map";
    default:
      return typeof value === "string" ? undefined : "must be a string";
  }
}

const isTooLong = (path: string, value: number): boolean =>
  Number.isInteger(value) && (value | 0) !== value && !longFields.has(path);

/** Fields whose form is not that of the flag, made into the flag's. */
const conversions: Readonly<Record<string, (value: unknown) => unknown>> = {
  podPidsLimit: (value) =>
    typeof value === "number" && value < 0 ? -1 : value,
  registerWithTaints: (value) =>
    Array.isArray(value) ? value.map(taintText) : value,
  reservedMemory: (value) =>
    Array.isArray(value)
      ? value.map((each: { numaNode?: number; limits?: unknown }) =>
          isMap(each) && isMap(each.limits)
            ? `${each.numaNode ?? 0}:${Object.entries(each.limits)
                .map(([name, amount]) => `${name}=${String(amount)}`)
                .join(",")}`
            : each,
        )
      : value,
  staticPodURLHeader: (value) =>
    isMap(value)
      ? Object.entries(value).flatMap(([name, values]) =>
          [values].flat().map((each) => `${name}:${String(each)}`),
        )
      : value,
  "logging.flushFrequency": (value) =>
    typeof value === "number" ? `${value}ns` : value,
  "logging.vmodule": (value) =>
    Array.isArray(value)
      ? value.map((each) =>
          isMap(each)
            ? `${String(each["filePattern"])}=${String(each["verbosity"])}`
            : each,
        )
      : value,
  shutdownGracePeriodByPodPriority: (value) =>
    Array.isArray(value)
      ? value.map((each) =>
          isMap(each)
            ? `${String(each["priority"])}=${String(each["shutdownGracePeriodSeconds"])}`
            : each,
        )
      : value,
  evictionHard: thresholds,
  evictionSoft: thresholds,
  featureGates: (value) =>
    isMap(value)
      ? Object.fromEntries(
          Object.entries(value).map(([gate, on]) => [gate, String(on)]),
        )
      : value,
};

function taintText(taint: unknown): unknown {
  if (!isMap(taint)) return taint;
  if (taint["timeAdded"] !== undefined && taint["timeAdded"] !== null)
    throw new UsageError("taint.TimeAdded is not nil");
  const value = taint["value"] ? `=${String(taint["value"])}` : "";
  return `${String(taint["key"])}${value}:${String(taint["effect"] ?? "")}`;
}

/** `memory.available: 50Mi` keeps the operator that flags write. */
function thresholds(value: unknown): unknown {
  return isMap(value)
    ? Object.fromEntries(
        Object.entries(value).map(([signal, each]) => [
          signal,
          `<${String(each)}`,
        ]),
      )
    : value;
}

function optionValue(
  spec: OptionSpec,
  path: string,
  given: unknown,
): OptionValue {
  const value = conversions[path]?.(given) ?? given;
  const problem = typeProblem(spec, path, value);
  if (problem) throw new UsageError(problem);
  const checked = (text: string): OptionValue => parseOptionValue(spec, text);
  if (spec.type === "map") {
    const entries = Object.entries(value as object).map(
      ([key, each]): [string, string] => [key, String(each)],
    );
    return checkedOptionValue(
      spec,
      entries.map((entry) => entry.join("=")).join(","),
      Object.fromEntries(entries),
    );
  }
  if (Array.isArray(value))
    return value.flatMap((each) => checked(String(each)) as readonly string[]);
  return checked(String(value));
}

/** What is wrong with a field that no option sets. */
function fieldProblem(path: string, value: unknown): string | undefined {
  const { kind, accepted, refusal, range } = kubeletFields[path]!;
  if (range && !(Number(value) >= range[0] && Number(value) <= range[1]))
    return `${path}: ${JSON.stringify(value)} must be between ${range[0]} and ${range[1]}, inclusive`;
  if (
    kind === "harmless" ||
    (Array.isArray(value) && value.length === 0) ||
    accepted?.some((each) => isDeepStrictEqual(each, value))
  )
    return undefined;
  return refusal ? `${path}: ${refusal}` : refusedText(path);
}

/**
 * The settings that fields ask for.
 * @throws UsageError with a line for each field that is unknown, invalid, or restricts and has no effect yet
 */
export function settingsOf(
  fields: ConfigurationFields,
  table: OptionTable,
): ConfigurationFile {
  const byField = optionsByField(table);
  const known = [...byField.keys(), ...Object.keys(kubeletFields)];
  const values = new Map<string, OptionValue>();
  const unset = new Set<string>();
  const withoutEffect: string[] = [];
  const problems: string[] = [];
  for (const [path, { value, place }] of fields) {
    const problem = (what: string): void => {
      problems.push(`${place}: ${what}`);
    };
    const spec = byField.get(path);
    const field = kubeletFields[path];
    if (isUnset(path, value))
      for (const [each, { name }] of byField)
        if (each === path || each.startsWith(`${path}.`)) unset.add(name);
    if (!spec && !field) {
      if (value === null && isSection(path, known)) continue;
      problem(`${path}: unknown field`);
      continue;
    }
    if (isUnset(path, value)) continue;
    if (!spec) {
      const wrong = fieldProblem(path, value);
      if (wrong) problem(wrong);
      else if (field!.kind === "harmless") withoutEffect.push(path);
      continue;
    }
    try {
      const given = optionValue(spec, path, value);
      if (!asksForNothing(spec, given)) problem(refusedText(path));
      values.set(spec.name, given);
    } catch (error) {
      problem(
        `${path}: ${(error as Error).message.replace(/^invalid argument (".*") for "--[^"]*": /s, "invalid value $1: ")}`,
      );
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return { values, unset, withoutEffect };
}
