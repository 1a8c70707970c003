import {
  jsonPath,
  jsonPathText,
  Visits,
} from "../../../../api/objects/json-path.ts";

const root = {
  metadata: { name: "a", labels: { "app.kubernetes.io/name": "x" } },
  spec: { replicas: 3, list: ["a", "b", "c"], empty: null },
  status: {
    conditions: [
      { type: "Ready", status: "True", n: 1 },
      { type: "Other", status: "False", n: 2 },
    ],
  },
};

test.each<[string, unknown[]]>([
  [".metadata.name", ["a"]],
  ["$.metadata.name", ["a"]],
  [".metadata.labels.app\\.kubernetes\\.io/name", ["x"]],
  [".metadata.labels['app.kubernetes.io/name']", ["x"]],
  ['.metadata.labels["app.kubernetes.io/name"]', ["x"]],
  [".spec.replicas", [3]],
  [".spec.none.deeper", []],
  [".spec.empty", [null]],
  [".spec.list[1]", ["b"]],
  [".spec.list[-1]", ["c"]],
  [".spec.list[7]", []],
  [".spec.list[0:2]", ["a", "b"]],
  [".spec.list[::2]", ["a", "c"]],
  [".spec.list[*]", ["a", "b", "c"]],
  [".spec.list[0,2]", ["a", "c"]],
  [".spec.list.a", []],
  [".spec[0]", []],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Other')].n", [2]],
  [".status.conditions[?(@.n>1)].type", ["Other"]],
  [".status.conditions[?(@.none)].type", []],
  [".status.conditions[?(@.n)].n", [1, 2]],
  ["..replicas", [3]],
  [".status..type", ["Ready", "Other"]],
  [".metadata.*", ["a", { "app.kubernetes.io/name": "x" }]],
  [".", [root]],
  ["", [root]],
])("%s", (path, found) => {
  expect(jsonPath(path)!(root)).toEqual(found);
});

test.each([".a[", ".a[?(@.b==]", ".a b", "a", ".a[x]", ".a..", "['a'"])(
  "%s is no path",
  (path) => {
    expect(jsonPath(path)).toBeUndefined();
  },
);

test("own properties only", () => {
  expect(jsonPath(".constructor.name")!({})).toEqual([]);
});

test.each<[unknown, string]>([
  ["a", "a"],
  [1.5, "1.5"],
  [true, "true"],
  [null, "<no value>"],
  [{ b: 1, a: ["x"] }, '{"a":["x"],"b":1}'],
])("%j as text", (value, text) => {
  expect(jsonPathText(value)).toBe(text);
});

describe("paths that find too much", () => {
  const deep: Record<string, unknown> = {};
  let innermost = deep;
  for (let depth = 0; depth < 300; depth++)
    innermost = innermost["a"] = {} as Record<string, unknown>;
  const list = Array.from({ length: 1000 }, (_, index) => ({ index }));

  const square = Array.from({ length: 300 }, () => list);

  test.each<[string, unknown]>([
    ["$..[*]..[*]..[*]", deep],
    ["..a..a..a..a", deep],
    ["..a..a..a..b", deep],
    ["$[?(@..index)]", square],
    ["$[?($[?($[?(@.b)])])]", list],
    ["$[*][?($..index)]", square],
    [`$${"[0,0,0,0]".repeat(40)}`, [[[[[[[[[[[[1]]]]]]]]]]]]],
    [`$[${"*,".repeat(1000)}*]`, list],
  ])("case %# finds nothing", (text, value) => {
    expect(jsonPath(text)!(value)).toHaveLength(0);
  });

  test("several share what may be looked at", () => {
    const visits = new Visits();
    const all = jsonPath("$..index")!;
    const root = { list };
    const counts = Array.from({ length: 30 }, () => all(root, visits).length);
    expect(counts[0]).toBe(1000);
    expect(counts.at(-1)).toBe(0);
    expect(all(root)).toHaveLength(1000);
  });

  test("filters within filters are read to a depth", () => {
    const nested = (depth: number): string =>
      `${"$[?(@".repeat(depth)}.a${")]".repeat(depth)}`.replaceAll("@$", "@");
    expect(jsonPath(nested(20))).toBeDefined();
    expect(jsonPath(nested(20_000))).toBeUndefined();
  });
});
