// Expressions through compilation and evaluation: a table of answers, errors, places and costs of the reference.
import { formatType } from "../../../../api/cel/checking/types.ts";
import { Environment } from "../../../../api/cel/environment.ts";
import { compile } from "../../../../api/cel/program.ts";
import { dynDeclared } from "../../../../api/cel/schemas/declared-type.ts";
import {
  typeOfSchema,
  type JsonSchema,
} from "../../../../api/cel/schemas/from-json-schema.ts";
import { show } from "./show.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    replicas: { type: "integer" },
    minReplicas: { type: "integer" },
    name: { type: "string", maxLength: 10 },
    ratio: { type: "number" },
    list: { type: "array", items: { type: "integer" } },
    set: {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
    },
    pods: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        properties: { name: { type: "string" }, count: { type: "integer" } },
      },
    },
    labels: { type: "object", additionalProperties: { type: "string" } },
    namespace: { type: "string" },
    "dashed-name": { type: "boolean" },
    port: { "x-kubernetes-int-or-string": true },
    timeout: { type: "string", format: "duration" },
    since: { type: "string", format: "date-time" },
    data: { type: "string", format: "byte" },
    free: { "x-kubernetes-preserve-unknown-fields": true },
    maybe: { type: "string", nullable: true },
    template: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: {
          type: "object",
          properties: {
            name: { type: "string" },
            generateName: { type: "string" },
            namespace: { type: "string" },
          },
        },
      },
    },
  },
};

const self = {
  metadata: { name: "a-name" },
  replicas: 3,
  minReplicas: 2,
  name: "héllo",
  ratio: 1,
  list: [1, 2, 3],
  set: ["a", "b"],
  pods: [
    { name: "x", count: 1 },
    { name: "y", count: 2 },
  ],
  labels: { a: "x", constructor: "y" },
  namespace: "ns",
  template: { metadata: { namespace: "ns" } },
  "dashed-name": true,
  port: "80%",
  timeout: "1h",
  since: "2024-02-29T12:00:00.5Z",
  data: "aGk=",
  free: { any: 1 },
  maybe: null,
};

const type = typeOfSchema(schema, "selfType", true)!;
const environment = new Environment({
  variables: { self: type, object: dynDeclared },
});

function answer(expression: string): string {
  const compiled = compile(expression, environment);
  if (!compiled.ok) return String(compiled.issues);
  const outcome = compiled.program.evaluate({
    self,
    object: { a: 1, b: 1.5, list: [1, "x", null], inner: { c: true } },
  });
  return outcome.kind === "value"
    ? show(outcome.value)
    : `${outcome.kind}: ${outcome.message}`;
}

