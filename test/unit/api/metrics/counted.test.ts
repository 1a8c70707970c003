// Counters and histograms by labels: what a scrape shows of them, and that nobody can make series without end.
import {
  Counters,
  exponentialBounds,
  gauge,
  Histograms,
} from "../../../../api/metrics/counted.ts";
import { metricsText } from "../../../../api/metrics/family.ts";

test("counts by the values of labels, in their order", () => {
  const counters = new Counters({
    name: "things_total",
    help: "Things.",
    labels: ["kind", "result"],
  });
  expect(metricsText([counters.family()])).toBe("");
  counters.count("a", "ok");
  counters.add(2, "a", "ok");
  counters.count("b", "bad");
  expect(metricsText([counters.family()])).toBe(
    `# HELP things_total Things.
# TYPE things_total counter
things_total{kind="a",result="ok"} 3
things_total{kind="b",result="bad"} 1
`,
  );
  counters.forget(({ kind }) => kind === "a");
  expect(metricsText([counters.family()])).not.toContain('"a"');
});

test("without labels there is one series from the start", () => {
  const counters = new Counters({ name: "all_total", help: "All." });
  expect(metricsText([counters.family()])).toContain("all_total 0\n");
  counters.count();
  expect(metricsText([counters.family()])).toContain("all_total 1\n");
  const histograms = new Histograms({ name: "took", help: "Took." }, [1, 2]);
  expect(metricsText([histograms.family()])).toContain("took_count 0\n");
});

test("values that look alike when they are joined stay apart", () => {
  const counters = new Counters({ name: "c", help: "C.", labels: ["a", "b"] });
  counters.count("x", "yz");
  counters.count("xy", "z");
  expect([...counters.family().samples()]).toHaveLength(2);
});

test("series are bounded: further values are not counted", () => {
  const counters = new Counters({ name: "c", help: "C.", labels: ["name"] });
  const histograms = new Histograms(
    { name: "h", help: "H.", labels: ["name"] },
    [1],
  );
  for (let each = 0; each < 5000; each++) {
    counters.count(String(each));
    histograms.observe(1, String(each));
  }
  expect([...counters.family().samples()]).toHaveLength(1000);
  expect([...histograms.family().samples()]).toHaveLength(4 * 1000);
  counters.count("7");
  expect(metricsText([counters.family()])).toContain('c{name="7"} 2\n');
});

test("a gauge of what is so now; what is not known is not shown", () => {
  expect(metricsText([gauge("g", "G.", 3)])).toContain("g 3\n");
  expect(metricsText([gauge("g", "G.", undefined)])).toBe("");
  const set = new Counters({ name: "s", help: "S.", labels: ["x"] }, "gauge");
  set.set(5, "a");
  set.set(2, "a");
  expect(metricsText([set.family()])).toContain('# TYPE s gauge\ns{x="a"} 2\n');
});

test("bounds that grow by a factor", () => {
  expect(exponentialBounds(1, 2, 4)).toEqual([1, 2, 4, 8]);
});
