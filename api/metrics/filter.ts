// What of its metrics a program shows: --disabled-metrics leaves whole families out, --allow-metric-labels keeps the
// values of a label to a list. Series that become the same by it are added up.
// Worked example: `requests_total{verb="GET"} 2`, `requests_total{verb="odd"} 3` and `requests_total{verb="bad"} 1` with
// requests_total,verb=GET become `requests_total{verb="GET"} 2` and `requests_total{verb="unexpected"} 4`.
import { Family, labelsText, type Labels, type Sample } from "./family.ts";

interface MetricsLimits {
  /** Families by their names. */
  readonly disabled: ReadonlySet<string>;
  /** Family → label → allowed values. */
  readonly labels: ReadonlyMap<string, AllowedValues>;
}

type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>;

const UNEXPECTED = "unexpected";

export type MetricsFilter = (families: readonly Family[]) => readonly Family[];

function limitedLabels(labels: Labels, allowed: AllowedValues): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [
      name,
      allowed.get(name)?.has(value) === false ? UNEXPECTED : value,
    ]),
  );
}

/** The samples with limited labels, the same ones added up, in the order of their first. */
function limitSamples(family: Family, allowed: AllowedValues): Family {
  const sums = new Map<string, Sample>();
  for (const sample of family.samples()) {
    const labels = limitedLabels(sample.labels, allowed);
    const series = sample.suffix + labelsText(labels);
    const known = sums.get(series);
    sums.set(
      series,
      known
        ? { suffix: sample.suffix, labels, value: known.value + sample.value }
        : { ...sample, labels },
    );
  }
  const limited = new Family(family.name, family.type, family.help);
  for (const sample of sums.values()) limited.addSample(sample);
  return limited;
}

/** Undefined: everything is shown as it is. */
export function createMetricsFilter({
  disabled,
  labels,
}: MetricsLimits): MetricsFilter | undefined {
  if (disabled.size === 0 && labels.size === 0) return undefined;
  return (families) =>
    families
      .filter(({ name }) => !disabled.has(name))
      .map((family) => {
        const allowed = labels.get(family.name);
        return allowed ? limitSamples(family, allowed) : family;
      });
}
