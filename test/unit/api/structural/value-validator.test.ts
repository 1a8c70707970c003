// Values against schemas: the reference's problems and their texts, alternatives, numbers, ratcheting, and hostile input.
import type { FieldError } from "../../../../api/errors.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import { loadPatterns } from "../../../../api/structural/values/patterns.ts";
import { ValueValidator } from "../../../../api/structural/values/value-validator.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";

beforeAll(loadPatterns);

const texts = (problems: readonly FieldError[]): string[] =>
  problems.map(({ field, detail }) => `${field}: ${detail}`);

/** Of `spec.a`, so that paths show. */
function problemsOf(schema: JSONSchemaProps, value: unknown): FieldError[] {
  const validator = new ValueValidator({
    type: "object",
    properties: { spec: { type: "object", properties: { a: schema } } },
  });
  return finish(validator.validate({ spec: { a: value } }));
}

const text = { type: "string" };
const integer = { type: "integer" };
const intOrString = { "x-kubernetes-int-or-string": true };

describe("one value", () => {
  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    ["text", text, "a", []],
    [
      "no text",
      text,
      1,
      [
        'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
      ],
    ],
    [
      "no object",
      { type: "object" },
      [1],
      [
        'spec.a: Invalid value: "array": spec.a in body must be of type object: "array"',
      ],
    ],
    [
      "null",
      text,
      null,
      [
        'spec.a: Invalid value: "null": spec.a in body must be of type string: "null"',
      ],
    ],
    [
      "a double beyond a limit, which is shown as one",
      { type: "number", maximum: 4294967295 },
      1e30,
      [
        "spec.a: Invalid value: 1e+30: spec.a in body should be less than or equal to 4.294967295e+09",
      ],
    ],
    [
      "an integer beyond a limit, which is shown as one",
      { ...integer, maximum: 4294967295 },
      4294967296,
      [
        "spec.a: Invalid value: 4294967296: spec.a in body should be less than or equal to 4294967295",
      ],
    ],
    ["null where it may be", { ...text, nullable: true }, null, []],
    ["a whole number as a number", { type: "number" }, 1, []],
    [
      "a fraction as an integer",
      integer,
      1.5,
      [
        'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
      ],
    ],
    ["nearly a whole number", integer, 3.0000000001, []],
    [
      "a number beyond 64 bits",
      integer,
      1e20,
      [
        'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
      ],
    ],
    ["text for int-or-string", intOrString, "5%", []],
    ["a number for int-or-string", intOrString, 5, []],
    [
      "something else for int-or-string",
      intOrString,
      true,
      [
        'spec.a: Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"',
      ],
    ],
    [
      "too long",
      { ...text, maxLength: 2 },
      "abc",
      ["spec.a: Too long: may not be more than 2 bytes"],
    ],
    ["counted in characters, not bytes", { ...text, maxLength: 2 }, "😀é", []],
    [
      "too short",
      { ...text, minLength: 3, pattern: "x" },
      "😀b",
      [
        'spec.a: Invalid value: "😀b": spec.a in body should be at least 3 chars long',
      ],
    ],
    [
      "not of the pattern",
      { ...text, pattern: "^[a-z]+$" },
      "A",
      [`spec.a: Invalid value: "A": spec.a in body should match '^[a-z]+$'`],
    ],
    [
      "not one of them",
      { ...text, enum: ["a", "b"] },
      "c",
      ['spec.a: Unsupported value: "c": supported values: "a", "b"'],
    ],
    ["one of them", { ...integer, enum: [1, 2] }, 2, []],
    [
      "not one of the numbers",
      { ...integer, enum: [1, 2] },
      3,
      ['spec.a: Unsupported value: 3: supported values: "1", "2"'],
    ],
    [
      "an object that is not one of them",
      { type: "object", enum: [{ b: 1 }] },
      { c: 1 },
      [
        'spec.a: Unsupported value: map[string]interface {}{"c":1}: supported values: "{\\"b\\":1}"',
      ],
    ],
    [
      "below the minimum",
      { ...integer, minimum: 1 },
      0,
      [
        "spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1",
      ],
    ],
    [
      "whole numbers and limits that are cut",
      { ...integer, minimum: 0.5 },
      0,
      [],
    ],
    [
      "at an exclusive maximum",
      { type: "number", maximum: 1.5, exclusiveMaximum: true },
      1.5,
      ["spec.a: Invalid value: 1.5: spec.a in body should be less than 1.5"],
    ],
    [
      "no multiple",
      { ...integer, multipleOf: 3 },
      10,
      ["spec.a: Invalid value: 10: spec.a in body should be a multiple of 3"],
    ],
    ["a multiple of a fraction", { type: "number", multipleOf: 0.1 }, 0.3, []],
    [
      "a whole number and a factor that is cut",
      { type: "number", multipleOf: 0.5 },
      1,
      [
        "spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0",
      ],
    ],
    [
      "too many items",
      { type: "array", items: text, maxItems: 1 },
      ["a", "b"],
      ["spec.a: Too many: 2: must have at most 1 items"],
    ],
    [
      "too few items, one of them wrong",
      { type: "array", items: text, minItems: 2 },
      [1],
      [
        'spec.a[0]: Invalid value: "integer": spec.a[0] in body must be of type string: "integer"',
        "spec.a: Invalid value: 1: spec.a in body should have at least 2 items",
      ],
    ],
    [
      "duplicates",
      { type: "array", items: { type: "object" }, uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [
        'spec.a: Invalid value: "": spec.a in body shouldn\'t contain duplicates',
      ],
    ],
    [
      "missing fields",
      { type: "object", required: ["x", "y"], properties: { x: text } },
      { x: "1" },
      ["spec.a.y: Required value"],
    ],
    [
      "too many properties",
      { type: "object", maxProperties: 1, additionalProperties: text },
      { x: "1", y: "2" },
      ["spec.a: Too many: 2: must have at most 1 items"],
    ],
    [
      "too few properties",
      { type: "object", minProperties: 1 },
      {},
      [
        "spec.a: Invalid value: 0: spec.a in body should have at least 1 properties",
      ],
    ],
    [
      "free keys",
      { type: "object", additionalProperties: integer },
      { x: "1" },
      [
        'spec.a.x: Invalid value: "string": spec.a.x in body must be of type integer: "string"',
      ],
    ],
    [
      "a format",
      { ...text, format: "ipv4" },
      "1.2.3",
      [
        'spec.a: Invalid value: "1.2.3": spec.a in body must be of type ipv4: "1.2.3"',
      ],
    ],
    ["a format that says nothing", { ...text, format: "unheard-of" }, "x", []],
    [
      "a number where a format is",
      { ...text, format: "email" },
      5,
      [
        'spec.a: Invalid value: "int64": spec.a in body must be of type email: "int64"',
      ],
    ],
    ["a list where a format is", { ...text, format: "email" }, [], []],
  ])("%s", (_, schema, value, wanted) => {
    expect(texts(problemsOf(schema, value))).toEqual(wanted);
  });

  test("types of problems are those of the reference's causes", () => {
    const types = (schema: JSONSchemaProps, value: unknown) =>
      problemsOf(schema, value).map(({ type }) => type);
    expect(types(text, 1)).toEqual(["FieldValueTypeInvalid"]);
    expect(types({ ...text, maxLength: 0 }, "a")).toEqual([
      "FieldValueTooLong",
    ]);
    expect(types({ ...text, enum: ["b"] }, "a")).toEqual([
      "FieldValueNotSupported",
    ]);
    expect(types({ type: "array", maxItems: 0 }, [1])).toEqual([
      "FieldValueTooMany",
    ]);
  });
});

