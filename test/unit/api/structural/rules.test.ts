// Rules of schemas on objects: what they see, what is reported, changes, ratcheting, the budget.
import { prepareSchemas } from "../../../../api/structural/prepare.ts";
import { ruleValidatorOf } from "../../../../api/structural/rules/rule-validator.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { CustomSchema } from "../../../../api/structural/custom-schema.ts";
import type {
  JSONSchemaProps,
  ValidationRule,
} from "../../../../api/types/apiextensions-v1.ts";

beforeAll(prepareSchemas);

const text = { type: "string" };
const integer = { type: "integer" };
const ruled = (
  schema: JSONSchemaProps,
  ...rules: (string | ValidationRule)[]
): JSONSchemaProps => ({
  ...schema,
  "x-kubernetes-validations": rules.map((rule) =>
    typeof rule === "string" ? { rule } : rule,
  ),
});

function check(
  spec: JSONSchemaProps,
  now: unknown,
  was?: unknown,
): { problems: string[]; warnings: string[] } {
  const schema = new CustomSchema(
    () => ({ type: "object", properties: { spec } }),
    { group: "g.io", version: "v1", kind: "K", checkMetadata: () => [] },
  );
  const object = (value: unknown) => ({
    apiVersion: "g.io/v1",
    kind: "K",
    metadata: { name: "n" },
    spec: value,
  });
  const warnings: string[] = [];
  const problems = finish(
    schema.validate(
      object(now),
      was === undefined ? undefined : object(was),
      [],
      (warning) => warnings.push(warning),
    ),
  );
  return {
    problems: problems.map(({ field, detail }) => `${field}: ${detail}`),
    warnings,
  };
}

const failed = (field: string, rule: string, type = "integer"): string =>
  `${field}: Invalid value: "${type}": failed rule: ${rule}`;

