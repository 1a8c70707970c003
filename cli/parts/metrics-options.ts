// --disabled-metrics, --allow-metric-labels and --allow-metric-labels-manifest of every program that shows metrics.
import {
  createMetricsFilter,
  type MetricsFilter,
} from "../../api/metrics/filter.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { readOptionFile } from "./option-files.ts";

type Labels = Map<string, Map<string, Set<string>>>;

function allow(
  labels: Labels,
  optionName: string,
  key: string,
  list: string,
): void {
  const [metric, label, ...rest] = key.split(",");
  const values = list.split(",").filter(Boolean);
  if (!metric || !label || rest.length > 0 || values.length === 0)
    throw new UsageError(
      `invalid argument ${JSON.stringify(`${key}=${list}`)} for "--${optionName}": must be METRIC,LABEL=VALUE,…`,
    );
  const ofMetric = labels.get(metric) ?? new Map<string, Set<string>>();
  labels.set(metric, ofMetric.set(label, new Set(values)));
}

async function readManifest(labels: Labels, file: string): Promise<void> {
  const optionName = "allow-metric-labels-manifest";
  const text = readOptionFile(optionName, file);
  const { parseYaml } = await import("../../api/codec/yaml-text.ts");
  let value: unknown;
  try {
    value = parseYaml(text)[0]?.value;
  } catch (error) {
    throw new UsageError(
      `--${optionName}: ${file}: ${(error as Error).message}`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`--${optionName}: ${file}: a map is expected`);
  for (const [key, list] of Object.entries(value))
    allow(labels, optionName, key, String(list));
}

/** Undefined: everything is shown as it is. */
export async function metricsFilter(
  values: OptionValues,
): Promise<MetricsFilter | undefined> {
  const labels: Labels = new Map();
  const manifest = values.optionalText("allow-metric-labels-manifest");
  if (manifest) await readManifest(labels, manifest);
  for (const text of values.list("allow-metric-labels").filter(Boolean)) {
    const equals = text.indexOf("=");
    allow(
      labels,
      "allow-metric-labels",
      text.slice(0, Math.max(equals, 0)),
      text.slice(equals + 1),
    );
  }
  return createMetricsFilter({
    disabled: new Set(values.list("disabled-metrics")),
    labels,
  });
}
