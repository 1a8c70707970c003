// Metric families and their text: the one place that writes the Prometheus text format 0.0.4. Every port collects
// families, filters them (filter.ts) and writes them with metricsText, or with metricsParts in slices of time. A family
// without samples leaves nothing in the text, as at the reference. OpenMetrics is not written: the reference's ports
// offer it on no path.
// Invariant: whatever a label value or a help text holds, it stays within its own quotes and its own line.
import type { Histogram } from "./histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** The content type of the text. */
export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export type MetricType =
  "counter" | "gauge" | "histogram" | "summary" | "untyped";

export interface Sample {
  /** What follows the family's name: "", "_bucket", "_sum" or "_count". */
  readonly suffix: string;
  readonly labels: Labels;
  readonly value: number;
  /** Milliseconds since 1970. Undefined: the time of the scrape. */
  readonly epochMs?: number;
}

/** A whole histogram; its bounds become samples when the text is made. */
interface Distribution {
  readonly labels: Labels;
  readonly histogram: Histogram;
  /** Bounds below it are left out. */
  readonly least: number;
}

export class Family {
  readonly #samples: Sample[] = [];
  readonly #distributions: Distribution[] = [];

  constructor(
    readonly name: string,
    readonly type: MetricType,
    readonly help: string,
  ) {}

  /** `value` undefined: it is not known, and there is no sample. `time`: RFC 3339. */
  add(labels: Labels, value: number | undefined, time?: string): this {
    if (value === undefined || Number.isNaN(value)) return this;
    const epochMs = time === undefined ? NaN : Date.parse(time);
    return this.addSample({
      suffix: "",
      labels,
      value,
      ...(Number.isNaN(epochMs) ? {} : { epochMs }),
    });
  }

  addSample(sample: Sample): this {
    this.#samples.push(sample);
    return this;
  }

  addHistogram(labels: Labels, histogram: Histogram, least = 0): this {
    this.#distributions.push({ labels, histogram, least });
    return this;
  }

  /** What a summary has beside its quantiles. */
  addTotals(labels: Labels, sum: number, count: number): this {
    return this.addSample({ suffix: "_sum", labels, value: sum }).addSample({
      suffix: "_count",
      labels,
      value: count,
    });
  }

  /** All samples, those of histograms among them. */
  *samples(): Generator<Sample> {
    yield* this.#samples;
    for (const { labels, histogram, least } of this.#distributions) {
      for (const [bound, value] of histogram.cumulative(least))
        yield {
          suffix: "_bucket",
          labels: { ...labels, le: numberText(bound) },
          value,
        };
      yield { suffix: "_sum", labels, value: histogram.sum };
      yield { suffix: "_count", labels, value: histogram.count };
    }
  }

  /** The text, in pieces: one a sample or histogram. */
  *text(): Generator<string> {
    const { name } = this;
    if (this.#samples.length + this.#distributions.length === 0) return;
    yield `# HELP ${name} ${escapedHelp(this.help)}\n# TYPE ${name} ${this.type}\n`;
    for (const { suffix, labels, value, epochMs } of this.#samples) {
      const time = epochMs === undefined ? "" : ` ${epochMs}`;
      yield `${name}${suffix}${labelsText(labels)} ${numberText(value)}${time}\n`;
    }
    for (const each of this.#distributions) yield distributionText(name, each);
  }
}

/** The same as of samples(), with the text of the labels made once. */
function distributionText(
  name: string,
  { labels, histogram, least }: Distribution,
): string {
  const own = labelsText(labels);
  const begin = own === "" ? "{" : `${own.slice(0, -1)},`;
  let text = "";
  for (const [bound, count] of histogram.cumulative(least))
    text += `${name}_bucket${begin}le="${numberText(bound)}"} ${count}\n`;
  return `${text}${name}_sum${own} ${numberText(histogram.sum)}\n${name}_count${own} ${histogram.count}\n`;
}

/** A piece of text is at least this long, but for the last. */
const partLength = 16 * 1024;

/** The text of all families in parts, so that who writes a long one can let others run in between. */
export function* metricsParts(families: Iterable<Family>): Generator<string> {
  let part = "";
  for (const family of families)
    for (const text of family.text()) {
      part += text;
      if (part.length < partLength) continue;
      yield part;
      part = "";
    }
  if (part !== "") yield part;
}

export function metricsText(families: Iterable<Family>): string {
  return [...metricsParts(families)].join("");
}

/**
 * `{a="1",b="2"}`; "" without labels. Names are sorted, the bound or quantile last: the same labels always give the same
 * text.
 */
export function labelsText(labels: Labels): string {
  const names = Object.keys(labels).sort(byName);
  if (names.length === 0) return "";
  return `{${names.map((name) => `${name}="${escapedValue(labels[name]!)}"`).join(",")}}`;
}

const last = new Set(["le", "quantile"]);

const byName = (a: string, b: string): number =>
  Number(last.has(a)) - Number(last.has(b)) || (a < b ? -1 : 1);

const escapedHelp = (text: string): string =>
  text.replace(/[\\\n]/g, (character) => (character === "\n" ? "\\n" : "\\\\"));

const escapedValue = (text: string): string =>
  text.replace(/[\\"\n]/g, (character) =>
    character === "\n" ? "\\n" : `\\${character}`,
  );

/** As the reference prints floats: 0.5, 1e-08, 1.5e+21, +Inf, NaN. The value of `le` is part of a series' name. */
export function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  const size = Math.abs(value);
  if (size === 0 || !(size < 1e-4 || size >= 1e21)) return String(value);
  const [mantissa, exponent] = value.toExponential().split("e") as [
    string,
    string,
  ];
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
