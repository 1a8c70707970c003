// Counters and histograms with labels that parts keep and a scrape turns into families. Counting costs one look into a map
// by the joined values of the labels.
// Invariant: a family has at most `maxSeries` series; what comes under further values is not counted, so that who
// chooses the values can't fill the memory.
import { Family, type Labels } from "./family.ts";
import { Histogram } from "./histogram.ts";

/** Enough for every family whose labels come from the program; names of objects need no more. */
const maxSeries = 1000;

interface Described {
  /** The family's name. */
  readonly name: string;
  readonly help: string;
  /** Names of the labels, in the order in which their values are given. */
  readonly labels?: readonly string[];
}

class SeriesByLabels<T> {
  readonly #byValues = new Map<string, { labels: Labels; value: T }>();

  constructor(
    protected readonly described: Described,
    private readonly make: () => T,
  ) {
    // Without labels there is one series from the start, as at the reference.
    if (this.#names.length === 0) this.of([]);
  }

  get #names(): readonly string[] {
    return this.described.labels ?? [];
  }

  /** Undefined: there are too many already. */
  protected of(values: readonly string[]): T | undefined {
    const key = values.length === 1 ? values[0]! : values.join("\0");
    const known = this.#byValues.get(key);
    if (known) return known.value;
    if (this.#byValues.size >= maxSeries) return undefined;
    const value = this.make();
    const labels = Object.fromEntries(
      this.#names.map((name, index) => [name, values[index] ?? ""]),
    );
    this.#byValues.set(key, { labels, value });
    return value;
  }

  protected series(): Iterable<{ labels: Labels; value: T }> {
    return this.#byValues.values();
  }

  /** The series that this holds for end. */
  forget(isGone: (labels: Labels) => boolean): void {
    for (const [key, { labels }] of this.#byValues)
      if (isGone(labels)) this.#byValues.delete(key);
  }
}

export class Counters extends SeriesByLabels<{ count: number }> {
  constructor(
    described: Described,
    private readonly type: "counter" | "gauge" = "counter",
  ) {
    super(described, () => ({ count: 0 }));
  }

  /** One more under these values of the labels. */
  count(...values: readonly string[]): void {
    this.add(1, ...values);
  }

  add(by: number, ...values: readonly string[]): void {
    const series = this.of(values);
    if (series) series.count += by;
  }

  /** That of these values, for who counts it often. Undefined: there are too many already. */
  at(...values: readonly string[]): { count: number } | undefined {
    return this.of(values);
  }

  /** Of a gauge. */
  set(to: number, ...values: readonly string[]): void {
    const series = this.of(values);
    if (series) series.count = to;
  }

  family(): Family {
    const family = new Family(
      this.described.name,
      this.type,
      this.described.help,
    );
    for (const { labels, value } of this.series())
      family.add(labels, value.count);
    return family;
  }
}

export class Histograms extends SeriesByLabels<Histogram> {
  /** @param bounds as of a Histogram */
  constructor(described: Described, bounds: readonly number[]) {
    super(described, () => new Histogram(bounds));
  }

  observe(value: number, ...values: readonly string[]): void {
    this.of(values)?.observe(value);
  }

  /** That of these values, for who observes it often. Undefined: there are too many already. */
  at(...values: readonly string[]): Histogram | undefined {
    return this.of(values);
  }

  family(): Family {
    const family = new Family(
      this.described.name,
      "histogram",
      this.described.help,
    );
    for (const { labels, value } of this.series())
      family.addHistogram(labels, value);
    return family;
  }
}

/** A gauge without labels, of what is so now. Undefined: it is not known. */
export const gauge = (
  name: string,
  help: string,
  value: number | undefined,
): Family => new Family(name, "gauge", help).add({}, value);

/** Adds one sample for each set of labels among them. */
export function addCounts(family: Family, all: readonly Labels[]): Family {
  const counts = new Map<string, { labels: Labels; count: number }>();
  for (const labels of all) {
    const key = JSON.stringify(labels);
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { labels, count: 1 });
  }
  for (const { labels, count } of counts.values()) family.add(labels, count);
  return family;
}

/** `count` bounds, each `factor` times the one before. */
export const exponentialBounds = (
  first: number,
  factor: number,
  count: number,
): number[] => {
  const bounds = [first];
  while (bounds.length < count) bounds.push(bounds.at(-1)! * factor);
  return bounds;
};

/** The bounds in seconds that the reference uses where it says nothing else. */
export const usualSeconds: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