describe("alternatives", () => {
  const ab = [{ required: ["a"] }, { required: ["b"] }];
  const either = { type: "object", properties: { a: text, b: text } };
  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    ["any of them", { ...either, anyOf: ab }, { b: "1" }, []],
    [
      "none of any: the best one is reported",
      {
        ...either,
        anyOf: [
          { required: ["a"] },
          { properties: { b: { pattern: "^x" } }, required: ["c"] },
        ],
      },
      { b: "xy" },
      [
        '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
        "spec.a.c: Required value",
      ],
    ],
    ["one of them", { ...either, oneOf: ab }, { b: "1" }, []],
    [
      "none of one",
      { ...either, oneOf: ab },
      {},
      [
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid',
        "spec.a.a: Required value",
      ],
    ],
    [
      "two of one",
      { ...either, oneOf: ab },
      { a: "1", b: "1" },
      [
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      "some of all",
      { ...either, allOf: ab },
      { a: "1" },
      [
        "spec.a.b: Required value",
        '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf)',
      ],
    ],
    [
      "none of all",
      { ...either, allOf: ab },
      {},
      [
        "spec.a.a: Required value",
        "spec.a.b: Required value",
        '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      "not",
      { ...text, not: { pattern: "^x" } },
      "xy",
      ['<nil>: Invalid value: "": "spec.a" must not validate the schema (not)'],
    ],
    [
      "the same problem twice",
      { ...text, pattern: "^x", allOf: [{ pattern: "^x" }] },
      "y",
      [
        `spec.a: Invalid value: "y": spec.a in body should match '^x'`,
        '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      "nested",
      { ...text, anyOf: [{ oneOf: [{ pattern: "^a" }, { pattern: "^b" }] }] },
      "c",
      [
        '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid',
        `spec.a: Invalid value: "c": spec.a in body should match '^a'`,
      ],
    ],
  ])("%s", (_, schema, value, wanted) => {
    expect(texts(problemsOf(schema, value))).toEqual(wanted);
  });

  test("of a part that is validated by itself have its field", () => {
    const validator = new ValueValidator({ ...text, not: { minLength: 1 } });
    expect(texts(finish(validator.validate("x", "status")))).toEqual([
      'status: Invalid value: "": "" must not validate the schema (not)',
    ]);
  });
});

describe("what was invalid and is unchanged", () => {
  const short = { ...text, maxLength: 2 };
  const schema: JSONSchemaProps = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        required: ["must"],
        properties: {
          a: short,
          b: short,
          keyed: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: { type: "object", properties: { k: text, v: short } },
          },
          plain: { type: "array", items: short },
          free: { type: "object", additionalProperties: short },
          any: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            minProperties: 3,
          },
          combined: {
            type: "object",
            properties: { host: text, kind: text },
            not: { properties: { kind: { enum: ["never"] } } },
            allOf: [{ properties: { host: short } }],
          },
        },
      },
    },
  };
  const structural = new Structural(schema);
  const change = (old: object, now: object): string[] =>
    texts(
      finish(
        new ValueValidator(schema).validate({ spec: now }, undefined, {
          value: { spec: old },
          schema: structural,
        }),
      ),
    );
  const tooLong = (field: string): string =>
    `spec${field}: Too long: may not be more than 2 bytes`;

  test.each<[string, object, object, string[]]>([
    ["a field", { must: 1, a: "long" }, { must: 1, a: "long", b: "x" }, []],
    [
      "another field",
      { must: 1, a: "long" },
      { must: 1, a: "long", b: "long" },
      [tooLong(".b")],
    ],
    [
      "a changed field",
      { must: 1, a: "long" },
      { must: 1, a: "longer" },
      [tooLong(".a")],
    ],
    [
      "an object with a change elsewhere is checked itself",
      { a: "x" },
      { a: "y" },
      ["spec.must: Required value"],
    ],
    ["a whole object", { a: "x" }, { a: "x" }, []],
    [
      "what an alternative forbids and did not change",
      { must: 1, combined: { host: "a", kind: "ever" } },
      { must: 1, combined: { host: "b", kind: "ever" } },
      [],
    ],
    [
      "what an alternative refuses and did not change",
      { must: 1, combined: { host: "long" } },
      { must: 1, combined: { host: "long", kind: "ever" } },
      [
        tooLong(".combined.host"),
        '<nil>: Invalid value: "": "spec.combined" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      "items found by their keys",
      { must: 1, keyed: [{ k: "1", v: "long" }] },
      { must: 1, keyed: [{ k: "0" }, { k: "1", v: "long" }] },
      [],
    ],
    [
      "items with other keys",
      { must: 1, keyed: [{ k: "1", v: "long" }] },
      { must: 1, keyed: [{ k: "2", v: "long" }] },
      [tooLong(".keyed[0].v")],
    ],
    [
      "items of plain lists, which come from nowhere",
      { must: 1, plain: ["long"] },
      { must: 1, plain: ["long", "x"] },
      [tooLong(".plain[0]")],
    ],
    [
      "a plain list as a whole",
      { must: 1, plain: ["long"] },
      { must: 1, plain: ["long"], a: "x" },
      [],
    ],
    [
      "free keys",
      { must: 1, free: { x: "long" } },
      { must: 1, free: { x: "long", y: "long" } },
      [tooLong(".free.y")],
    ],
    [
      "fields without a schema never count as unchanged",
      { must: 1, any: { x: 1 } },
      { must: 1, any: { x: 1 }, a: "x" },
      [
        "spec.any: Invalid value: 1: spec.any in body should have at least 3 properties",
      ],
    ],
  ])("%s", (_, old, now, wanted) => {
    expect(change(old, now)).toEqual(wanted);
  });
});

