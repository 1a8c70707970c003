import {
  Family,
  metricsParts,
  metricsText,
  numberText,
} from "../../../../api/metrics/family.ts";
import { Histogram } from "../../../../api/metrics/histogram.ts";

/** Reads the text as a scraper does, by the format's rules and by none of the writer's code. */
function parsed(text: string): {
  samples: { name: string; labels: Record<string, string>; value: string }[];
  heads: string[];
} {
  const samples = [];
  const heads: string[] = [];
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    if (line.startsWith("#")) {
      heads.push(line);
      continue;
    }
    const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)![0];
    const labels: Record<string, string> = {};
    let at = name.length;
    if (line[at] === "{") {
      at++;
      while (line[at] !== "}") {
        const label = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(at))![0];
        at += label.length + 2;
        let value = "";
        while (line[at] !== '"') {
          if (line[at] === "\\") {
            at++;
            value += line[at] === "n" ? "\n" : line[at]!;
          } else value += line[at]!;
          at++;
        }
        at++;
        expect(labels).not.toHaveProperty([label]);
        labels[label] = value;
        if (line[at] === ",") at++;
      }
      at++;
    }
    expect(line[at]).toBe(" ");
    samples.push({ name, labels, value: line.slice(at + 1) });
  }
  return { samples, heads };
}

const hostile = [
  'plain "quoted"',
  "back\\slash",
  "ends in \\",
  'both \\" and more',
  "two\nlines",
  'x"} 1\nfake_metric{a="b',
  "# TYPE fake counter",
  "\\n is not a line",
  "\r\n\t\u0000",
  "日本 \u{1f600} \ud800",
  "",
  ",=}{",
];

test("label values come back as they were, whatever they hold", () => {
  const family = new Family("seen_total", "counter", "What was seen.");
  for (const [index, value] of hostile.entries())
    family.add({ index: String(index), value }, index);
  const { samples, heads } = parsed(metricsText([family]));
  expect(samples).toEqual(
    hostile.map((value, index) => ({
      name: "seen_total",
      labels: { index: String(index), value },
      value: String(index),
    })),
  );
  expect(heads).toEqual([
    "# HELP seen_total What was seen.",
    "# TYPE seen_total counter",
  ]);
});

test("a help text stays on its line", () => {
  const text = metricsText([
    new Family("a", "gauge", 'one\ntwo \\ "three"').add({}, 1),
  ]);
  expect(text).toBe('# HELP a one\\ntwo \\\\ "three"\n# TYPE a gauge\na 1\n');
});

test("families without samples leave nothing", () => {
  expect(metricsText([new Family("a", "gauge", "b")])).toBe("");
  expect(
    metricsText([
      new Family("a", "gauge", "b").add({}, undefined).add({}, NaN),
      new Family("c", "gauge", "d").add({}, 0),
    ]),
  ).toBe("# HELP c d\n# TYPE c gauge\nc 0\n");
});

test("times are milliseconds; one that is no time is left out", () => {
  const family = new Family("a", "gauge", "b")
    .add({ n: "1" }, 1, "2025-01-01T00:00:00Z")
    .add({ n: "2" }, 2, "yesterday");
  expect(metricsText([family])).toContain(
    'a{n="1"} 1 1735689600000\na{n="2"} 2\n',
  );
});

test.each([
  [0, "0"],
  [1.5, "1.5"],
  [-0.25, "-0.25"],
  [1e-4, "0.0001"],
  [1e-8, "1e-08"],
  [9.999999999999999e-6, "9.999999999999999e-06"],
  [1.5e21, "1.5e+21"],
  [1e123, "1e+123"],
  [Infinity, "+Inf"],
  [-Infinity, "-Inf"],
  [NaN, "NaN"],
])("%d is written %s", (value, text) => {
  expect(numberText(value)).toBe(text);
});

test("a histogram's buckets add up, its bounds come last among the labels", () => {
  const histogram = new Histogram([0.1, 1, 10]);
  for (const value of [0.1, 0.5, 0.7, 5, 100]) histogram.observe(value);
  const family = new Family("took_seconds", "histogram", "How long.")
    .addHistogram({ verb: "GET", zone: 'a"b' }, histogram)
    .addHistogram({}, histogram, 1);
  const text = metricsText([family]);
  expect(text.split("\n").slice(2)).toEqual([
    'took_seconds_bucket{verb="GET",zone="a\\"b",le="0.1"} 1',
    'took_seconds_bucket{verb="GET",zone="a\\"b",le="1"} 3',
    'took_seconds_bucket{verb="GET",zone="a\\"b",le="10"} 4',
    'took_seconds_bucket{verb="GET",zone="a\\"b",le="+Inf"} 5',
    'took_seconds_sum{verb="GET",zone="a\\"b"} 106.3',
    'took_seconds_count{verb="GET",zone="a\\"b"} 5',
    'took_seconds_bucket{le="1"} 3',
    'took_seconds_bucket{le="10"} 4',
    'took_seconds_bucket{le="+Inf"} 5',
    "took_seconds_sum 106.3",
    "took_seconds_count 5",
    "",
  ]);
  // The samples that filters see are the same lines.
  const listed = [...family.samples()].map(({ suffix, labels, value }) => ({
    name: `took_seconds${suffix}`,
    labels: { ...labels },
    value: numberText(value),
  }));
  expect(parsed(text).samples).toEqual(listed);
});

test("a long text comes in parts that are the whole", () => {
  const family = new Family("a", "gauge", "b");
  for (let index = 0; index < 5000; index++)
    family.add({ index: String(index) }, index);
  const parts = [...metricsParts([family])];
  expect(parts.length).toBeGreaterThan(3);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(20_000);
  expect(parts.join("")).toBe(metricsText([family]));
  expect(parsed(parts.join("")).samples).toHaveLength(5000);
});
