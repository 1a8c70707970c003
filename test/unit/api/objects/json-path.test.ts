import { jsonPath, jsonPathText } from "../../../../api/objects/json-path.ts";

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
