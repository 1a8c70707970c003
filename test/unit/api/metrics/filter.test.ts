import { createMetricsFilter } from "../../../../api/metrics/filter.ts";
import { Family, metricsText } from "../../../../api/metrics/family.ts";
import { Histogram } from "../../../../api/metrics/histogram.ts";

test("series that become the same are added up, families left out", () => {
  const filter = createMetricsFilter({
    disabled: new Set(["gone"]),
    labels: new Map([["seen_total", new Map([["verb", new Set(["GET"])]])]]),
  })!;
  const families = [
    new Family("seen_total", "counter", "what")
      .add({ verb: "GET", code: "200" }, 1)
      .add({ verb: 'odd"}', code: "200" }, 2)
      .add({ verb: "other", code: "200" }, 3.5)
      .add({ verb: "other", code: "500" }, 4),
    new Family("gone", "gauge", "what").add({}, 1),
    new Family("left", "gauge", "what").add({ verb: "odd" }, 1),
  ];
  expect(metricsText(filter(families))).toBe(
    [
      "# HELP seen_total what",
      "# TYPE seen_total counter",
      'seen_total{code="200",verb="GET"} 1',
      'seen_total{code="200",verb="unexpected"} 5.5',
      'seen_total{code="500",verb="unexpected"} 4',
      "# HELP left what",
      "# TYPE left gauge",
      'left{verb="odd"} 1',
      "",
    ].join("\n"),
  );
});

test("histograms that become one are added up bucket by bucket", () => {
  const filter = createMetricsFilter({
    disabled: new Set(),
    labels: new Map([["took", new Map([["who", new Set(["a"])]])]]),
  })!;
  const took = new Histogram([1, 2]);
  took.observe(1.5);
  const family = new Family("took", "histogram", "what")
    .addHistogram({ who: "x" }, took)
    .addHistogram({ who: "y" }, took);
  expect(
    metricsText(filter([family]))
      .split("\n")
      .slice(2),
  ).toEqual([
    'took_bucket{who="unexpected",le="1"} 0',
    'took_bucket{who="unexpected",le="2"} 2',
    'took_bucket{who="unexpected",le="+Inf"} 2',
    'took_sum{who="unexpected"} 3',
    'took_count{who="unexpected"} 2',
    "",
  ]);
});

test("a value next to another that is summed loses its time, a single one keeps it", () => {
  const filter = createMetricsFilter({
    disabled: new Set(),
    labels: new Map([["a", new Map([["who", new Set<string>()]])]]),
  })!;
  const at = "2025-01-01T00:00:00Z";
  const single = new Family("a", "gauge", "b").add({ who: "x" }, 1, at);
  expect(metricsText(filter([single]))).toContain(
    'a{who="unexpected"} 1 1735689600000\n',
  );
  single.add({ who: "y" }, 2, at);
  expect(metricsText(filter([single]))).toContain('a{who="unexpected"} 3\n');
});

test("without limits there is nothing to filter", () => {
  expect(
    createMetricsFilter({ disabled: new Set(), labels: new Map() }),
  ).toBeUndefined();
});