describe("hostile input", () => {
  const cpuMs = (work: () => void): number => {
    const began = process.cpuUsage();
    work();
    return process.cpuUsage(began).user / 1000;
  };

  test("patterns that backtrack elsewhere take linear time", () => {
    const long = `${"a".repeat(200_000)}!`;
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "(x+x+)+y"])
      expect(
        cpuMs(() =>
          expect(problemsOf({ ...text, pattern }, long)).toHaveLength(1),
        ),
      ).toBeLessThan(1000);
  });

  test("patterns of great size are refused", () => {
    expect(() =>
      problemsOf({ ...text, pattern: "(\\pL{1000})".repeat(1000) }, "x"),
    ).toThrow("expression too large");
  });

  test("many wrong items are reported up to a bound", () => {
    const list = Array.from({ length: 300_000 }, () => 1);
    const ms = cpuMs(() =>
      expect(problemsOf({ type: "array", items: text }, list)).toHaveLength(
        1000,
      ),
    );
    expect(ms).toBeLessThan(2000);
  });

  test("alternatives inside alternatives do not multiply", () => {
    let schema: JSONSchemaProps = { pattern: "^x" };
    for (let depth = 0; depth < 100; depth++)
      schema = { anyOf: [schema, { pattern: "^y" }] };
    const ms = cpuMs(() =>
      expect(problemsOf({ ...text, ...schema }, "z").length).toBeGreaterThan(1),
    );
    expect(ms).toBeLessThan(1000);
  });

  test("names of prototypes are fields like others", () => {
    const value = JSON.parse('{"__proto__":1,"constructor":1}') as unknown;
    expect(
      texts(
        problemsOf(
          { type: "object", properties: { x: text }, required: ["toString"] },
          value,
        ),
      ),
    ).toEqual(["spec.a.toString: Required value"]);
  });

  test("depth is bounded by the reader, and taken", () => {
    let value: unknown = "x";
    for (let depth = 0; depth < 1000; depth++) value = { a: value };
    expect(
      problemsOf({ type: "object", additionalProperties: true }, value),
    ).toEqual([]);
  });
});

