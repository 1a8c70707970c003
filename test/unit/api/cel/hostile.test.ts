// Expressions and objects made to take long or to grow: each is refused or stops, none holds the process for longer
// than the limit of a run.
import { Environment } from "../../../../api/cel/environment.ts";
import { compile } from "../../../../api/cel/program.ts";
import {
  typeOfSchema,
  type JsonSchema,
} from "../../../../api/cel/schemas/from-json-schema.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    text: { type: "string" },
    list: { type: "array", items: { type: "integer" } },
    set: {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
    },
    map: { type: "object", additionalProperties: { type: "integer" } },
  },
};
const self = {
  text: "a".repeat(500_000),
  list: Array.from({ length: 60_000 }, (_, index) => index),
  set: Array.from({ length: 5_000 }, (_, index) => `s${index}`),
  map: Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index]),
  ),
};
const environment = new Environment({
  variables: { self: typeOfSchema(schema, "selfType")! },
});

function answer(expression: string): string {
  const compiled = compile(expression, environment);
  if (!compiled.ok) return String(compiled.issues).split("\n", 1)[0] as string;
  return compiled.program.evaluate({ self }).kind;
}

test.each([
  ["self.list.all(x, self.list.all(y, x >= 0 || y >= 0))"],
  ["self.list.all(x, x in self.list)"],
  ["self.list.all(x, self.map == self.map)"],
  ["self.list.all(x, self.set == self.set)"],
  ["self.list.map(x, self.list + self.list).size() == self.text.size()"],
  ["self.list.map(x, self.set + self.set).size() > 0"],
  ["sets.contains(self.list, self.list)"],
  ["self.text.replace('a', self.text).size() > 0"],
  ["self.text.replace('', self.text).size() > 0"],
  ["self.text.contains(self.text)"],
  ["self.list.all(x, self.text.matches('a+b') || true)"],
  [`[self.text]${".map(x, x + x)".repeat(20)}.size() > 0`],
  [`optional.of(1)${".optMap(x, x)".repeat(60)}.hasValue()`],
])("case %# stops at its limit", (expression) => {
  expect(answer(expression)).toBe("exceeded");
});

test.each([
  ["self.text.matches('(a*)*(a*)*b')", "value"],
  ["self.list.all(x, self.text.size() > 0 && self.map.size() > 0)", "value"],
  ["'%.999999999f'.format([1.0]) != ''", "value"],
  ["duration(self.text) > duration('1s')", "error"],
  ["int(self.text) > 1", "error"],
  ["isIP(self.text) || isQuantity(self.text)", "value"],
  [`${"(".repeat(300)}1${")".repeat(300)} == 1`, "recursion limit"],
  [`self${".a".repeat(300)} == 1`, "recursion depth"],
  [`'${"a".repeat(100_001)}' == 'a'`, "expression code point size"],
  [`[${"1,".repeat(20_000)}1].size() > 0`, "value"],
  ["'a'.matches('(a{1,1000}){1,1000}')", "invalid matches argument"],
  ["'a'.matches('(a)\\\\1')", "invalid matches argument"],
  ["self.__proto__ == 1", "undefined field"],
  ["self.constructor == 1", "undefined field"],
  ["self.map.constructor == 1", "error"],
  ["'__proto__' in self.map || 'toString' in {'a': 1}", "value"],
  [`${"self.x && ".repeat(150)}true`, "undefined field"],
])("case %# ends as it should", (expression, expected) => {
  expect(answer(expression)).toContain(expected);
});
