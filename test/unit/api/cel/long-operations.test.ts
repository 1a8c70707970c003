// Functions and operators on large values: in steps they have the value and the cost that they have at once, each is done
// once however often the evaluation pauses, and no step is long.
import { Environment } from "../../../../api/cel/environment.ts";
import { compile, type Program } from "../../../../api/cel/program.ts";
import {
  typeOfSchema,
  type JsonSchema,
} from "../../../../api/cel/schemas/from-json-schema.ts";
import { show } from "./show.ts";

const count = 20_000;
const integers = { type: "array", items: { type: "integer" } };
const schema: JsonSchema = {
  type: "object",
  properties: {
    text: { type: "string" },
    ints: integers,
    few: integers,
    texts: { type: "array", items: { type: "string" } },
    set: {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
    },
    keyed: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    objects: {
      type: "array",
      items: {
        type: "object",
        properties: { a: { type: "string" }, b: integers },
      },
    },
    map: { type: "object", additionalProperties: { type: "integer" } },
  },
};
const indexes = Array.from({ length: count }, (_, index) => index);
const self = {
  text: "a b ".repeat(count),
  ints: indexes,
  few: indexes.slice(0, 30),
  texts: indexes.map((index) => `t${(index * 7919) % count}`),
  set: indexes.map((index) => `s${index}`),
  keyed: indexes.map((index) => ({ name: `n${index}` })),
  objects: indexes.map((index) => ({ a: `a${index}`, b: [1, 2] })),
  map: Object.fromEntries(indexes.map((index) => [`k${index}`, index])),
};
const environment = new Environment({
  variables: {
    self: typeOfSchema(schema, "selfType")!,
    other: typeOfSchema(schema, "selfType")!,
  },
});
const other = JSON.parse(JSON.stringify(self)) as typeof self;

function programOf(expression: string): Program {
  const compiled = compile(expression, environment);
  if (!compiled.ok) throw new Error(String(compiled.issues));
  return compiled.program;
}

test.each([
  "self.text.replace('a', 'bb').size()",
  "self.text.replace('', '-').size()",
  "self.text.replace('b ', '', 30000).endsWith('a b ')",
  "self.text.split(' ').size()",
  "self.text.split('', 5000)[4999].size()",
  "self.text.split('b').join('c').size()",
  "self.texts.join(', ').size()",
  "'%s'.format([self.map]).size()",
  "'%s and %s'.format([self.texts, self.ints]).size()",
  "self.text.replace('a', '%s').format(self.ints).size()",
  "url('http://a/?' + self.text.replace(' ', '&')).getQuery()['a'].size()",
  "url('http://a/?x=' + self.texts.join('&')).getQuery().size()",
  "self.ints.sum()",
  "self.ints.min() + self.ints.max()",
  "self.texts.max()",
  "self.ints.isSorted() && !self.texts.isSorted()",
  "self.ints.indexOf(-1) + self.ints.lastIndexOf(0)",
  "self.objects.indexOf(self.objects[19999])",
  "self.texts.all(t, t != '') && 'zz' in self.texts",
  "self.objects[19999] in self.objects",
  "other.map in [self.map, self.map]",
  "self.ints == other.ints",
  "self.set == other.set && self.keyed == other.keyed",
  "self.objects != other.objects",
  "self.map == other.map",
  "[self.map] == [other.map] && self == other",
  "(self.set + other.set).size()",
  "(self.keyed + other.keyed)[5].name",
  "self.set + ['x'] == self.set + ['x']",
  "sets.intersects(self.texts, ['zz', 'yy'])",
  "sets.intersects(self.ints, self.few.map(x, x - 100))",
])("%s", (expression) => {
  const program = programOf(expression);
  const variables = { self, other };
  const atOnce = program.evaluate(variables, 10_000_000);
  const steps = program.evaluateInSteps(variables, 10_000_000);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(step.value.kind).toBe(atOnce.kind);
  expect(step.value.cost).toBe(atOnce.cost);
  if (atOnce.kind === "value" && step.value.kind === "value")
    expect(show(step.value.value)).toBe(show(atOnce.value));
  expect(atOnce.kind).toBe("value");
  expect(pauses).toBeGreaterThan(0);
});

test("a long operation is done once, however often a loop pauses", () => {
  let reads = 0;
  const ints = new Proxy(self.ints, {
    get(target, name, receiver) {
      if (name === "100") reads++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  const program = programOf(
    "self.ints.sum() > 0 && self.few.all(x, self.few.all(y, self.few.all(z, x + y + z >= 0)))",
  );
  const steps = program.evaluateInSteps({ self: { ...self, ints } });
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(step.value).toMatchObject({ kind: "value", value: true });
  expect(pauses).toBeGreaterThan(10);
  // Its size, its cost, its sum; and what looks whether it is large.
  expect(reads).toBeLessThan(10);
});

test("within the elements of loops, too", () => {
  const program = programOf(
    "self.few.map(x, self.ints.sum() + x).all(s, self.ints.indexOf(-1) < s && self.few.all(y, self.texts.join('').size() > y))",
  );
  const variables = { self: { ...self, few: [1, 2, 3, 4, 5] } };
  const atOnce = program.evaluate(variables, 1e9);
  const steps = program.evaluateInSteps(variables, 1e9);
  let step = steps.next();
  while (!step.done) step = steps.next();
  expect(step.value).toEqual(atOnce);
  expect(atOnce).toMatchObject({ kind: "value", value: true });
});

test("the cost ends a long operation before it is done", () => {
  const program = programOf("self.ints.sum() > 0");
  const steps = program.evaluateInSteps({ self }, 10_000);
  let step = steps.next();
  while (!step.done) step = steps.next();
  expect(step.value.kind).toBe("exceeded");
  expect(program.evaluate({ self }, 10_000).kind).toBe("exceeded");
});