describe("what is large", () => {
  const longText = "a".repeat(300_000);
  const pattern = "^(a|b)*$";
  const items = { type: "object", properties: { name: text } };

  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    ["a long text", { ...text, pattern }, longText, []],
    [
      "a long text that does not match",
      { ...text, pattern },
      `${longText}c`,
      [
        `spec.a: Invalid value: "${longText}c": spec.a in body should match '${pattern}'`,
      ],
    ],
    [
      "a long text with alternatives",
      { ...text, anyOf: [{ pattern: "^b*$" }, { pattern }] },
      longText,
      [],
    ],
    [
      "a long text that must not match",
      { ...text, not: { pattern: "c" } },
      longText,
      [],
    ],
    [
      "a long list",
      { type: "array", items },
      Array.from({ length: 50_000 }, () => ({ name: "n" })),
      [],
    ],
    [
      "a long list within alternatives",
      {
        type: "array",
        items: text,
        anyOf: [{ items: { pattern: "b" } }, { items: { pattern: "a" } }],
      },
      Array.from({ length: 50_000 }, () => "a"),
      [],
    ],
    [
      "an object with many keys",
      { type: "object", additionalProperties: { type: "integer" } },
      Object.fromEntries(
        Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]),
      ),
      [],
    ],
  ])("is validated in steps: %s", (_, schema, value, wanted) => {
    const steps = new ValueValidator({
      type: "object",
      properties: { spec: { type: "object", properties: { a: schema } } },
    }).validate({ spec: { a: value } });
    for (let pauses = 0; ; pauses++) {
      const { done, value: problems } = steps.next();
      if (!done) continue;
      expect(texts(problems)).toEqual(wanted);
      expect(pauses).toBeGreaterThan(8);
      return;
    }
  });
});
