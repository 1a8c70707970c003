// The agent's --config file: a KubeletConfiguration (kubelet.config.k8s.io/v1beta1, or the specification's
// kubelet.config.orbit.io). Each field that an option of the table names with `file` becomes that option's value; flags win.
// A problem is a UsageError naming file and field; all problems at once.
import { readFileSync } from "node:fs";
import {
  allOptions,
  UsageError,
  type OptionSpec,
  type OptionTable,
  type OptionValue,
} from "./table.ts";
import { parseOptionValue } from "./value.ts";

/** Fields of KubeletConfiguration that no option stands for; accepted, without effect so far. */
const fieldsWithoutOption = [
  "staticPodURLHeader",
  "shutdownGracePeriod",
  "shutdownGracePeriodCriticalPods",
  "shutdownGracePeriodByPodPriority",
  "imageMaximumGCAge",
  "maxParallelImagePulls",
  "logging",
  "featureGates",
  "memorySwap",
  "reservedMemory",
  "kernelMemcgNotification",
  "showHiddenMetricsForVersion",
  "singleProcessOOMKill",
  "enableProfilingHandler",
  "enableDebugFlagsHandler",
  "enableSystemLogHandler",
  "enableSystemLogQuery",
  "protectKernelDefaults",
  "registerWithTaints",
  "tracing",
  "nodeStatusReportFrequency",
  "nodeLeaseDurationSeconds",
  "kubeletCgroups",
  "configMapAndSecretChangeDetectionStrategy",
  "crashLoopBackOff",
  "containerLogMaxWorkers",
  "containerLogMonitorInterval",
  "volumePluginDir",
  "iptablesMasqueradeBit",
  "iptablesDropBit",
  "runOnce",
  "memoryThrottlingFactor",
  "mergeDefaultEvictionSettings",
];

export interface ConfigurationFile {
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Known fields without effect that were set. */
  readonly withoutEffect: readonly string[];
}

function optionText(spec: OptionSpec, value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(",");
  if (value !== null && typeof value === "object") {
    return Object.entries(value)
      .map(([key, each]) =>
        spec.name.startsWith("eviction-") && !spec.name.includes("grace")
          ? `${key}<${String(each)}`
          : `${key}=${String(each)}`,
      )
      .join(",");
  }
  return String(value);
}

function flatten(
  value: unknown,
  known: ReadonlySet<string>,
  path: string,
  out: Map<string, unknown>,
): void {
  if (
    known.has(path) ||
    value === null ||
    typeof value !== "object" ||
    Array.isArray(value)
  ) {
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
  const { load } = await import("js-yaml");
  let document: unknown;
  try {
    document = load(text);
  } catch (error) {
    const { mark, reason, message } = error as {
      mark?: { line: number };
      reason?: string;
      message: string;
    };
    throw new UsageError(
      `${file}${mark ? `:${mark.line + 1}` : ""}: ${reason ?? message}`,
    );
  }
  if (
    document === null ||
    typeof document !== "object" ||
    Array.isArray(document)
  )
    throw new UsageError(`${file}: not a KubeletConfiguration`);
  const { apiVersion, kind, ...fields } = document as Record<string, unknown>;
  if (kind !== "KubeletConfiguration")
    throw new UsageError(
      `${file}: kind: must be KubeletConfiguration, not ${JSON.stringify(kind)}`,
    );
  if (
    apiVersion !== "kubelet.config.k8s.io/v1beta1" &&
    apiVersion !== "kubelet.config.orbit.io/v1beta1"
  ) {
    throw new UsageError(
      `${file}: apiVersion: must be kubelet.config.k8s.io/v1beta1, not ${JSON.stringify(apiVersion)}`,
    );
  }
  const byField = new Map(
    allOptions(table).flatMap((spec) =>
      spec.file ? [[spec.file, spec] as const] : [],
    ),
  );
  const unused = new Set(fieldsWithoutOption);
  const flat = new Map<string, unknown>();
  flatten(fields, new Set([...byField.keys(), ...unused]), "", flat);
  const values = new Map<string, OptionValue>();
  const withoutEffect: string[] = [];
  const problems: string[] = [];
  for (const [path, value] of flat) {
    const spec = byField.get(path);
    if (value === null) continue;
    if (!spec) {
      if (unused.has(path)) withoutEffect.push(path);
      else problems.push(`${path}: unknown field`);
      continue;
    }
    try {
      values.set(spec.name, parseOptionValue(spec, optionText(spec, value)));
    } catch (error) {
      problems.push(
        `${path}: ${(error as Error).message.replace(/^invalid argument (".*") for "--.*?": /s, "invalid value $1: ")}`,
      );
    }
  }
  if (problems.length > 0)
    throw new UsageError(`${file}: ${problems.join("; ")}`);
  return { values, withoutEffect };
}

export function readConfigurationText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--config: ${(error as Error).message}`);
  }
}
