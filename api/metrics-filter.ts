// What of the Prometheus text a program shows: --disabled-metrics leaves whole families out, --allow-metric-labels keeps the
// values of a label to a list. Series that become the same by it are added up.
// Worked example: `requests_total{verb="GET"} 2` and `requests_total{verb="odd"} 3` with requests_total,verb=GET become
// `requests_total{verb="GET"} 2` and `requests_total{verb="unexpected"} 3`.

interface MetricsLimits {
  /** Families by their names. */
  readonly disabled: ReadonlySet<string>;
  /** Family → label → allowed values. */
  readonly labels: ReadonlyMap<
    string,
    ReadonlyMap<string, ReadonlySet<string>>
  >;
}

const UNEXPECTED = "unexpected";

export type MetricsFilter = (text: string) => string;

function limited(
  labels: string,
  allowed: ReadonlyMap<string, ReadonlySet<string>>,
): string {
  return labels.replaceAll(
    /(^|,)(\w+)="((?:[^"\\]|\\.)*)"/g,
    (pair, before: string, name: string, value: string) => {
      const values = allowed.get(name);
      return !values || values.has(value)
        ? pair
        : `${before}${name}="${UNEXPECTED}"`;
    },
  );
}

/** Of one family: the sample lines with limited labels, the same ones added up, in the order of their first. */
function limitSamples(
  lines: readonly string[],
  allowed: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const sums = new Map<string, { value: number; only: string | undefined }>();
  for (const line of lines) {
    const open = line.indexOf("{");
    const close = line.lastIndexOf("}");
    if (open < 0 || close < open) {
      sums.set(line, { value: 0, only: line });
      continue;
    }
    const series = `${line.slice(0, open)}{${limited(line.slice(open + 1, close), allowed)}}`;
    const value = line.slice(close + 1).trim();
    const known = sums.get(series);
    if (known)
      sums.set(series, { value: known.value + Number(value), only: undefined });
    else sums.set(series, { value: Number(value), only: `${series} ${value}` });
  }
  return [...sums].map(
    ([series, { value, only }]) => only ?? `${series} ${value}`,
  );
}

/** Undefined: everything is shown as it is. */
export function createMetricsFilter({
  disabled,
  labels,
}: MetricsLimits): MetricsFilter | undefined {
  if (disabled.size === 0 && labels.size === 0) return undefined;
  return (text) => {
    const out: string[] = [];
    let family = "";
    let samples: string[] = [];
    const flush = (): void => {
      const allowed = labels.get(family);
      if (!disabled.has(family))
        out.push(...(allowed ? limitSamples(samples, allowed) : samples));
      samples = [];
    };
    for (const line of text.split("\n")) {
      const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line);
      if (!comment) {
        if (line !== "") samples.push(line);
        continue;
      }
      if (comment[1] !== family) {
        flush();
        family = comment[1]!;
      }
      if (!disabled.has(family)) out.push(line);
    }
    flush();
    return `${out.join("\n")}\n`;
  };
}