test.each([
  ["self.replicas >= self.minReplicas", "true"],
  ["self.list.all(x, x > 0)", "true"],
  ["self.list.exists(x, x / 0 > 0 || x == 2)", "true"],
  ["self.list.map(x, x * 2)", "[2, 4, 6]"],
  ["self.list.map(x, x > 1, x + 1)", "[3, 4]"],
  ["self.list.filter(x, x > 1)", "[2, 3]"],
  ["self.list.exists_one(x, x == 2)", "true"],
  ["self.labels.exists(k, self.labels[k] == 'x')", "true"],
  ["self.labels['constructor']", "y"],
  ["'toString' in self.labels", "false"],
  ["self.labels['b']", "error: no such key: b"],
  ["self.list[5]", "error: index out of bounds: 5"],
  ["has(self.maybe)", "false"],
  ["has(self.metadata.name) && !has(self.metadata.generateName)", "true"],
  ["self.__namespace__ + string(self.dashed__dash__name)", "nstrue"],
  ["has(self.namespace) && self.namespace == 'ns'", "true"],
  ["self.template.metadata.namespace", "ns"],
  ["self.set == ['b', 'a']", "true"],
  ["['b', 'a'] == self.set", "false"],
  ["self.set + ['b', 'c']", "[a, b, c]"],
  ["self.pods == [self.pods[1], self.pods[0]]", "true"],
  ["self.timeout == duration('60m')", "true"],
  ["self.timeout + duration('30s')", "3630s"],
  ["self.since.getDate()", "29"],
  ["self.since.getHours('Europe/Berlin')", "13"],
  ["self.since - duration('1ns')", "2024-02-29T12:00:00.499999999Z"],
  ["self.data == b'hi'", "true"],
  ["self.ratio == 1.0 && self.ratio / 2.0 < 1.0", "true"],
  ["type(self.port) == string && type(object.a) == int", "true"],
  ["type(object.b) == double && type(object.list[2]) == null_type", "true"],
  ["object.a == 1.0 && object.a < 1.5 && object.b > 1", "true"],
  ["object.foo.bar", "error: no such key: foo"],
  ["object.list.all(x, x > 0)", "error: no such overload"],
  ["self.?name.orValue('none')", "héllo"],
  ["self.?maybe.hasValue()", "false"],
  ["object.?inner.?c.orValue(false)", "true"],
  ["[?self.?maybe, ?self.?name, 'b']", "[héllo, b]"],
  ["{'a': 1, ?'b': optional.none()}", "{a: 1}"],
  ["optional.of(2).optMap(x, x * 2).value()", "4"],
  ["optional.none().value()", "error: optional.none() dereference"],
  ["1 / 0 > 1 || true", "true"],
  ["1 / 0 > 1 && false", "false"],
  ["1 / 0", "error: division by zero"],
  ["9223372036854775807 + 1", "error: integer overflow"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["1u - 2u", "error: unsigned integer overflow"],
  ["7 % -2 == 1 && -7 / 2 == -3", "true"],
  ["0xFF == 255 && 1e2 == 100.0", "true"],
  ['r\'a\\b\' + \'\\u00e9\\x41\' + """q"q"""', 'a\\béAq"q'],
  ["b'\\xff' == b'\\377'", "true"],
  ["'x' < 'y' == true", "true"],
  ["self.name.size()", "5"],
  ["string(1.5) + string(2.0) + string(1e30)", "1.521e+30"],
  ["int(self.name)", "error: type conversion error from 'string' to 'int'"],
  ["dyn(1) + 'a'", "error: no such overload"],
  ["{'a': 1}.a + {'b': 2}['b']", "3"],
  ["true ? 1 : 2", "1"],
  ["'a' in ['a', 'b'] && !('c' in {'d': 1})", "true"],
])("%s is %s", (expression, expected) => {
  expect(answer(expression)).toBe(expected);
});

test.each([
  ["self.x", 5, "undefined field 'x'"],
  ["self.free.any", 5, "undefined field 'free'"],
  [
    "self.replicas == 'a'",
    15,
    "found no matching overload for '_==_' applied to '(int, string)'",
  ],
  [
    "self.replicas + self.ratio",
    15,
    "found no matching overload for '_+_' applied to '(int, double)'",
  ],
  ["foo(1)", 4, "undeclared reference to 'foo' (in container '')"],
  ["bar", 1, "undeclared reference to 'bar' (in container '')"],
  ["[1, 'a']", 5, "expected type 'int' but found 'string'"],
  ["self.list.all(x, x)", 18, "expected type 'bool' but found 'int'"],
  [
    "self.replicas.all(x, true)",
    5,
    "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ["self.list.all(1, true)", 15, "argument must be a simple name"],
  ["has(self)", 5, "invalid argument to has() macro"],
  ["for", 1, "reserved identifier: for"],
  ["duration('1x')", 10, "invalid duration argument"],
  ["'a'.matches('(')", 13, "invalid matches argument"],
  [
    "self.name.size(1)",
    15,
    "found no matching overload for 'size' applied to 'string.(int)'",
  ],
])("%s is refused at %d", (expression, column, message) => {
  const mark = `${".".repeat(column - 1)}^`;
  expect(answer(expression)).toBe(
    `ERROR: <input>:1:${column}: ${message}\n | ${expression}\n | ${mark}`,
  );
});

test("all issues are named, in the order of their places", () => {
  expect(answer("self.é == 1").split("\n")[0]).toBe(
    "ERROR: <input>:1:6: Syntax error: token recognition error at: 'é'",
  );
  expect(answer("self.x &&\n\tself.y")).toBe(
    "ERROR: <input>:1:5: undefined field 'x'\n | self.x &&\n | ....^\n" +
      "ERROR: <input>:2:6: undefined field 'y'\n |  self.y\n | .....^",
  );
});

test("types are shown as the reference shows them", () => {
  const typeOf = (expression: string): string => {
    const compiled = compile(expression, environment);
    return compiled.ok
      ? formatType(compiled.program.resultType)
      : String(compiled.issues);
  };
  expect(typeOf("self.pods")).toBe("list(selfType.pods.@idx)");
  expect(typeOf("self.labels")).toBe("map(string, string)");
  expect(typeOf("self.?port")).toBe("optional_type(dyn)");
  expect(typeOf("[]")).toBe("list(dyn)");
});

test("evaluation stops when its cost reaches the limit", () => {
  const list = Array.from({ length: 300 }, (_, index) => index);
  const compiled = compile(
    "self.list.all(x, self.list.all(y, self.list.all(z, x + y + z >= 0)))",
    environment,
  );
  if (!compiled.ok) throw new Error(String(compiled.issues));
  const outcome = compiled.program.evaluate({ self: { ...self, list } });
  expect(outcome).toMatchObject({
    kind: "exceeded",
    message: "operation cancelled: actual cost limit exceeded",
  });
  expect(outcome.cost).toBeLessThan(1_000_100);
});

test.each([
  ["self.replicas >= self.minReplicas", 5],
  ["self.list.all(x, x > 0)", 18],
  ["[1, 2].map(x, x)", 27],
])("%s costs %d", (expression, cost) => {
  const compiled = compile(expression, environment);
  if (!compiled.ok) throw new Error(String(compiled.issues));
  expect(compiled.program.evaluate({ self }).cost).toBe(cost);
});