test.each<[string, JSONSchemaProps, unknown, string[]]>([
  ["a rule that holds", ruled(integer, "self > 1"), 2, []],
  [
    "one that fails",
    ruled(integer, "self > 1"),
    1,
    [failed("spec", "self > 1")],
  ],
  [
    "its message",
    ruled(integer, { rule: "self > 1", message: " too small " }),
    1,
    ['spec: Invalid value: "integer": too small'],
  ],
  [
    "its message's expression",
    ruled(integer, {
      rule: "self > 1",
      messageExpression: "'not ' + string(self)",
    }),
    1,
    ['spec: Invalid value: "integer": not 1'],
  ],
  [
    "a message's expression that fails",
    ruled(integer, { rule: "self > 1", messageExpression: "string(1 / 0)" }),
    1,
    [failed("spec", "self > 1")],
  ],
  [
    "a reason and a field",
    {
      ...ruled(
        { type: "object", properties: { a: integer } },
        { rule: "self.a > 1", reason: "FieldValueForbidden", fieldPath: ".a" },
      ),
    },
    { a: 1 },
    ["spec.a: Forbidden: failed rule: self.a > 1"],
  ],
  [
    "rules of items and free keys",
    {
      type: "object",
      additionalProperties: {
        type: "array",
        items: ruled(integer, "self > 1"),
      },
    },
    { a: [2, 1] },
    [failed("spec[a][1]", "self > 1")],
  ],
  ["null", ruled({ ...integer, nullable: true }, "self > 1"), null, []],
  [
    "values of a wrong shape, which no rule sees",
    ruled(integer, "self > 1"),
    "x",
    [
      'spec: Invalid value: "string": spec in body must be of type integer: "string"',
      '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ],
  ],
  [
    "an expression that fails",
    ruled(integer, "1 / self > 1"),
    0,
    [
      'spec: Invalid value: "integer": division by zero evaluating rule: 1 / self > 1',
    ],
  ],
  [
    "rules about changes, of what is new",
    ruled(integer, "self == oldSelf"),
    1,
    [],
  ],
])("%s", (_, schema, value, wanted) => {
  expect(check(schema, value).problems).toEqual(wanted);
});

describe("changes", () => {
  const keyed = (items: JSONSchemaProps): JSONSchemaProps => ({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items,
  });
  const item = {
    type: "object",
    properties: { k: text, v: ruled(integer, "self >= oldSelf") },
  };

  test("are seen in fields and in items found by their keys", () => {
    const down = "self >= oldSelf";
    expect(check(ruled(integer, down), 1, 2).problems).toEqual([
      failed("spec", down),
    ]);
    expect(
      check(
        keyed(item),
        [
          { k: "b", v: 0 },
          { k: "a", v: 1 },
        ],
        [{ k: "a", v: 2 }],
      ).problems,
    ).toEqual([failed("spec[1].v", down)]);
  });

  test("may be optional", () => {
    const rule = {
      rule: "oldSelf.hasValue() ? self > oldSelf.value() : self > 5",
      optionalOldSelf: true,
    };
    const schema = ruled(integer, rule);
    expect(check(schema, 5).problems).toHaveLength(1);
    expect(check(schema, 6).problems).toEqual([]);
    expect(check(schema, 6, 6).problems).toHaveLength(1);
    expect(check(schema, 7, 6).problems).toEqual([]);
  });

  test("that are none are accepted, with a warning", () => {
    const schema = {
      type: "object",
      properties: { a: ruled(integer, "self > 1"), b: integer },
    };
    expect(check(schema, { a: 1, b: 2 }, { a: 1, b: 1 })).toEqual({
      problems: [],
      warnings: [failed("spec.a", "self > 1")],
    });
    expect(check(schema, { a: 0 }, { a: 1 }).problems).toHaveLength(1);
  });

  test("elsewhere do not count: a rule about changes is never accepted so", () => {
    const schema = ruled(integer, "oldSelf > 5");
    expect(check(schema, 1, 1).problems).toHaveLength(1);
  });
});

describe("what costs too much", () => {
  const list = { type: "array", items: integer };

  test("is ended by the limit of one rule", () => {
    const { problems } = check(
      ruled(list, "self.all(x, self.all(y, self.all(z, x + y + z >= 0)))"),
      Array.from({ length: 300 }, (_, at) => at),
    );
    expect(problems).toEqual([
      expect.stringContaining(
        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule",
      ),
    ]);
  });

  test("is ended by the budget of the object", () => {
    const schema = new Structural({
      type: "array",
      items: ruled(list, "self.all(x, self.all(y, x + y >= 0))"),
    });
    const row = Array.from({ length: 30 }, (_, at) => at);
    let pauses = 0;
    const steps = ruleValidatorOf(schema, false)!.validate(
      Array.from({ length: 1000 }, () => row),
      { base: "spec" },
      100_000,
    );
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    const { problems, left } = step.value;
    // An evaluation costs some 10 000: there is a pause after each.
    expect(pauses).toBeGreaterThan(5);
    expect(left).toBeLessThan(0);
    expect(problems.map(({ field, detail }) => `${field}: ${detail}`)).toEqual([
      expect.stringMatching(
        /^spec\[\d+\]: Invalid value: "array": validation failed due to running out of cost budget/,
      ),
    ]);
  });
});

test("ten rules take about 0.1 ms", () => {
  const rules = Array.from({ length: 10 }, (_, at) => `self.n${at} < 100`);
  const properties = Object.fromEntries(
    rules.map((_, at) => [`n${at}`, integer]),
  );
  const schema = new CustomSchema(
    () => ({
      type: "object",
      properties: { spec: ruled({ type: "object", properties }, ...rules) },
    }),
    { group: "g.io", version: "v1", kind: "K", checkMetadata: () => [] },
  );
  const spec = Object.fromEntries(rules.map((_, at) => [`n${at}`, at]));
  const object = { metadata: { name: "n" }, spec };
  expect(finish(schema.validate(object))).toEqual([]);
  for (let run = 0; run < 2000; run++) finish(schema.validate(object));
  const began = process.cpuUsage();
  for (let run = 0; run < 2000; run++) finish(schema.validate(object));
  // Ten times what it takes, for a busy machine.
  expect(process.cpuUsage(began).user / 1000 / 2000).toBeLessThan(1);
});
