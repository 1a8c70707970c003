// The agent's --config file: a KubeletConfiguration (kubelet.config.k8s.io/v1beta1, or the specification's
// kubelet.config.orbit.io). Each field that an option of the table names with `file` becomes that option's value; flags win.
// A problem is a UsageError naming file, line and field; all problems at once. A field that restricts and has no effect
// yet is such a problem, by the rules of its option or of kubelet-fields.ts.
import { isDeepStrictEqual } from "node:util";
import { readFileSync } from "node:fs";
import { kubeletFields } from "./kubelet-fields.ts";
import { isMap, parseDocument } from "./configuration-document.ts";
import { asksForNothing, refusedText } from "../refusal.ts";
import {
  allOptions,
  UsageError,
  type OptionSpec,
  type OptionTable,
  type OptionValue,
} from "../table.ts";
import { parseOptionValue } from "../value.ts";

interface ConfigurationFile {
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Known fields without effect that were set. */
  readonly withoutEffect: readonly string[];
}

/** The JSON types of a field by its option's. */
function typeProblem(spec: OptionSpec, value: unknown): string | undefined {
  switch (spec.type) {
    case "bool":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "int":
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

/** Fields whose form is not that of the flag, made into the flag's. */
const conversions: Readonly<Record<string, (value: unknown) => unknown>> = {
  registerWithTaints: (value) =>
    Array.isArray(value)
      ? value.map((taint: { key: string; value?: string; effect: string }) =>
          isMap(taint)
            ? `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`
            : taint,
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
  evictionHard: thresholds,
  evictionSoft: thresholds,
  featureGates: (value) =>
    isMap(value)
      ? Object.fromEntries(
          Object.entries(value).map(([gate, on]) => [gate, String(on)]),
        )
      : value,
};

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
  const problem = typeProblem(spec, value);
  if (problem) throw new UsageError(problem);
  const checked = (text: string): OptionValue => parseOptionValue(spec, text);
  if (spec.type === "map")
    return Object.fromEntries(
      Object.entries(value as object).map(([key, each]) => [key, String(each)]),
    );
  if (Array.isArray(value))
    return value.flatMap((each) => checked(String(each)) as readonly string[]);
  return checked(String(value));
}

function flatten(
  value: unknown,
  known: ReadonlySet<string>,
  path: string,
  out: Map<string, unknown>,
): void {
  if (known.has(path) || !isMap(value)) {
    out.set(path, value);
    return;
  }
  for (const [key, each] of Object.entries(value))
    flatten(each, known, path === "" ? key : `${path}.${key}`, out);
}

/** Reads a KubeletConfiguration from text (YAML or JSON). */
export async function parseKubeletConfiguration(
  text: string,
  file: string,
  table: OptionTable,
): Promise<ConfigurationFile> {
  const { value: document, lineOf } = await parseDocument(text, file);
  if (!isMap(document))
    throw new UsageError(`${file}: not a KubeletConfiguration`);
  const { apiVersion, kind, ...fields } = document;
  if (kind !== "KubeletConfiguration")
    throw new UsageError(
      `${file}:${lineOf("kind")}: kind: must be KubeletConfiguration, not ${JSON.stringify(kind)}`,
    );
  if (
    apiVersion !== "kubelet.config.k8s.io/v1beta1" &&
    apiVersion !== "kubelet.config.orbit.io/v1beta1"
  ) {
    throw new UsageError(
      `${file}:${lineOf("apiVersion")}: apiVersion: must be kubelet.config.k8s.io/v1beta1, not ${JSON.stringify(apiVersion)}`,
    );
  }
  const byField = new Map(
    allOptions(table).flatMap((spec) =>
      spec.file ? [[spec.file, spec] as const] : [],
    ),
  );
  const flat = new Map<string, unknown>();
  flatten(
    fields,
    new Set([...byField.keys(), ...Object.keys(kubeletFields)]),
    "",
    flat,
  );
  const values = new Map<string, OptionValue>();
  const withoutEffect: string[] = [];
  const problems: string[] = [];
  const problem = (path: string, what: string): void => {
    problems.push(`${file}:${lineOf(path)}: ${what}`);
  };
  for (const [path, value] of flat) {
    const spec = byField.get(path);
    const field = kubeletFields[path];
    if (!spec && !field) {
      problem(path, `${path}: unknown field`);
      continue;
    }
    if (value === null) continue;
    if (!spec) {
      const accepted =
        (Array.isArray(value) && value.length === 0) ||
        field!.accepted?.some((each) => isDeepStrictEqual(each, value));
      if (field!.kind === "harmless") withoutEffect.push(path);
      else if (!accepted) problem(path, refusedText(path));
      continue;
    }
    try {
      const given = optionValue(spec, path, value);
      if (!asksForNothing(spec, given)) problem(path, refusedText(path));
      values.set(spec.name, given);
    } catch (error) {
      problem(
        path,
        `${path}: ${(error as Error).message.replace(/^invalid argument (".*") for "--[^"]*": /s, "invalid value $1: ")}`,
      );
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return { values, withoutEffect };
}

export function readConfigurationText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--config: ${(error as Error).message}`);
  }
}
